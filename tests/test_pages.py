"""Every page in Chromium, on a phone and on a desk, light and dark: silent, readable, accessible, printable."""

from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from nsr.cli import main

pytestmark = pytest.mark.outer

ROOT = Path(__file__).parents[1]
AXE = ROOT / "playground" / "node_modules" / "axe-core" / "axe.min.js"
SCREENS = tuple(product((1200, 390), ("light", "dark")))
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SAME = ["svg > *", ".tables tr:nth-child(n+6):not(:nth-last-child(-n+2))"]
"""What axe leaves out: the inside of pictures, which have a label, and of long tables all but the first and last rows,
which have the markup of the others."""
PAGES = ("report", "empty report", "rule", "profile", "playground")
OPEN_ALL = "document.querySelectorAll('details').forEach(each => each.open = true)"
SMALLEST = """
() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let smallest = [99, ""];
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), parent = walker.currentNode.parentElement;
    if (!text || ["SCRIPT", "STYLE", "TITLE", "NOSCRIPT", "title"].includes(parent.tagName)) continue;
    const svg = parent.ownerSVGElement;
    const scale = svg && parent.getScreenCTM() ? Math.abs(parent.getScreenCTM().a || parent.getScreenCTM().b) : 1;
    const size = parseFloat(getComputedStyle(parent).fontSize) * scale;
    if (size < smallest[0]) smallest = [size, text];
  }
  return smallest;
}
"""


def run(*arguments: object) -> None:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    assert stop.value.code in (0, 3)


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    """A page of each kind, with everything that it can show."""
    from nsr.paper.report.page import write_page

    folder = tmp_path_factory.mktemp("pages")
    found = {name: folder / f"{name}.html" for name in PAGES}
    run("report", "--from", ROOT / "results", "--html", found["report"])
    write_page(found["empty report"], {})
    table = folder / "orders.csv"
    rows = [(a, b, a + b, int(a > b)) for a in range(-9, 10, 3) for b in range(-8, 9, 2)]
    table.write_text("paid,due,total,settled\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    run("learn", table, "--target", "settled", "--html", found["rule"], "--quiet")
    run("profile", table, "--html", found["profile"])
    found["playground"] = Path(str(files("nsr") / "play" / "playground.html"))
    return found


class Opened:
    """A page in a window of its own, and what it logged and requested."""

    def __init__(self, browser: Any, file: Path, width: int = 1200, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.tab = self.context.new_page()
        self.tab.set_default_timeout(60_000)
        self.file, self.logged, self.requested = file, [], []
        self.tab.on("console", lambda message: self.logged.append(message.text))
        self.tab.on("pageerror", lambda error: self.logged.append(str(error)))
        self.tab.on("request", lambda request: self.requested.append(request.url))
        self.tab.goto(file.as_uri())
        self.tab.evaluate("typeof nsr !== 'undefined' && nsr.pause && nsr.pause()")
        for _ in range(100):
            if self.tab.evaluate("!document.querySelector('.chart') || Boolean(document.body.dataset.drawn)"):
                break
            self.tab.wait_for_timeout(100)
        self.tab.evaluate(OPEN_ALL)

    def __enter__(self) -> Any:
        return self.tab

    def __exit__(self, *_: object) -> None:
        self.context.close()
        assert self.logged == []
        assert {url.split("#")[0] for url in self.requested if not url.startswith("data:")} == {self.file.as_uri()}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_nothing_is_logged_requested_cut_off_or_too_small(browser, pages, name, width, scheme):
    with Opened(browser, pages[name], width, scheme) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        size, text = tab.evaluate(SMALLEST)
        assert size >= 11, text


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        *(("report", 1200, "dark"), ("report", 390, "light")),  # it is long: each width and each scheme once
        *((name, *screen) for name, screen in product(PAGES[1:], SCREENS)),
    ],
)
def test_axe_finds_nothing_to_mend(browser, pages, name, width, scheme):
    if not AXE.is_file():
        pytest.skip("no axe-core: make playground installs it")
    with Opened(browser, pages[name], width, scheme) as tab:
        tab.evaluate(AXE.read_text())
        found = tab.evaluate("([without, tags]) => axe.run({exclude: without}, {runOnly: tags})", [SAME, TAGS])
        problems = [(each["id"], len(each["nodes"]), each["nodes"][0]["html"][:150]) for each in found["violations"]]
        assert problems == []
        assert any(each["id"] == "color-contrast" for each in found["passes"])


def test_charts_fill_their_places_and_tick_labels_do_not_overlap(browser, pages):
    overlapping = """
    () => [...document.querySelectorAll(".plot")].flatMap(plot => {
      const texts = [...plot.querySelectorAll("text:not([transform])")];
      const boxes = texts.map(text => [text.textContent, text.getBoundingClientRect()]);
      const common = (from, to) => (p, q) => Math.min(p[to], q[to]) - Math.max(p[from], q[from]);
      const across = common("left", "right"), down = common("top", "bottom");
      return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([_, q]) => across(p, q) > 1 && down(p, q) > 3)
        .map(([b]) => `${plot.querySelector("svg").ariaLabel}: ${a} / ${b}`));
    })
    """
    outside = """
    () => [...document.querySelectorAll(".plot")].filter(plot => [...plot.querySelectorAll("text")].some(text =>
      text.getBoundingClientRect().right > plot.getBoundingClientRect().right + 1 ||
      text.getBoundingClientRect().left < plot.getBoundingClientRect().left - 1))
      .map(plot => plot.textContent.slice(0, 80))
    """
    for width in (1200, 390):
        with Opened(browser, pages["report"], width) as tab:
            assert tab.evaluate(overlapping) == []
            assert tab.evaluate(outside) == []
            assert tab.evaluate("document.querySelectorAll('.plot').length") > 60


def test_a_link_into_a_folded_part_opens_it_and_the_keyboard_does(browser, pages):
    with Opened(browser, pages["report"]) as tab:
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = false)")
        tab.goto(pages["report"].as_uri() + "#chart-recurrent-paper-mlp-minimum")
        assert tab.evaluate("document.getElementById('recurrent-more').open")
        tab.evaluate("document.querySelector('#floats-more').open = false")
        tab.focus("#floats-more summary")
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.getElementById('floats-more').open")


def test_what_is_folded_is_printed(browser, pages, tmp_path):
    with Opened(browser, pages["report"]) as tab:
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = false)")
        closed = len(tab.pdf(format="A4"))
        tab.evaluate(OPEN_ALL)
        assert closed == pytest.approx(len(tab.pdf(format="A4")), rel=0.02)
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.remove())")
        assert closed > 1.5 * len(tab.pdf(format="A4"))
