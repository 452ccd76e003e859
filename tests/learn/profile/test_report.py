import json
import shutil
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from nsr.errors import InputError
from nsr.learn.profile import profile, report
from nsr.learn.profile.page import order_diagram, write_page
from nsr.program.emit.json import load
from tests.learn.profile.samples import orders

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
HOSTILE = ["\x1b[2J\x07", "<script>alert(1)</script>", '"; DROP TABLE t; --', "a b\nc"]


@pytest.fixture(scope="module")
def hostile():
    """Names and texts with escape sequences, markup, quotes and line ends."""
    generator = np.random.default_rng(3)
    low = generator.integers(0, 100, 300)
    kind = generator.choice(HOSTILE[:2], 300)
    table = pd.DataFrame({HOSTILE[0]: low, HOSTILE[1]: low + generator.integers(0, 20, 300), HOSTILE[3]: kind})
    table[HOSTILE[2]] = np.where(kind == HOSTILE[1], "yes", None)
    table.loc[4, HOSTILE[0]] = 999
    return profile(table)


def test_hostile_names_are_escaped_on_the_terminal(hostile):
    assert len(hostile.surprising) == 2
    for written in (report.text(hostile, everything=True), "\n".join(report.emit(hostile, "c")[1])):
        assert "\x1b" not in written
        assert "\x07" not in written
    assert report.text(hostile).splitlines()[0] == r"`\x1b[2J\x07` <= `<script>alert(1)</script>`"


def test_hostile_names_are_text_on_the_page(hostile, tmp_path):
    write_page(tmp_path / "page.html", hostile)
    page = (tmp_path / "page.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\x1b" not in page


def test_the_text_names_the_rows_and_what_is_left_out(tmp_path):
    table = orders()
    table.loc[7, "low"] = 500
    found = profile(table)
    lines = report.text(found).splitlines()
    at = lines.index("low <= high")
    assert lines[at + 1].startswith("    holds for 399 of 400 rows; shuffled, it would hold for ")
    assert lines[at + 2] == "    broken by row 8"
    hidden = len(found.statements) - len(found.surprising)
    assert lines[-1] == f"{hidden} less surprising statements not shown: --all shows them"
    assert "not shown" not in report.text(found, everything=True)


def test_nothing_found():
    generator = np.random.default_rng(4)
    found = profile(pd.DataFrame({"a": generator.normal(size=50), "b": generator.normal(size=50)}))
    assert report.text(found) == "no statement holds that would be surprising"


@pytest.mark.parametrize(
    ("value", "written"),
    [(1.0, "all"), (0.99999, "nearly all"), (0.996, "99.6 %"), (0.5, "50 %"), (0.004, "0.4 %"), (0.0, "hardly any")],
)
def test_shares(value, written):
    assert report.share(value) == written


def test_json_holds_programs_that_load(tmp_path):
    content = json.loads(report.to_json(profile(orders())))
    by_text = {each["statement"]: each for each in content["statements"]}
    order = by_text["start <= shipped"]
    assert str(load(json.dumps(order["program"]))) == "shipped >= start"
    assert (order["holds"], order["breaks"], order["breaking_rows"]) == (400, 0, [])
    assert by_text["city determines country"]["program"] is None


@pytest.mark.parametrize("target", ["sql", "check-constraint", "dbt", "pandera", "python", "json"])
def test_statements_can_be_emitted(target):
    written, messages = report.emit(profile(orders()), target)
    assert len(messages) == 1
    assert "shipped" in written


def test_wrong_targets():
    with pytest.raises(InputError, match="unknown language 'chekcs': .*; did you mean 'checks'"):
        report.check_target("chekcs")
    with pytest.raises(InputError, match="python has no dialects"):
        report.emit(profile(orders()), "python", dialect="postgres")


def test_the_diagram_has_an_arrow_for_each_order():
    generator = np.random.default_rng(5)
    low = generator.integers(0, 100, 300)
    middle = low + generator.integers(0, 20, 300)
    found = profile(pd.DataFrame({"low": low, "middle": middle, "high": middle + generator.integers(0, 20, 300)}))
    diagram = order_diagram(found.surprising)
    assert [(one.name, other.name) for one, other in diagram.arrows] == [("middle", "high"), ("low", "middle")]
    assert [box.x for box in diagram.boxes] == sorted(box.x for box in diagram.boxes)
    assert order_diagram([]) is None


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.inside = tag

    def handle_data(self, data):
        if self.inside == "h2" and data.strip():
            self.headings.append(data.strip())


def test_the_page_has_a_section_for_each_group(tmp_path):
    write_page(tmp_path / "page.html", profile(orders()))
    tags = _Tags()
    tags.feed((tmp_path / "page.html").read_text())
    assert tags.headings == ["orders", "equalities and sums", "presence", "columns that follow from others", "also"]


@pytest.mark.outer
@pytest.mark.skipif(BROWSER is None, reason="no Chromium: .ci/run installs the Debian package chromium")
@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_fits_the_screen(hostile, tmp_path, width):
    from playwright.sync_api import sync_playwright

    write_page(tmp_path / "page.html", hostile, everything=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 800})
        problems: list[str] = []
        page.on("pageerror", lambda problem: problems.append(str(problem)))
        page.goto((tmp_path / "page.html").as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert problems == []
        browser.close()
