import os
import pickle
import subprocess
import sys
from datetime import date
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from rule_tables import rule_table
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from nsr.learn import NSRClassifier, NSRRegressor, RuleEvidence
from nsr.learn.diagnostics import Margin
from nsr.program import Program

SHORT = {"restarts": 2, "random_state": 0}


QUICK = {"restarts": 1, "time_limit": 1e-9}
"""A search whose time is up at once: it ends after the screen, and a network is trained to predict."""


@pytest.mark.outer
@parametrize_with_checks([NSRClassifier(**QUICK), NSRRegressor(**QUICK)])
def test_scikit_learn_accepts_both(estimator, check, unchecked):
    if "check_array_api_input" not in str(check):  # see below
        check(estimator)


@pytest.mark.outer
@parametrize_with_checks([NSRClassifier(restarts=1), NSRRegressor(restarts=1)])
def test_scikit_learn_accepts_both_with_all_proposals(estimator, check, unchecked):
    if "check_array_api_input" not in str(check):
        check(estimator)


@pytest.mark.outer
def test_scikit_learn_accepts_both_where_arrays_follow_the_standard():
    program = f"""
from sklearn.utils.estimator_checks import estimator_checks_generator
from nsr.learn import NSRClassifier, NSRRegressor
for make in (NSRClassifier, NSRRegressor):
    checks = [each for each in estimator_checks_generator(make(**{QUICK})) if "array_api" in str(each[1])]
    for estimator, check in checks:
        check(estimator)
    print(len(checks))
"""
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}  # which scipy reads when it is imported
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["1", "1"], done.stderr


@pytest.fixture(scope="module")
def orders() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "stock": rng.integers(0, 60, 400),
            "ordered": rng.integers(1, 60, 400),
            "price in €": rng.uniform(1, 200, 400).round(2),
            "limit": rng.choice([50, 100, 150.0], 400),
            "weight": rng.lognormal(0, 1, 400) * 1e-3,
        }
    )
    shipped = (table["stock"] >= table["ordered"]) & (table["price in €"] <= table["limit"])
    return table.assign(shipped=np.where(shipped, "yes", "no"))


@pytest.fixture(scope="module")
def fitted(orders) -> NSRClassifier:
    return NSRClassifier(**SHORT).fit(orders.drop(columns="shipped"), orders["shipped"])


def test_a_rule_in_a_table_with_its_evidence(fitted, orders):
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.rule_ in {
        f"yes if {limit} and {stock}, else no"
        for limit in ("limit >= `price in €`", "limit > `price in €`")
        for stock in ("ordered <= stock",)
    }
    evidence = fitted.evidence_
    assert evidence.agreement == evidence.held_out == 1
    assert (evidence.rows, evidence.held_out_rows, evidence.restarts) == (400, 59, 0)
    assert evidence.origin == "screen"
    assert all(margin.above < 1.5 for margin in evidence.margins.values())
    assert str(evidence).startswith(
        "accuracy: 100 % (400 distinct rows)\nheld-out accuracy: 100 % (59 rows)\n"
        "found by: a screen of single columns and pairs of columns\n"
    )
    assert (fitted.predict(orders.drop(columns="shipped")) == orders["shipped"]).all()
    assert fitted.members_ == ()
    assert fitted.best_ is None


def test_the_program_or_the_model_predicts_as_set(fitted, orders):
    x = orders.drop(columns="shipped")
    far = x.assign(stock=x["stock"] * 10**6 + 1, ordered=x["stock"] * 10**6)
    truth = np.where(far["price in €"] <= far["limit"], "yes", "no")
    assert (fitted.predict(far) == truth).all()
    model = clone(fitted).set_params(use="model").fit(x, orders["shipped"])
    assert model.program_ == fitted.program_
    assert model.score(x, orders["shipped"]) > 0.8
    assert model.predict_proba(x).shape == (400, 2)
    assert not np.array_equal(model.predict_proba(x), fitted.predict_proba(x))
    nothing = NSRClassifier(**SHORT, use="program").fit(x, np.random.default_rng(0).permutation(orders["shipped"]))
    assert nothing.program_ is None
    with pytest.raises(
        ValueError, match="^there is no program to use: no rule: no comparison of the columns separates"
    ):
        nothing.predict(x)


