"""The page works: it learns, zooms, draws, reads files, and can be used by everyone, without a request."""

import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from nsr.learn.saved import load_saved
from tests.playground.conftest import PAGE

pytestmark = pytest.mark.outer

AXE = Path(__file__).parents[2] / "playground" / "node_modules" / "axe-core" / "axe.min.js"
SCREENS = list(product((1200, 390), ("light", "dark")))
LEARN = """
() => {
  nsr.pause();
  const session = nsr.session;
  while (session.epochs < 2000 && session.nsr.rightSince === null) session.train(20, Infinity);
  nsr.pause();
}
"""
FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
SMALLEST = """
() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), sizes = [...window.drawn];
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    const shown = walker.currentNode.textContent.trim() && !["SCRIPT", "STYLE"].includes(parent.tagName);
    if (shown) sizes.push(parseFloat(getComputedStyle(parent).fontSize));
  }
  return Math.min(...sizes);
}
"""
ALL_SQUARES = "[...document.querySelectorAll('#floats button')].every(square => square.textContent)"
RECORD_FONTS = """
window.drawn = new Set();
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (...words) {
  window.drawn.add(parseFloat(/([0-9.]+)px/.exec(this.font)[1]));
  return write.apply(this, words);
};
"""


def wait_until(tab: Any, condition: str) -> None:
    """Wait for a condition; playwright's own way to wait is not allowed by the page's security policy."""
    for _ in range(1_200):
        if tab.evaluate(condition):
            return
        time.sleep(0.1)
    raise AssertionError(f"in vain: {condition}")


class Opened:
    """The page in a window of its own, and what it logged and requested."""

    def __init__(self, browser: Any, width: int = 1200, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.context.add_init_script(RECORD_FONTS)
        self.tab = self.context.new_page()
        self.tab.set_default_timeout(20_000)  # other tests may run on the same cores
        self.logged: list[str] = []
        self.requested: list[str] = []
        self.tab.on("console", lambda message: self.logged.append(message.text))
        self.tab.on("pageerror", lambda error: self.logged.append(str(error)))
        self.tab.on("request", lambda request: self.requested.append(request.url))
        self.tab.goto(f"file://{PAGE}")

    def __enter__(self) -> Any:
        return self.tab

    def __exit__(self, *_: object) -> None:
        self.context.close()
        assert self.logged == []
        assert self.requested == [f"file://{PAGE}"]

    def use_everything(self) -> None:
        """Show what is hidden at first, and draw all canvases."""
        tab = self.tab
        tab.evaluate(LEARN)
        tab.click("#example")
        tab.evaluate("document.querySelectorAll('canvas').forEach(canvas => canvas.scrollIntoView())")
        for canvas in ("accuracies", "bits", "units"):
            tab.locator(f"#{canvas}").scroll_into_view_if_needed()
            tab.evaluate(FRAME)


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_nothing_is_logged_requested_cut_off_or_too_small(browser, width, scheme):
    opened = Opened(browser, width, scheme)
    with opened as tab:
        opened.use_everything()
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.evaluate(SMALLEST) >= 11


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_axe_finds_nothing_to_mend(browser, width, scheme):
    if not AXE.is_file():
        pytest.skip("no axe-core: make playground installs it")
    opened = Opened(browser, width, scheme)
    with opened as tab:
        opened.use_everything()
        tab.evaluate("document.getElementById('all').click()")
        wait_until(tab, ALL_SQUARES)
        tab.evaluate(AXE.read_text())
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        found = tab.evaluate("tags => axe.run({runOnly: tags})", tags)
        problems = [(each["id"], each["nodes"][0]["html"][:120]) for each in found["violations"]]
        assert problems == []
        assert any(each["id"] == "color-contrast" for each in found["passes"])


@pytest.mark.parametrize("operator", [">", "<", ">=", "<=", "=", "!="])
def test_each_comparison_is_learned_read_and_right_at_every_magnitude(browser, operator):
    with Opened(browser) as tab:
        tab.check(f"[id='op-{operator}']", force=True)
        tab.evaluate(LEARN)
        tab.evaluate(FRAME)
        assert tab.inner_text("#rule code") == f"a {'==' if operator == '=' else operator} b"
        assert tab.evaluate("nsr.session.accuracies(nsr.session.nsr)") == [1] * 16
        assert all(share < 0.8 for share in tab.evaluate("nsr.session.accuracies(nsr.session.baseline)")[5:])
        for power, view in (("15", "near"), ("15", "far"), ("3", "far")):
            tab.check(f"input[value={view}]", force=True)
            tab.fill("#power", power)
            tab.evaluate(FRAME)
            assert tab.inner_text("#nsr-score") == "100 %"
        tab.check("input[value=near]", force=True)
        tab.evaluate(FRAME)
        assert tab.inner_text("#mlp-score") != "100 %"


def test_the_map_of_section_4_2_shows_the_threshold(browser):
    with Opened(browser) as tab:
        tab.check("[id='op-=']", force=True)
        tab.evaluate("nsr.pause()")
        tab.click("#all")
        wait_until(tab, ALL_SQUARES)
        shown = [int(text) for text in tab.locator("#floats button").all_inner_texts()]
        for (power, delta), accuracy in zip(product(range(3, -4, -1), range(-3, 4)), shown, strict=True):
            if power + delta >= 0:
                assert accuracy >= 90, (power, delta)
            else:
                assert accuracy < 70, (power, delta)
        tab.locator("#floats button").nth(0).click()
        assert (tab.input_value("#lambda"), tab.input_value("#delta")) == ("3", "-3")
        tab.fill("#lambda", "0")
        assert "zero bit has the wrong sign" in tab.inner_text("#bits-note")


def test_labels_can_be_drawn_with_the_keyboard_and_the_mouse(browser):
    with Opened(browser) as tab:
        tab.evaluate("nsr.pause()")
        before = tab.evaluate("[...nsr.session.settings.labels]")
        tab.focus("#rows")
        for key in ("ArrowRight", "ArrowUp", "ArrowUp", "Space"):
            tab.keyboard.press(key)
        assert tab.inner_text("#announce") == "a = 1, b = 2: yes"
        after = tab.evaluate("[...nsr.session.settings.labels]")
        assert [i for i in range(400) if before[i] != after[i]] == [11 * 20 + 12]
        assert tab.is_checked("#op-draw")
        tab.click("#clear")
        box = tab.locator("#rows").bounding_box()
        tab.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.3)
        tab.mouse.down()
        tab.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.3, steps=20)
        tab.mouse.up()
        assert 5 < sum(tab.evaluate("[...nsr.session.settings.labels]")) < 9


