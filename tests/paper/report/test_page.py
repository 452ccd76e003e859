"""The page is a function of records; in a real browser it draws everything and asks nobody for anything."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from nsr.data import COMPARISONS
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.experiments.digits import BINS, DigitsCell, after, read_as
from nsr.paper.experiments.recurrent import LENGTHS, POWERS, square
from nsr.paper.experiments.shortest_paths import ROWS
from nsr.paper.records import Record
from nsr.paper.report.bits import status_bit_figures
from nsr.paper.report.page import section, write_figures, write_page
from nsr.paper.summaries import summarise
from nsr.paper.tables import Count, Mean, Row

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
ENVIRONMENT = '{"cpu":"a <fast> one","cores":2,"system":"Linux","python":"3","torch":"2","nsr":"0","numpy":"2"}'
CHARTS_IN_ALL = 2 + 8 + 15 + 4 + 2 + 12 + 6 + 8

DIGITS = {after(epoch, what): 0.5 + epoch / 50 for epoch in range(1, 21) for what in ("pairs", "digits")}
DIGITS |= {"accuracy": 0.9, "equal": 0.75, "unequal": 0.95, "digits": 0.875, "shown": 0.97, "not shown": 0.5}
DIGITS |= {read_as(digit, start): 0.5 * (digit - 0.25 <= start <= digit) for digit in range(10) for start in BINS}
DIGITS |= {read_as(0, 0.0): 1.0}
DIGITS |= {"trained on": 60_000.0}


def records_of(name: str, metrics: dict[str, float], skip: int = 0) -> list[Record]:
    experiment = EXPERIMENTS[name]
    return [
        Record(name, 1, cell, experiment.recipes[recipe], "paper", seed, metrics, 0.5, 2**28, ENVIRONMENT)
        for recipe in experiment.recipes
        for cell in experiment.cells_of(recipe, experiment.profiles["paper"])[skip:]
        for seed in range(experiment.profiles["paper"].seeds)
    ]


@pytest.fixture(scope="module")
def records() -> dict[str, list[Record]]:
    common = {"train": 1.0, "epochs": 50_000.0, "read": 1.0, "read without labels": 1.0}
    table_1 = common | {"1000 digits": 1.0} | {f"10^{power}": 0.93 for power in range(2, 16)}
    table_2 = common | {f"3^{power}": 0.5 for power in range(2, 34)}
    maps = {"epochs": 9.0} | {f"{kind}{comparison}": 1.0 for comparison in COMPARISONS for kind in ("train ", "")}
    squares = [square(n, k, absolute=absolute) for n in LENGTHS for k in POWERS for absolute in (False, True)]
    loops = (
        common | {"train within 0.1": 1.0, "100,000 elements": 1.0, "100 digits": 1.0} | dict.fromkeys(squares, 0.75)
    )
    return {
        "comparisons": records_of("comparisons", table_1),
        "floats": records_of("floats", maps, skip=3),
        "piecewise": records_of("piecewise", table_2),
        "redundancy": records_of("redundancy", {"=": 0.9, "!=": 0.95, "f": 0.7}),
        "recurrent": records_of("recurrent", loops),
        "digits": records_of("digits", DIGITS),
        "shortest_paths": records_of("shortest_paths", dict.fromkeys(ROWS.values(), 0.25) | {"exact": 0.5} | common),
    }


@pytest.fixture(scope="module")
def summaries(records):
    return {name: summarise(EXPERIMENTS[name], records[name]) for name in records}


def test_a_section_says_what_is_complete_and_where_we_differ(summaries):
    comparisons = section(EXPERIMENTS["comparisons"], summaries["comparisons"])
    assert (comparisons.complete, comparisons.expected, comparisons.seeds) == (24, 24, [100])
    spread = "(standard deviation of 100 seeds 0.000)"
    assert f"mlp >: at 10^6 ours is 0.930 {spread}, the paper's 0.48" in comparisons.differences
    assert not any(line.startswith("nsr =") for line in comparisons.differences)
    assert comparisons.minutes["paper"] == pytest.approx(12 * 100 * 0.5 / 60)
    floats = section(EXPERIMENTS["floats"], summaries["floats"])
    assert (floats.complete, floats.expected) == (46 + 59, 49 + 62)


def test_figures_of_everything(summaries):
    names = [name for name, _, _ in status_bit_figures()]
    for name, experiment in EXPERIMENTS.items():
        names += [figure for figure, _, _ in experiment.figures(summaries[name])]
    assert len(names) == len(set(names)) == CHARTS_IN_ALL
    assert all(list(experiment.figures([])) == [] for experiment in EXPERIMENTS.values())
    assert all(list(experiment.tables([])) == [] for experiment in EXPERIMENTS.values())


def test_each_square_of_a_recurrent_map_is_its_length_magnitude_and_tolerance():
    experiment = EXPERIMENTS["recurrent"]
    metrics = {square(n, k): (n + k) / 100 for n in LENGTHS for k in POWERS}
    metrics |= {square(n, k, absolute=True): (n - k) / 100 for n in LENGTHS for k in POWERS}
    summaries = summarise(experiment, records_of("recurrent", metrics))
    charts = {name: (title, chart.to_dict()) for name, title, chart in experiment.figures(summaries)}
    assert list(charts)[:3] == [f"recurrent-paper-mlp-{kind}" for kind in ("minimum", "minimum-absolute", "count")]
    assert list(charts)[-1] == "recurrent-exact-nsr-count"
    for kind, sign in (("minimum", 1), ("minimum-absolute", -1), ("count", 1)):
        title, chart = charts[f"recurrent-exact-nsr-{kind}"]
        assert ("within 0.1" in title) == (sign == -1)
        (squares,) = chart["datasets"].values()
        assert len(squares) == 10 * 13
        for one in squares:
            assert one["accuracy"] == pytest.approx((one["length"] + sign * one["magnitude"]) / 100)


def test_a_recurrent_table_marks_what_is_missing_and_counts_seeds(records):
    experiment = EXPERIMENTS["recurrent"]
    kept = [record for record in records["recurrent"] if record.cell != experiment.cells[0]]
    paper, exact = section(experiment, summarise(experiment, kept)).tables
    assert paper.columns == exact.columns == ("MLP minimum", "MLP count", "NSR minimum", "NSR count")
    assert paper.rows[0] == Row("train", (None, *[Mean(1.0)] * 3))
    assert paper.rows[2] == Row("5", (None, *[Mean(0.75)] * 3))
    assert [row.label for row in paper.foot] == [*("perfect", "read", "no labels", "10^5 long", "100 digits", "epochs")]
    assert paper.foot[0].entries == (None, *[Count(0, 100)] * 3)
    assert paper.foot[3].entries == (None, *[Count(100, 100)] * 3)


def test_the_curves_of_digits_have_a_band_and_a_line_for_each_model_and_the_number_line_its_histograms(records):
    experiment = EXPERIMENTS["digits"]
    changed = [
        dataclasses.replace(record, metrics=record.metrics | {after(20): 0.5 if record.seed else 1.0})
        for record in records["digits"]
    ]
    summaries = summarise(experiment, changed)
    charts = {name: chart.to_dict() for name, _, chart in experiment.figures(summaries)}
    assert list(charts)[:5] == [
        *("digits-paper-greater", "digits-paper-nsr-greater-line", "digits-paper-mlp-greater-line"),
        *("digits-exact-greater", "digits-exact-equal"),
    ]
    (points,) = charts["digits-exact-equal"]["datasets"].values()
    assert len(points) == 20 * 4
    assert {point["model"] for point in points} == {"NSR", "MLP", "classifier", "classifier, digits"}
    (last,) = [point for point in points if (point["model"], point["epoch"]) == ("NSR", 20)]
    assert last["accuracy"] == pytest.approx(0.55)
    assert last["high"] - last["accuracy"] == pytest.approx(last["accuracy"] - last["low"])
    assert last["high"] - last["accuracy"] == pytest.approx(0.5 / 10**0.5)  # one of ten is 0.5 above the others
    (lines,) = charts["digits-exact-nsr-greater-line"]["datasets"].values()
    assert [(line["digit"], line["from"], line["to"]) for line in lines[:3]] == [
        *(("0", 0, 0.25), ("1", 0.75, 1), ("1", 1, 1.25)),
    ]
    assert [line["top"] for line in lines[:3]] == pytest.approx([0.95, 1.475, 1.475])  # in parts of the highest


def test_the_tables_of_digits_say_which_images_and_mark_what_is_missing(records):
    experiment = EXPERIMENTS["digits"]
    kept = [record for record in records["digits"] if record.cell != DigitsCell("classifier", "=", "MNIST")]
    digits = section(experiment, summarise(experiment, kept))
    assert (digits.complete, digits.expected) == (3 + 9, 3 + 10)
    paper, exact, subsets = digits.tables
    assert paper.title == "Digit comparisons: recipe paper, 60,000 images of MNIST, 10 seeds, NSR 0 s per seed"
    assert exact.columns == ("classifier", "mlp", "nsr")
    assert exact.rows[0] == Row(">", (Mean(0.9),) * 3)
    assert exact.rows[1] == Row("digits", (Mean(0.875),) * 3)
    assert exact.rows[2] == Row("=", (None, Mean(0.9), Mean(0.9)))
    assert exact.rows[5] == Row("balanced", (None, Mean(0.85), Mean(0.85)))
    assert subsets.columns == ("MLP of 0 to 4", "MLP up to 3 apart", "NSR of 0 to 4", "NSR up to 3 apart")
    assert subsets.rows[2] == Row("not shown", (Mean(0.5),) * 4)
    assert section(experiment, []).tables == []


def test_figures_are_written_as_svg_and_png(tmp_path, records):
    summaries = {"floats": summarise(EXPERIMENTS["floats"], records["floats"][:400])}
    assert write_figures(tmp_path, summaries) == len(list(tmp_path.glob("*.svg")))
    assert (tmp_path / "bits.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "bits-lambda.svg").read_text()


def test_a_page_without_results_shows_everything_as_missing(tmp_path):
    write_page(tmp_path / "deep" / "page.html", {})
    text = (tmp_path / "deep" / "page.html").read_text()
    assert text.count("There are no complete results yet.") == len(EXPERIMENTS)
    assert '<span class="missing">missing</span>' in text
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["page.html"]


def test_what_records_hold_is_text_on_the_page(tmp_path, summaries):
    write_page(tmp_path / "page.html", summaries)
    text = (tmp_path / "page.html").read_text()
    assert "a &lt;fast&gt; one" in text
    assert "<fast>" not in text
    assert "http://" not in text.split("<script>")[0]


@pytest.mark.outer
@pytest.mark.skipif(BROWSER is None, reason="no Chromium: .ci/run installs the Debian package chromium")
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1200, "dark")])
def test_a_browser_draws_it_all_and_asks_nobody(tmp_path: Path, summaries, width, scheme):
    from playwright.sync_api import sync_playwright

    file = tmp_path / "page.html"
    write_page(file, summaries)
    messages, requests = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=BROWSER,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
        )
        page = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme).new_page()
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_function("document.body.dataset.drawn", timeout=60_000)
        charts, drawn = page.evaluate(
            "[document.querySelectorAll('.chart').length, document.querySelectorAll('.chart svg').length]"
        )
        wide = page.evaluate("document.documentElement.scrollWidth")
        smallest = page.evaluate(
            "Math.min(...[...document.querySelectorAll('td, th')].map(e => parseFloat(getComputedStyle(e).fontSize)))"
        )
        cut = page.evaluate(
            "[...document.querySelectorAll('section table:not(.summary)')]"
            ".filter(t => t.getBoundingClientRect().right > innerWidth + 1).length"
        )
        browser.close()
    assert messages == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert charts == drawn == CHARTS_IN_ALL
    assert wide <= width
    assert cut == 0
    assert smallest >= 11