def test_the_same_random_state_finds_the_same_and_it_can_be_pickled(fitted, orders):
    x = orders.drop(columns="shipped")
    assert clone(fitted).fit(x, orders["shipped"]).evidence_ == fitted.evidence_
    one, two = (clone(fitted).set_params(use="model").fit(x, orders["shipped"]) for _ in range(2))
    assert one.evidence_ == two.evidence_
    assert np.array_equal(one.predict_proba(x), pickle.loads(pickle.dumps(two)).predict_proba(x))


@pytest.mark.parametrize("make", [NSRClassifier, NSRRegressor])
def test_a_model_is_trained_only_where_it_predicts(make):
    x = pd.DataFrame(np.random.default_rng(0).integers(0, 50, (200, 2)), columns=["a", "b"])
    y = x["a"] > x["b"] if make is NSRClassifier else x.max(axis=1)
    model = make(**SHORT).fit(x, y)
    assert model.best_ is None
    with pytest.raises(
        ValueError, match="^there is no model to use: a rule was found without training one; fit with use='model'$"
    ):
        model.set_params(use="model").predict(x)
    assert make(**SHORT, use="model").fit(x, y).score(x, y) > 0.7


def test_pipelines_and_grid_search(orders):
    x, y = orders[["stock", "ordered"]], orders["stock"] > orders["ordered"]
    piped = make_pipeline(FunctionTransformer(lambda table: table * 2.0), NSRClassifier(**SHORT)).fit(x, y)
    assert str(piped[-1].program_) in {"ordered < stock", "stock > ordered"}
    search = GridSearchCV(NSRClassifier(**SHORT), {"errors": [0.0, 0.1]}, cv=2).fit(x, y)
    assert search.best_score_ == 1


@pytest.mark.parametrize("line", ["three", "either", "gap"])
def test_classes_of_tables_with_distractors(line):
    table = rule_table(line, np.random.default_rng(3))
    model = NSRClassifier(**SHORT).fit(pd.DataFrame(table.columns), table.y)
    far = table.far(np.random.default_rng(4))
    assert model.evidence_.agreement == 1
    assert (model.predict(pd.DataFrame(far.columns)) == far.y).all(), (model.rule_, table.rule)


def test_numeric_classes_are_returned_and_texts_are_numbered():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.integers(-9, 10, (200, 2)), columns=["a", "b"])
    signs = np.sign(x["a"] - x["b"])
    model = NSRClassifier(**SHORT).fit(x, signs)
    assert set(np.unique(model.program_(x))) == {-1, 0, 1}
    assert model.program_.equivalent(Program.parse("where(a < b, -1, where(a > b, 1, 0))"))
    assert model.rule_.startswith(("-1 if a < b, else ", "1 if a > b, else "))
    named = NSRClassifier(**SHORT).fit(x, signs.map({-1: "less", 0: "same", 1: "more"}))
    assert set(np.unique(named.program_(x))) == {0, 1, 2}
    assert set(named.rule_.split()) >= {"less", "same", "more"}
    assert (named.predict(x) == signs.map({-1: "less", 0: "same", 1: "more"})).all()


@pytest.mark.parametrize("line", ["distance", "choice", "maximum"])
def test_numbers_of_tables_with_distractors(line):
    table = rule_table(line, np.random.default_rng(3))
    model = NSRRegressor(**SHORT).fit(pd.DataFrame(table.columns), table.y)
    far = table.far(np.random.default_rng(4))
    assert model.evidence_.agreement == 1
    assert model.predict(pd.DataFrame(far.columns)) == pytest.approx(far.y, rel=1e-9), (model.rule_, table.rule)


