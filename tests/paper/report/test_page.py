"""The page is a function of records. ``tests/test_pages.py`` opens it in a browser."""

import dataclasses
import re

import pytest

from nsr.data import COMPARISONS
from nsr.html.charts import Band, Chart, Line, Square
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.experiments.comparisons import overview
from nsr.paper.experiments.digits import BINS, DigitsCell, after, read_as
from nsr.paper.experiments.recurrent import LENGTHS, POWERS, square
from nsr.paper.experiments.shortest_paths import ROWS
from nsr.paper.records import Record
from nsr.paper.report.page import all_figures, raised, section, write_figures, write_page
from nsr.paper.summaries import summarise
from nsr.paper.tables import Count, Mean, Row

ENVIRONMENT = '{"cpu":"a <fast> one","cores":2,"system":"Linux","python":"3","torch":"2","nsr":"0","numpy":"2"}'
CHARTS_IN_ALL = 2 + 2 + (6 + 4) + (2 + 15) + (2 + 4) + (2 + 6) + (4 + 12) + (3 + 6) + (2 + 6)

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


def squares_of(chart: Chart) -> dict[tuple[int, int], Square]:
    return {(round(sum(m.x) / 2), round(sum(m.y) / 2)): m for m in chart.marks if isinstance(m, Square)}


def lines_of(chart: Chart) -> dict[str, Line]:
    return {mark.label: mark for mark in chart.marks if isinstance(mark, Line) and mark.label}


def test_figures_of_everything(summaries):
    names = [name for name, _, _ in all_figures(summaries)]
    assert len(names) == len(set(names)) == CHARTS_IN_ALL
    for experiment in EXPERIMENTS.values():
        assert list(experiment.figures([])) == list(experiment.answer([])) == []
        assert list(experiment.tables([])) == []
        assert experiment.question.endswith("?")


def test_the_first_picture_has_the_papers_nsr_ours_and_the_mlp_to_10_to_the_15(summaries):
    order, equality = (chart for _, _, chart in overview(summaries["comparisons"]))
    for chart, printed in ((order, 1.0), (equality, (0.93 + 0.92) / 2)):
        lines = lines_of(chart)
        assert set(lines) == {"NSR", "NSR, exact", "MLP", "paper's NSR", "paper's MLP"}
        assert lines["NSR"].points == [(1, 1.0), *((power, pytest.approx(0.93)) for power in range(2, 16))]
        assert lines["paper's NSR"].points[-1] == (13, pytest.approx(printed))
        assert lines["paper's NSR"].dash
        assert not lines["NSR"].dash


def test_the_answer_of_table_1_has_the_printed_row_of_each_comparison(summaries):
    charts = {title: lines_of(chart) for _, title, chart in EXPERIMENTS["comparisons"].answer(summaries["comparisons"])}
    assert list(charts) == [f"x1 {comparison} x2" for comparison in COMPARISONS]
    assert charts["x1 > x2"]["paper's MLP"].points[:4] == [(2, 1.0), (3, 0.96), (4, 0.71), (5, 0.49)]
    assert charts["x1 = x2"]["paper's NSR"].points == [(power, 0.93) for power in range(2, 14)]
    assert charts["x1 = x2"]["NSR"].points == [(power, pytest.approx(0.93)) for power in range(2, 16)]


def test_the_maps_of_floats_have_the_papers_threshold(summaries):
    greater, equal = (chart for _, _, chart in EXPERIMENTS["floats"].answer(summaries["floats"]))
    for chart, exponent in ((greater, -3), (equal, 0)):
        _, stairs = (mark for mark in chart.marks if isinstance(mark, Line))
        crossed = {(x, y) for x, y in stairs.points}
        for column in range(7):
            row = 6 + exponent - column  # the least lambda at which lambda x delta is 10^exponent
            assert (row > 0) == ({(column - 0.5, row - 0.5), (column + 0.5, row - 0.5)} <= crossed)


def test_each_square_of_a_recurrent_map_is_its_length_magnitude_and_tolerance():
    experiment = EXPERIMENTS["recurrent"]
    metrics = {square(n, k): (n + k) / 100 for n in LENGTHS for k in POWERS}
    metrics |= {square(n, k, absolute=True): (n - k) / 100 for n in LENGTHS for k in POWERS}
    summaries = summarise(experiment, records_of("recurrent", metrics))
    charts = {name: (title, chart) for name, title, chart in experiment.figures(summaries)}
    assert list(charts)[:3] == [f"recurrent-paper-mlp-{kind}" for kind in ("minimum", "minimum-absolute", "count")]
    assert list(charts)[-1] == "recurrent-exact-nsr-count"
    for kind, sign in (("minimum", 1), ("minimum-absolute", -1), ("count", 1)):
        title, chart = charts[f"recurrent-exact-nsr-{kind}"]
        assert ("within 0.1" in title) == (sign == -1)
        squares = squares_of(chart)
        assert len(squares) == 10 * 13
        for (column, row), one in squares.items():
            assert float(one.text.split(",")[0]) == pytest.approx((LENGTHS[column] + sign * POWERS[row]) / 100)
            assert one.inside == f"{(LENGTHS[column] + sign * POWERS[row]) / 100:.2f}"[1:]


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
    names = [name for name, _, _ in experiment.figures(summaries)]
    assert names[:3] == ["digits-exact-equal", "digits-paper-nsr-greater-line", "digits-paper-mlp-greater-line"]
    charts = {name: chart for name, _, chart in (*experiment.answer(summaries), *experiment.figures(summaries))}
    assert list(charts)[:2] == ["digits-paper-greater", "digits-exact-greater"]
    lines = lines_of(charts["digits-exact-greater"])
    assert list(lines) == ["NSR", "MLP", "digits"]
    assert [len(line.points) for line in lines.values()] == [20] * 3
    assert lines["NSR"].points[-1] == (20, pytest.approx(0.55))
    _, low, high = next(mark for mark in charts["digits-exact-greater"].marks if isinstance(mark, Band)).points[-1]
    assert high - 0.55 == pytest.approx(0.55 - low)
    assert high - 0.55 == pytest.approx(0.5 / 10**0.5)  # one of ten is 0.5 above the others
    bars = [mark for mark in charts["digits-exact-nsr-greater-line"].marks if isinstance(mark, Square)]
    assert [bar.x for bar in bars[:3]] == [(0, 0.25), (0.75, 1), (1, 1.25)]
    assert [bar.y for bar in bars[:3]] == [  # in parts of the highest
        *((0, pytest.approx(0.95)), (1, pytest.approx(1.475)), (1, pytest.approx(1.475))),
    ]


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