@pytest.mark.parametrize(
    ("drawing", "rule", "constants"),
    [("band", "a >= b - 3 and a <= b + 3", False), ("corner", "a > 2 and b <= 4", True)],
)
def test_drawings_are_learned_with_constants_where_they_need_them(browser, drawing, rule, constants):
    with Opened(browser) as tab:
        tab.click(f"#{drawing}")
        tab.evaluate(LEARN)
        tab.evaluate(FRAME)
        assert tab.inner_text("#rule code") == rule
        assert tab.is_checked("#constants") == constants
        read = "nsr.session.ruleAccuracies(nsr.session.readRule())"
        assert tab.evaluate(read if constants else "nsr.session.accuracies(nsr.session.nsr)") == [1] * 16


def test_everything_can_be_reached_with_the_keyboard(browser):
    with Opened(browser) as tab:
        tab.evaluate("nsr.pause()")
        reached = set()
        for _ in range(90):
            tab.keyboard.press("Tab")
            reached.add(tab.evaluate("document.activeElement.id || document.activeElement.value"))
        controls = {"play", "step", "again", "speed", "rows", "power", "lambda", "delta", "all", "recipe", "constants"}
        assert controls | {"redundancy", "files", "example"} <= reached
        tab.focus("[id='op->']")
        tab.keyboard.press("ArrowRight")
        assert tab.evaluate("nsr.session.settings.operator") == "<"
        tab.focus("#power")
        tab.keyboard.press("ArrowRight")
        assert tab.inner_text("#where") == "neighbours of 10¹"


def test_a_rule_and_a_table_are_opened_and_evaluated_exactly(browser, tmp_path):
    rule = {"variable": "a"}, {"sum": [["3/10", {"variable": "b"}]]}
    program = {"compare": ">", "left": rule[0], "right": rule[1]}
    content = {"format": "nsr-program/1", "names": ["a", "b"], "expression": program}
    saved = {"format": "nsr-rule/1", "target": "late", "classes": ["no", "yes"], "program": content}
    (tmp_path / "rule.json").write_text(json.dumps(saved))
    (tmp_path / "table.csv").write_text("a;b;late\n0.3;1;no\n0.30000000000000000000001;1;yes\n;1;no\n9;1;no\n")
    with Opened(browser) as tab:
        tab.set_input_files("#files", [tmp_path / "rule.json", tmp_path / "table.csv"])
        tab.wait_for_selector("#table tbody tr")
        assert tab.inner_text("#formula") == "late = a > 0.3*b → no, yes"
        assert tab.locator(".predicted").all_inner_texts() == ["≠ yes", "no", "yes", "no"]  # those that differ first
        assert "4 rows, evaluated exactly; agrees with the column late on 75 % (3)" in tab.inner_text("#table-note")
        tab.fill("#try input[name=a]", "3e40")
        tab.fill("#try input[name=b]", "1e41")
        assert tab.inner_text("#tried") == "late: no"
        tab.fill("#try input[name=a]", "soon")
        assert tab.inner_text("#tried") == '"soon" is not a number (a)'
        tab.set_input_files("#files", [tmp_path / "table.csv"])
        (tmp_path / "wrong.csv").write_text("a\n1\n")
        tab.set_input_files("#files", [tmp_path / "wrong.csv"])
        wait_until(tab, "document.getElementById('problem').textContent")
        assert tab.inner_text("#problem") == 'the table has no column "b"; its columns are a'


def test_hostile_names_stay_text(browser, tmp_path):
    name = "<img src=x onerror=alert(1)>"
    content = {"format": "nsr-program/1", "names": [name], "expression": {"variable": name}}
    saved = {"format": "nsr-rule/1", "target": "</pre><b>", "classes": None, "program": content}
    (tmp_path / "rule.json").write_text(json.dumps(saved))
    (tmp_path / "table.csv").write_text(f'"{name}"\n1/2\n')
    with Opened(browser) as tab:
        tab.set_input_files("#files", [tmp_path / "rule.json"])
        tab.wait_for_selector("#try input")
        assert tab.evaluate("document.querySelectorAll('main img, pre b').length") == 0
        assert name in tab.inner_text("#formula")
        tab.set_input_files("#files", [tmp_path / "table.csv"])
        wait_until(tab, "document.getElementById('problem').textContent")
        assert "is not a number (row 2" in tab.inner_text("#problem")


def test_a_learned_rule_is_saved_for_python(browser, tmp_path):
    with Opened(browser) as tab:
        tab.evaluate(LEARN)
        tab.evaluate(FRAME)
        with tab.expect_download() as download:
            tab.click("#save")
        download.value.save_as(tmp_path / "rule.json")
        assert str(load_saved(tmp_path / "rule.json").program) == "a > b"
        tab.click("#use")
        assert tab.inner_text("#formula") == "answer = a > b"