def test_a_single_sum_and_four_pieces():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.integers(-20, 21, (400, 3)), columns=["a", "b", "c"])
    model = NSRRegressor(**SHORT).fit(x, 2 * x["a"] - x["b"] + 5)
    assert model.rule_ == "2*a - b + 5"
    assert model.evidence_.reason is None
    clipped = NSRRegressor(**SHORT).fit(x, x["a"].clip(-5, 5))
    assert clipped.program_ is not None
    assert (clipped.predict(x) == x["a"].clip(-5, 5)).all()
    for low, high in pairwise([-7, -5, 0, 5, 7]):
        assert clipped.program_([low, 0, 0]) <= clipped.program_([high, 0, 0])


def test_the_reason_for_numbers_speaks_of_sums_and_not_of_classes():
    rng = np.random.default_rng(0)
    x = rng.integers(-200, 200, (400, 3))
    evidence = NSRRegressor(**SHORT).fit(x, 3 * x[:, 0] + 2 * x[:, 1] + 7 * rng.integers(0, 3, 400)).evidence_
    assert evidence.reason == (
        "no exact rule: one of 3 sums gives the target on 100 % of the rows, but no comparison of the columns shows "
        "better than chance which one"
    )


@pytest.mark.parametrize("line", ["random", "sine", "sine-class"])
def test_no_rule_is_claimed_where_there_is_none(line):
    table = rule_table(line, np.random.default_rng(0))
    make = NSRClassifier if table.classification else NSRRegressor
    model = make(**SHORT).fit(pd.DataFrame(table.columns), table.y)
    assert model.program_ is None
    assert model.rule_ is None
    assert model.evidence_.reason.startswith("no ")
    assert str(model.evidence_).startswith(model.evidence_.reason)
    assert len(model.predict(pd.DataFrame(table.columns))) == len(table.y)


def test_wrong_settings_and_tables_are_refused_in_a_sentence():
    x, y = np.arange(20.0).reshape(10, 2), np.arange(10) > 4
    for settings, text in [
        ({"restarts": 0}, "restarts must be an integer of at least 1, got 0"),
        ({"time_limit": 0}, "time_limit must be positive and finite, got 0"),
        (
            {"proposals": ("scren",)},
            "unknown proposals 'scren': choose from screen, training, products; did you mean 'screen'\\?",
        ),
        ({"errors": 0.5}, "errors must be at least 0 and less than 0.5, got 0.5"),
        ({"use": "both"}, "use must be one of auto, program, model, got 'both'"),
    ]:
        with pytest.raises(ValueError, match=f"^{text}$"):
            NSRClassifier(**settings).fit(x, y)
    with pytest.raises(ValueError, match="one class: 'a'"):
        NSRClassifier().fit(x, ["a"] * 10)
    with pytest.raises(ValueError, match="^X must have a column that is not constant$"):
        NSRClassifier().fit(np.ones((10, 2)), y)
    with pytest.raises(ValueError, match="^y has 101 distinct values; at most 100 can be classes$"):
        NSRClassifier().fit(np.arange(404.0)[:, None], np.arange(404) % 101)


@pytest.mark.parametrize(
    "dates", [pd.date_range("2024-01-01", periods=20), pd.timedelta_range("1D", periods=20), [date(2024, 1, 1)] * 20]
)
def test_dates_are_no_numbers(dates):
    x = pd.DataFrame({"a": np.arange(20), "when": dates})
    for make in (NSRClassifier, NSRRegressor):
        with pytest.raises(
            TypeError, match="^column 'when' holds dates or times: give numbers, such as the days since"
        ):
            make(**SHORT).fit(x, np.arange(20) % 2)
    model = NSRClassifier(**SHORT, proposals=("screen",)).fit(x[["a"]], np.arange(20) % 2)
    with pytest.raises(TypeError, match="^X holds dates or times"):
        model.predict(np.array(["2024-01-01"], dtype="datetime64[D]")[:, None])