def test_a_page_without_results_says_so_calmly(tmp_path):
    write_page(tmp_path / "deep" / "page.html", {})
    text = (tmp_path / "deep" / "page.html").read_text()
    assert text.count("not run yet") == len(EXPERIMENTS)
    assert text.count("Not run yet: <code>nsr reproduce ") == len(EXPERIMENTS)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["page.html"]


def first_screen(text: str) -> str:
    return text.split('<section id="summary">')[1].split("</section>")[0]


def test_the_first_screen_of_a_partial_run_says_what_there_is_and_nothing_is_red(tmp_path, records):
    kept = [r for r in records["comparisons"] if r.cell.model == "nsr" and r.recipe.name == "exact" and r.seed < 50]
    write_page(tmp_path / "page.html", {"comparisons": summarise(EXPERIMENTS["comparisons"], kept)})
    text = (tmp_path / "page.html").read_text()
    first = first_screen(text)
    assert "0 of 24 cells so far" in first
    assert "missing" not in first
    assert first.count("not run yet") == len(EXPERIMENTS) - 1
    assert "no MLP in this section" in first
    assert "profile" not in first
    quick = [dataclasses.replace(record, profile="quick") for record in kept]
    write_page(tmp_path / "page.html", {"comparisons": summarise(EXPERIMENTS["comparisons"], quick)})
    first = first_screen((tmp_path / "page.html").read_text())
    assert "<small>profile quick</small>" in first
    assert "their verdicts are about these runs" in first
    assert text.count("of 24 cells of profile paper have all their seeds") == 1


def test_the_first_screen_has_every_verdict(tmp_path, summaries):
    write_page(tmp_path / "page.html", summaries)
    text = (tmp_path / "page.html").read_text()
    rows = re.findall(r'<tr><th scope="row"><a href="#(\w+)">.*?</tr>', first_screen(text), re.S)
    assert rows == list(EXPERIMENTS)
    chips = re.findall(r'class="chip ([\w-]+)"', first_screen(text))
    assert {"better", "differs", "level"} <= set(chips)
    for name in EXPERIMENTS:  # each section: question, figure, table, then what is folded away
        shown = text.split(f'<section id="{name}">')[1].split("</section>")[0]
        order = [shown.index(part) for part in ('class="question"', "<figure", 'class="claims"', "<details")]
        assert order == sorted(order)
        assert f'<details id="{name}-more">' in shown


def test_programs_are_called_programs_and_the_network_has_a_verdict_of_its_own(tmp_path, records):
    metrics = {f"{soft}3^{power}": 0.5 if soft else 1.0 for soft in ("", "soft ") for power in range(2, 34)}
    common = {"epochs": 9.0, "read": 1.0, "read without labels": 1.0, "train": 1.0, "soft train": 1.0}
    exact = [r for r in records_of("piecewise", metrics | common) if (r.recipe.name, r.cell.model) == ("exact", "nsr")]
    summaries = summarise(EXPERIMENTS["piecewise"], exact)
    write_page(tmp_path / "page.html", {"piecewise": summaries})
    text = (tmp_path / "page.html").read_text()
    chips = re.findall(r"</span> ([^<]*)</span>", first_screen(text))
    assert {"program: better", "soft network: differs", "program: level or ahead"} & set(chips) == {
        *("program: better", "soft network: differs")
    }
    assert "recipe exact: program" in text
    assert "recipe exact: soft network" in text
    (abs_chart, _) = (lines_of(chart) for _, _, chart in EXPERIMENTS["piecewise"].answer(summaries))
    assert {"program", "soft NSR"} <= set(abs_chart)
    assert abs_chart["soft NSR"].points[0] == (2, 0.5)


def test_what_records_hold_is_text_on_the_page(tmp_path, summaries):
    write_page(tmp_path / "page.html", summaries)
    text = (tmp_path / "page.html").read_text()
    assert "a &lt;fast&gt; one" in text
    assert "<fast>" not in text
    assert "http" not in text


def test_exponents_are_raised():
    assert raised("from 10^-3 to 3^13, not x^2 or ^4") == "from 10⁻³ to 3¹³, not x^2 or ^4"
