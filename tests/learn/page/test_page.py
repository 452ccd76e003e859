"""The page of a learned rule shows the rule and its evidence, and treats every name as text."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pytest
import vl_convert

from nsr.learn import NSRClassifier, NSRRegressor
from nsr.learn.evidence import RuleEvidence, percent
from nsr.learn.page.borders import MOST_POINTS, Points, borders, measured
from nsr.learn.page.charts import _key, _view, learned_charts
from nsr.learn.page.render import write_page
from nsr.learn.page.trees import tree_of, with_dates
from nsr.learn.result import Learned, Verified
from nsr.learn.verification import contradictions
from nsr.program import Program
from nsr.program.expressions import And, Compare, Constant, Linear, Variable
from nsr.reading.atoms import Atom

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
QUICK: dict[str, Any] = {"restarts": 2, "random_state": 0}
LONG = ("a class with a name that is long enough for a line", "another with a name of about as many letters")
HOSTILE = ["</script><b>x", "b\"'\\", "image\n{{ü}}"]


def table(columns: list[str], rows: int = 120) -> pd.DataFrame:
    numbers = np.random.default_rng(0).integers(0, 30, (rows, len(columns)))
    return pd.DataFrame(numbers, columns=columns, index=range(2, rows + 2))


def learn(estimator: NSRClassifier | NSRRegressor, x: pd.DataFrame, y: Any, **fields: Any) -> Learned:
    y = pd.Series(np.asarray(y), index=x.index)
    estimator.fit(x, y)
    usual = {"source": "table.csv", "target": "answer", "rows": len(x), "dropped": 0, "left_out": (), "seconds": 1.25}
    target = fields.get("target", usual["target"])
    checked = None if estimator.program_ is None else verified(estimator, x.assign(**{target: y}), target)
    own = {"table": x, "x": x, "y": y, "estimator": estimator, "program": estimator.program_, "verified": checked}
    return Learned(**{**usual, **own} | fields)


def verified(estimator: Any, rows: pd.DataFrame, target: str) -> Verified:
    """How the rule of an estimator does on rows."""
    predicted, wrong = contradictions(estimator, estimator.program_, rows, rows[target].to_numpy())
    return Verified(len(rows), int(wrong.sum()), rows[wrong], predicted[wrong].tolist())


def read(x: pd.DataFrame, rule: str, n_classes: int, labels: tuple[Any, ...] = (0, 1, 2, 3)) -> Learned:
    """A rule as if it had been learned."""
    program = Program.parse(rule, list(x))
    classes = np.array(labels)
    y = classes[np.asarray(program(x)).astype(np.int64)]
    estimator = NSRClassifier(**QUICK, proposals=("screen",)).fit(x, classes[np.arange(len(x)) % n_classes])
    evidence = RuleEvidence(rows=len(x), agreement=1.0, held_out=1.0, held_out_rows=18, origin="products", restarts=2)
    estimator.program_, estimator.rule_, estimator.evidence_ = program, rule, evidence
    target = pd.Series(y, index=x.index)
    checked = verified(estimator, x.assign(answer=target), "answer")
    return Learned("table.csv", "answer", len(x), 0, (), x, x, target, estimator, program, checked, 1.25)


@pytest.fixture(scope="module")
def every() -> dict[str, Learned]:
    rng = np.random.default_rng(1)
    odd, x = table(HOSTILE), table(["a", "b", "c", "d"])
    long = table([f"{letter} {'and so on ' * 8}" for letter in "ab"])
    noisy = np.where((x.a > x.b + 3) ^ (np.arange(len(x)) == 7), "yes", "no")
    return {
        "hostile": learn(
            NSRClassifier(**QUICK),
            odd,
            np.where(odd.iloc[:, 0] > odd.iloc[:, 1] + 3, "<i>yes</i>", "no\\\"'"),
            source="<u>.csv",
            target="</title><script>alert(1)</script>",
            left_out=[("<img src=x>", "it is <text>")],
        ),
        "noisy": learn(NSRClassifier(**QUICK), x, noisy, dropped=5, rows=1_005),
        "three": learn(NSRClassifier(**QUICK), x, np.where(x.a > 20, "high", np.where(x.c < 12, "middle", "low"))),
        "long": learn(NSRClassifier(**QUICK), long, np.where((long.iloc[:, 0] > 9) & (long.iloc[:, 1] < 20), *LONG)),
        "labels": learn(NSRClassifier(**QUICK), x, np.where(x.a > 20, 30, np.where(x.c < 12, 10, 20))),
        "no rule": learn(NSRClassifier(**QUICK), x, rng.integers(0, 2, len(x))),
        "pieces": learn(NSRRegressor(**QUICK), x, np.where(x.a > x.b, x.a + x.c, x.b - x.d)),
        "sum": learn(NSRRegressor(**QUICK), x, x.a + x.b - 3),
        "no sum": learn(NSRRegressor(**QUICK), x, rng.normal(size=len(x))),
        "one column": learn(NSRClassifier(**QUICK), x[["a"]], x.a > 12),
        "largest": learn(NSRRegressor(**QUICK), x, x[["a", "b", "c"]].max(axis=1)),
        "decimals": learn(NSRClassifier(**QUICK), x, np.where(x.a > x.b, 4.99, 7.5)),
        "area": read(x, "a*b > 9*c", n_classes=2),
        "texts": read(x, "a*b > 70", n_classes=2, labels=("no", "yes")),
        "count": read(x, "at least 2 of (a > 12, b > c, d > 20)", n_classes=2),
        "grades": read(x, "where(a > 25, 3, where(a > 20, 2, where(a > 12, 1, 0)))", n_classes=4),
    }


def page(folder: Path, learned: Learned) -> str:
    write_page(folder / "deep" / "page.html", learned)
    assert [path.name for path in (folder / "deep").iterdir()] == ["page.html"]
    text = (folder / "deep" / "page.html").read_text()
    return re.sub(r"\s+", " ", text.split("<script>const")[0])


@pytest.fixture(autouse=True)
def without_the_bundle(request, monkeypatch):
    if "browser" not in request.node.name:
        monkeypatch.setattr("nsr.html.vega.vl_convert.javascript_bundle", lambda *_: "")


def test_names_are_text_everywhere(tmp_path, every):
    text = page(tmp_path, every["hostile"])
    for markup in ("<i>yes", "<b>x", "<u>", "<img", "alert(1)</script>", "<text>"):
        assert markup not in text
    assert "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; follows a rule" in text
    assert "<code>&lt;img src=x&gt;</code>: it is &lt;text&gt;" in text
    assert text.count("<script") == 2 + 3  # two charts, the bundle, what draws and what unfolds
    assert "http://" not in text
    for chart in re.findall(r'<script type="application/json">(.*?)</script>', text):
        assert json.loads(chart)["layer"]


def test_the_page_shows_the_data_and_the_evidence(tmp_path, every):
    learned = every["noisy"]
    text = page(tmp_path, learned)
    assert '<code class="rule">yes if a &gt;= b + 4, else no</code>' in text
    for words in (
        "<dd>1,005; 5 dropped because of missing values</dd>",
        "a sample of 120 rows",
        "<dd>99.17 % on the rows learned from (120 distinct)</dd>",
        "to the border between <code>a and b + 4</code>: 1 below, on it, 1 above",
        "1 contradicts the rule",
        "<code>true</code> means yes, <code>false</code> means no.",
        "return a &gt;= b + 4",
        "&#34;a&#34; &gt;= &#34;b&#34; + 4",
        "1 comparison<",
    ):
        assert words in text, words
    (row,) = re.findall(r'<tr><th scope="row">(9)</th>(.*?)</tr>', text)
    x = learned.x.loc[9]
    assert row[1] == f"<td>{x.a}</td><td>{x.b}</td><td>{learned.y[9]}</td><td>{learned.verified.predicted[0]}</td>"


def test_of_many_rows_that_contradict_the_first_are_shown(tmp_path, every):
    noisy = every["noisy"]
    many = noisy.x[:25].assign(answer="no").set_axis(range(1_001, 1_026))
    fields = {name: getattr(noisy, name) for name in noisy.__dataclass_fields__}
    text = page(tmp_path, Learned(**fields | {"verified": Verified(5_000, 57, many, ["yes"] * 25)}))
    assert "The first 20 of 57." in text
    shown = re.findall(r'<th scope="row">1,0(\d\d)</th>(.*?)</tr>', text)
    assert [int(row) for row, _ in shown] == list(range(1, 21))
    assert shown[3][1] == f"<td>{noisy.x.a.iloc[3]}</td><td>{noisy.x.b.iloc[3]}</td><td>no</td><td>yes</td>"


def test_without_a_rule_it_shows_why_and_how_good_the_model_is(tmp_path, every):
    learned = every["no rule"]
    text = page(tmp_path, learned)
    assert "No rule: no comparison of the columns separates the classes better than chance." in text
    accuracy = percent(learned.estimator.evidence_.model_held_out)
    assert f"The trained model predicts instead: its held-out accuracy is {accuracy} (" in text
    assert "The rule as code" not in text
    assert "the rule</th>" not in text
    text = page(tmp_path, every["no sum"])
    assert "The trained model predicts instead.</p>" in text
    learned.estimator.use = "program"
    assert "Only a rule was allowed to predict" in page(tmp_path, learned)
    learned.estimator.use = "auto"


def test_classes_beyond_two(tmp_path, every):
    text = page(tmp_path, every["three"])
    assert "<code>0</code> means high, <code>1</code> means low, <code>2</code> means middle." in text
    assert "3 classes: high, low, middle" in text
    text = page(tmp_path, every["labels"])
    assert "The code returns the class itself." in text
    assert "3 classes: 10, 20, 30" in text


def test_numbers(tmp_path, every):
    text = page(tmp_path, every["pieces"])
    assert '<code class="rule">where(a &gt; b, a + c, b - d)</code>' in text
    assert "The code returns the number itself." in text
    assert "<td>0 (all rows)</td>" in text
    assert "<dt>found by</dt><dd>sums that are exact on many rows; which of them a row follows, by a screen of" in text
    text = page(tmp_path, every["sum"])
    assert "<td>one sum</td>" in text
    assert "not covered" not in text


@pytest.mark.parametrize(
    ("name", "charts"),
    {
        "hostile": ["learned-1", "learned-near"],
        "three": ["learned-1", "learned-near"],
        "labels": ["learned-1", "learned-near"],
        "no rule": ["learned-1", "learned-2"],
        "pieces": ["learned-1", "learned-near"],
        "sum": ["learned-1", "learned-2"],
        "no sum": ["learned-1", "learned-2"],
        "one column": ["learned-near"],
        "largest": ["learned-1", "learned-2"],
        "decimals": ["learned-1", "learned-near"],
        "area": ["learned-1", "learned-near"],
        "texts": ["learned-1", "learned-near"],
        "count": ["learned-1", "learned-2"],
        "grades": ["learned-1", "learned-near"],
    }.items(),
)
def test_which_charts_are_drawn(every, name, charts):
    assert [each for each, _, _ in learned_charts(every[name])] == charts


def test_products_counts_and_order(tmp_path, every):
    text = page(tmp_path, every["area"])
    assert '<code class="rule">1 if 9*c &lt; a*b, else 0</code>' in text
    assert "<dt>found by</dt><dd>networks of logarithms</dd>" in text
    assert "<td>1 comparison</td>" in text
    text = page(tmp_path, every["count"])
    assert "<td>3 comparisons</td>" in text
    assert "at least 2 of" in text
    text = page(tmp_path, every["largest"])
    assert '<code class="rule">max(a, b, c)</code>' in text
    assert "one sum" not in text
    text = page(tmp_path, every["decimals"])
    assert "2 classes: 4.99, 7.5" in text
    assert len(page(tmp_path, every["grades"])) > 0


def test_the_sides_of_a_wide_comparison_are_axes(every):
    (_, title, chart), (_, near, _) = learned_charts(every["area"])
    assert title == "answer by 9*c and a*b. The line is 9*c = a*b."
    drawn = chart.to_dict()
    points, line = [drawn["datasets"][layer["data"]["name"]] for layer in drawn["layer"]]
    x = every["area"].x
    assert {(point["x"], point["y"]) for point in points} == set(zip(1.0 * x.a * x.b, 9.0 * x.c, strict=True))
    assert [end["y"] - end["x"] for end in line] == pytest.approx([0, 0])
    assert near == "The half of the rows closest to 9*c = a*b (the line)."
    (_, title, _), _ = learned_charts(every["texts"])
    assert title.endswith("The line is a*b = 70.")


def test_a_chart_has_the_border_the_classes_and_the_rows_that_contradict(every):
    (_, title, chart), (_, _, near) = learned_charts(every["noisy"])
    assert title == "answer by a and b. The line is a = b + 4. Rings mark 1 row that contradicts the rule."
    drawn = chart.to_dict()
    points, rings, line = [drawn["datasets"][layer["data"]["name"]] for layer in drawn["layer"]]
    assert sum(point["rows"] for point in points) == 120
    assert [(ring["x"], ring["y"]) for ring in rings] == [tuple(every["noisy"].x.loc[9, ["b", "a"]])]
    assert [end["y"] - end["x"] for end in line] == pytest.approx([4, 4])
    bars = near.to_dict()["datasets"][near.to_dict()["layer"][0]["data"]["name"]]
    assert 60 <= sum(bar["rows"] for bar in bars) < 75
    high = [bar["from"] + bar["to"] for bar in bars if bar["group"] == "yes"]
    assert sorted(high)[1] >= 2 * 4  # the first of them is the row that contradicts, or 4 itself


def test_borders_are_of_one_column_or_two():
    a, b, c = map(Variable, "abc")
    rule = And(
        Compare(">", a, b + 3), Compare("<", Constant(2), c), Compare("=", c, Constant(2)), Compare("<", a + b, c)
    )
    rule = And(*rule.parts, Compare("<=", Linear([(2, a)]), Linear([(4, b)], 1)))
    found = borders(rule)
    assert [str(each) for each in found] == ["a = b + 3", "c = 2", "a = 2*b + 0.5"]
    assert isinstance(found[0], Atom)
    assert str(found[0].sum) == "a - b"
    assert measured(found[0], pd.DataFrame({"a": [1, 2], "b": [5, 6]})).tolist() == [-4, -4]


def test_points_are_a_sample_of_the_rows_the_same_each_time():
    x = pd.DataFrame({"t": np.arange(1_500.0), "u": np.arange(1_500.0) % 7})
    learned = learn(NSRClassifier(**QUICK), x, x.t > 700)
    points, again = Points.of(learned), Points.of(learned)
    assert len(points.x) == MOST_POINTS
    assert points.x.equals(again.x)
    assert points.ranked == ["t", "u"]
    (_, title, _), _ = learned_charts(learned)
    assert title.endswith("1,000 of the 1,500 rows.")


def test_a_tree_is_grown_on_the_same_rows(tmp_path, every):
    tree = tree_of(every["three"])
    assert (tree.nodes, tree.depth, tree.held_out_rows) == (5, 2, 24)
    assert "class: middle" in tree.text
    numbers = tree_of(every["pieces"])
    assert numbers.accuracy < 0.5
    assert numbers.mean_error > 1
    assert "truncated branch" in numbers.text
    x = table(["a", "b"]).astype(np.float64) * 1e40
    text = page(tmp_path, learn(NSRClassifier(**QUICK), x, x.a > x.b))
    assert "No tree could be grown" in text


@pytest.mark.outer
@pytest.mark.skipif(BROWSER is None, reason="no Chromium: .ci/run installs the Debian package chromium")
def test_a_browser_draws_everything_without_requests(tmp_path: Path, every):
    from playwright.sync_api import sync_playwright

    shown = {"hostile": 2, "noisy": 2, "long": 2, "no sum": 2}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=BROWSER,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
        )
        for (name, charts), (width, scheme) in zip(shown.items(), [(390, "light"), (390, "dark")] * 2, strict=True):
            file = tmp_path / f"{name}.html"
            write_page(file, every[name])
            logged: list[str] = []
            requested: list[str] = []
            context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
            tab = context.new_page()
            tab.on("console", lambda message, logged=logged: logged.append(message.text))
            tab.on("pageerror", lambda error, logged=logged: logged.append(str(error)))
            tab.on("request", lambda request, requested=requested: requested.append(request.url))
            tab.goto(file.as_uri())
            tab.wait_for_function("document.body.dataset.drawn", timeout=60_000)
            tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            tab.locator(".chart svg .mark-symbol path, .chart svg .mark-rect path").first.hover(force=True)
            assert tab.evaluate("document.querySelectorAll('.chart svg').length") == charts, name
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
            assert tab.evaluate("document.querySelectorAll('b, i, u, img').length") == 0, name
            assert logged == [], name
            assert [url for url in requested if not url.startswith(("file:", "data:"))] == [], name
            assert len(requested) == 1 + sum(url.startswith("data:") for url in requested), name
            context.close()
        browser.close()


@pytest.mark.parametrize("name", ["constructor", "__proto__", "toString", "image", "price"])
def test_columns_named_as_parts_of_objects_can_be_keys_of_tooltips(name):
    tooltip = alt.Tooltip("x:Q", title=_key(name))
    chart = alt.Chart(pd.DataFrame({"x": [1, 2]})).mark_point().encode(x="x:Q", tooltip=tooltip)
    assert "<svg" in vl_convert.vegalite_to_svg(chart.to_dict())
    assert _key(name).strip() == name


def test_a_column_that_is_the_same_in_all_rows_drawn_is_not_an_axis():
    """Rows with a missing cell are not drawn, so whether it is missing is constant."""
    x = pd.DataFrame({"amount": [1.0, 2.0, 3.0], "paid is missing": [0.0, 0.0, 0.0]})
    nothing = np.zeros(3, dtype=bool)
    points = Points(x, np.array([0, 1, 1]), ("no", "yes"), np.array([0, 1, 1]), nothing, None)
    border = Atom.difference("amount", None, 2)
    vars(points)["ranked"] = ["amount", "paid is missing"]
    assert _view(points, border, [border]) is None
    points.x["other"] = [1.0, 2.0, 4.0]
    points.ranked.append("other")
    assert _view(points, border, [border]) == ("amount", "other")


def test_a_tree_has_dates_where_columns_do():
    text = "|--- paid <= 19950.5000\n|   |--- amount <= 19950.5000\n|--- paid >  19950.5000"
    assert with_dates(text, {"paid": 86_400_000.0}).splitlines() == [
        "|--- paid <= 2024-08-15 12:00",
        "|   |--- amount <= 19950.5000",
        "|--- paid >  2024-08-15 12:00",
    ]