@pytest.mark.parametrize("make", [NSRClassifier, NSRRegressor])
def test_texts_in_a_data_frame_are_refused_by_column_with_what_takes_them(make):
    x = pd.DataFrame({"a": range(6), "country": ["1", "2", "DE", "AT", "1", "2"]})
    message = r"column 'country' holds texts, such as 'DE': the estimators take numbers; nsr learn and .* take texts"
    with pytest.raises(ValueError, match=message):
        make().fit(x, [0, 1, 0, 1, 0, 1])
    numbers = x.assign(country=x["country"].replace({"DE": "3", "AT": "4.5"}))
    assert make(restarts=1, random_state=0).fit(numbers, [0, 1, 0, 1, 0, 1]).n_features_in_ == 2


def test_decimals_can_be_labels():
    x = pd.DataFrame(np.random.default_rng(0).integers(0, 60, (300, 2)), columns=["a", "b"])
    two, three = np.where(x["a"] > 30, 4.99, 7.5), np.select([x["a"] > 30, x["b"] > 20], [4.99, 7.5], 9.25)
    model = NSRClassifier(**SHORT).fit(x, two)
    assert model.rule_ == "7.5 if a <= 30, else 4.99"
    assert model.score(x, two) == 1
    model = NSRClassifier(**SHORT).fit(x, three)
    assert model.rule_ == "4.99 if a > 30, else 7.5 if b > 20, else 9.25"
    assert model.predict(x).tolist() == three.tolist()
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        NSRClassifier().fit(x, np.random.default_rng(0).normal(size=300))


@pytest.mark.parametrize("kind", ["bool", "uint8", "uint32", "uint64", "int16", "float16", "float32", "longdouble"])
def test_columns_of_every_dtype_are_predicted_as_they_were_learned(kind):
    x = np.random.default_rng(0).integers(0, 2 if kind == "bool" else 100, (150, 3)).astype(kind)
    y = x[:, 0].astype(float) > x[:, 1].astype(float)
    settings = {"use": "model", "proposals": ("screen",)}  # a network is trained nevertheless
    model = NSRClassifier(restarts=2, random_state=0, **settings).fit(x, y)
    assert model.score(x, y) > 0.9
    assert (model.set_params(use="auto").predict(x) == y).all()


def test_integers_are_not_rounded():
    rng = np.random.default_rng(0)
    start = rng.integers(10**14, 2 * 10**14, 300)
    x = pd.DataFrame({"s": start, "a": start + rng.integers(-5, 6, 300)})
    model = NSRRegressor(**SHORT).fit(x, x.min(axis=1))
    assert model.rule_ == "min(a, s)"


def test_integers_beside_fractions_are_not_rounded_in_predictions():
    x = pd.DataFrame({"id": 2**60 + np.arange(-100, 100), "z": np.arange(200) / 8})
    with pytest.warns(DataConversionWarning):
        model = NSRClassifier(**SHORT).fit(x, np.arange(200) > 99)
    model.program_ = Program.parse(f"id > {2**60}", list(x))
    assert (model.predict(x) == (np.arange(200) > 100)).all()


@pytest.mark.outer
def test_copies_of_a_row_do_not_count_as_evidence():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(12, 4)), rng.permutation([0, 1] * 6)
        model = NSRClassifier(**SHORT).fit(np.repeat(x, 50, 0), np.repeat(y, 50))
        assert model.program_ is None
        assert NSRClassifier(**SHORT).fit(x, y, sample_weight=[100.0] * 12).program_ is None


def test_exceptions_that_follow_a_comparison_are_not_random():
    x = pd.DataFrame(np.random.default_rng(0).uniform(0, 100, (400, 3)), columns=["a", "b", "c"])
    model = NSRRegressor(**SHORT).fit(x, np.where(x["a"] > 93, np.sin(x["b"] * x["c"]), 0.0))
    assert model.program_ is None
    assert "are not random" in model.evidence_.reason


def test_too_few_rows_to_hold_any_out_are_reported():
    x = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [4.0, 3, 2, 1]})
    model = NSRClassifier(**SHORT).fit(x, [0, 0, 1, 1])
    assert model.program_ is None
    assert model.evidence_.held_out is None
    assert "held-out accuracy: none, too few rows" in str(model.evidence_)


