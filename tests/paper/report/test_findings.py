"""What the page and the README say about records."""

from nsr.paper.cells import Summary
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.experiments.digits import DigitsCell
from nsr.paper.experiments.piecewise import PiecewiseCell
from nsr.paper.report.findings import baselines, differences, losses, mean_text, rate_text

PIECEWISE = EXPERIMENTS["piecewise"]


def summary(model: str, recipe: str = "paper", published=None, **values: tuple[float, ...]) -> Summary[PiecewiseCell]:
    values = {name.replace("_", "^").replace("soft^", "soft ").replace("p", ""): each for name, each in values.items()}
    return Summary(PiecewiseCell(model, "f"), recipe, "paper", values, (), 1.0, 1, published or {})


def test_where_the_nsr_is_worse_by_a_hundredth_or_more():
    nsr = summary("nsr", p3_5=(0.9, 0.9), p3_6=(0.5, 0.5), p3_7=(0.495, 0.495), p3_8=(0.25, 0.75))
    mlp = summary("mlp", p3_5=(0.8, 0.8), p3_6=(0.5, 0.5), p3_7=(0.5, 0.5), p3_8=(0.625, 0.625))
    (loss,) = losses(PIECEWISE, [nsr, mlp])
    assert (loss.points, loss.of, loss.soft) == (("3^8",), 4, False)
    assert loss.text == (
        "f, recipe paper, 2 seeds: the NSR is worse at 1 of 4 points (3^8), most at 3^8: "
        "NSR 0.500 ± 0.354, MLP 0.625 ± 0.000"
    )
    assert losses(PIECEWISE, [nsr]) == []
    better = summary("nsr", p3_5=(1.0, 1.0), p3_6=(1.0, 1.0), p3_7=(1.0, 1.0), p3_8=(1.0, 1.0))
    assert losses(PIECEWISE, [better, mlp]) == []


def test_the_soft_network_is_compared_too_where_its_program_is_tested():
    nsr = summary("nsr", "exact", p3_5=(1.0,), p3_6=(1.0,), soft_3_5=(0.2,), soft_3_6=(0.9,))
    mlp = summary("mlp", "exact", p3_5=(0.6,), p3_6=(0.8,))
    (loss,) = losses(PIECEWISE, [nsr, mlp])
    assert (loss.soft, loss.points, loss.nsr, loss.mlp) == (True, ("3^5",), "0.200 ± 0.000", "0.600 ± 0.000")
    assert "the soft NSR is worse at 1 of 2 points (3^5)" in loss.text


def test_errors_are_worse_where_they_are_larger():
    experiment = EXPERIMENTS["shortest_paths"]
    nsr_cell, mlp_cell = experiment.cells[1], experiment.cells[0]
    names = ("error 3^2 nodes", "error 3^3 nodes")

    def of(cell, *errors):
        return Summary(cell, "paper", "paper", {n: (e,) for n, e in zip(names, errors, strict=True)}, (), 1.0, 1, {})

    assert losses(experiment, [of(nsr_cell, 1e-9, 1.05e-9), of(mlp_cell, 1e-3, 1e-9)]) == []
    (loss,) = losses(experiment, [of(nsr_cell, 1e-9, 2e-9), of(mlp_cell, 1e-3, 1e-9)])
    assert loss.points == ("error 3^3 nodes",)


def test_a_baseline_fits_its_training_rows_in_nine_of_ten_seeds():
    def line(*train: float) -> str:
        (text,) = baselines([summary("mlp", "exact", train=train), summary("nsr", "exact", train=(0.0,) * len(train))])
        return text

    assert line(*[1.0] * 9, 0.0) == (
        "MLP f, recipe exact: right on 0.900 ± 0.316 of the training rows, 9 of 10 (0.59 to 0.99) seeds on 0.99 or "
        "more: a usable baseline"
    )
    assert line(*[1.0] * 8, 0.98, 0.98).endswith("8 of 10 (0.49 to 0.95) seeds on 0.99 or more: not a usable baseline")
    assert line(*[0.95] * 10).endswith(": not a usable baseline")  # always "unequal"


def test_a_baseline_of_digits_is_judged_on_test_pairs_like_those_of_training():
    def line(pairs: str, **values: tuple[float, ...]) -> str:
        (text,) = baselines([Summary(DigitsCell("mlp", ">", "MNIST", pairs), "paper", "paper", values, (), 1.0, 1, {})])
        return text

    assert line("all", accuracy=(0.99,) * 6 + (0.56,) * 4).endswith(
        "of the test pairs, 6 of 10 (0.31 to 0.84) seeds on 0.95 or more: not a usable baseline"
    )
    assert line("3 apart", accuracy=(0.5,), shown=(0.99,)).endswith("on 0.95 or more: a usable baseline")


def test_differences_name_the_spread():
    found = differences([summary("nsr", p3_5=(0.5, 0.75), published={"3^5": 0.99})])
    assert found == ["nsr f: at 3^5 ours is 0.625 (standard deviation of 2 seeds 0.177), the paper's 0.99"]
    assert differences([summary("nsr", p3_5=(0.95, 0.95), published={"3^5": 0.99})]) == []
    assert differences([summary("nsr", "exact", p3_5=(0.5, 0.5), published={"3^5": 0.99})]) == []


def test_rates_have_their_interval():
    assert rate_text(15, 148) == "15 of 148 (0.06 to 0.17)"  # Newcombe (1998), Table I
    assert mean_text(summary("nsr", train=(0.0, 1.0)), "train") == "0.500 ± 0.707"