def test_repeated_column_names_are_refused():
    x = pd.DataFrame(np.arange(20.0).reshape(10, 2), columns=["a", "a"])
    with pytest.raises(ValueError, match="column names must be unique, got 'a' 2 times"):
        NSRClassifier(**SHORT).fit(x, [0, 1] * 5)


def test_integers_that_floats_cannot_hold_give_a_warning():
    x = pd.DataFrame({"id": np.arange(20) + 2**60, "b": np.arange(20) / 8})
    with pytest.warns(DataConversionWarning, match=r"column 'id' holds integers beyond 2\^53, which are rounded"):
        NSRClassifier(**SHORT).fit(x, [0, 1] * 10)


def test_pieces_meet_where_the_rows_leave_it_open():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"x": rng.normal(0, 30, 600).round(1), "z": rng.normal(0, 9, 600).round(2)})
    model = NSRRegressor(**SHORT).fit(x, x["x"].clip(-12.5, 20))
    assert model.rule_ == "clip(x, -12.5, 20)"


def test_ties_at_which_pieces_agree_are_rows_too():
    x = pd.DataFrame(np.random.default_rng(0).integers(0, 20, (600, 2)), columns=["a", "b"])
    evidence = NSRRegressor(**SHORT).fit(x, x.max(axis=1)).evidence_
    assert evidence.not_covered == ()
    assert str(evidence.margins["a and b"]) == "1 below, on it, 1 above"


def test_a_border_that_comparisons_only_approximate_is_reported():
    x = pd.DataFrame(np.random.default_rng(1).integers(0, 60, (500, 3)), columns=["a", "b", "c"])
    model = NSRClassifier(**SHORT, proposals=("screen",)).fit(x, x["a"] + x["b"] > x["c"])
    assert model.program_ is None
    assert "comparisons only approximate the border, which is about " in model.evidence_.reason
    assert model.evidence_.nearest.startswith("True if ")
    assert f"\nnearest rule: {model.evidence_.nearest}\n" in str(model.evidence_)


def test_the_largest_of_three_columns_is_right_at_ties():
    x = pd.DataFrame(np.random.default_rng(0).integers(-50, 51, (400, 4)), columns=list("abcd"))
    model = NSRRegressor(**SHORT).fit(x, x[["a", "b", "c"]].max(axis=1))
    assert model.rule_ == "max(a, b, c)"
    ties = pd.DataFrame([(7, 7, 3, 0), (7, 3, 7, 0), (3, 7, 7, 9), (7, 7, 7, 9)], columns=list("abcd"))
    assert model.predict(ties).tolist() == [7, 7, 7, 7]
    assert "found by: sums that are exact on many rows\n" in str(model.evidence_)


def test_evidence_is_printed_in_few_lines():
    evidence = RuleEvidence(
        rows=9,
        agreement=1.0,
        held_out=1.0,
        held_out_rows=2,
        origin="pieces",
        chosen_by="training",
        reread=True,
        margins={f"a and {at}": Margin(1.0, False, 2.0) for at in range(9)},
        not_covered=tuple(f"a == {at}" for at in range(11)),
    )
    lines = str(evidence).splitlines()
    assert lines[1] == "held-out accuracy: 100 % (2 rows, before it was read again with them)"
    assert lines[2] == (
        "found by: sums that are exact on many rows; which of them a row follows, by networks that weigh columns"
    )
    assert lines[-1] == f"not covered by the data: {', '.join(f'a == {at}' for at in range(8))} and 3 more"
    assert len(lines) == 3 + 6 + 1


def test_few_distinct_rows_are_reported():
    x = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (600, 2)), columns=["a", "b"])
    model = NSRClassifier(**SHORT).fit(x, x.all(axis=1))
    few = "no rule: too few rows to distinguish a rule from chance (4 distinct rows, 1 of the rarest class)"
    assert model.evidence_.reason == few
