import pickle
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

from nsr.learn import NSRClassifier, NSRRegressor

SHORT = {"restarts": 2, "epochs": 20, "random_state": 0}


@parametrize_with_checks([NSRClassifier(restarts=1, epochs=40), NSRRegressor(restarts=1, epochs=40)])
def test_scikit_learn_accepts_both(estimator, check, unchecked):
    check(estimator)


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
    assert (evidence.rows, evidence.held_out_rows, evidence.restarts) == (400, 79, 2)
    assert evidence.agreed == sum(evidence.origins.values()) >= 1
    assert evidence.origins["screen"] == 1
    assert all(margin.above < 1.5 for margin in evidence.margins.values())
    assert str(evidence).startswith("accuracy: 100 % (400 distinct rows)\nheld-out accuracy: 100 % (79 rows)\n")
    assert "from the screen" in str(evidence)
    assert (fitted.predict(orders.drop(columns="shipped")) == orders["shipped"]).all()
    assert len(fitted.members_) == 2


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
    again = clone(fitted).fit(x, orders["shipped"])
    assert again.evidence_ == fitted.evidence_
    assert np.array_equal(
        again.set_params(use="model").predict_proba(x),
        pickle.loads(pickle.dumps(fitted)).set_params(use="model").predict_proba(x),
    )
    assert fitted.use == "auto"


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
    assert model.rule_ == "-1 if a < b, else 0 if a == b, else 1"
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
    assert model.set_params(use="model").score(pd.DataFrame(table.columns), table.y) > 0.5


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


@pytest.mark.parametrize("line", ["random", "sine", "product", "sine-class", "product-class"])
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
        ({"epochs": 2.5}, "epochs must be an integer of at least 1, got 2.5"),
        ({"errors": 0.5}, "errors must be at least 0 and less than 0.5, got 0.5"),
        ({"use": "both"}, "use must be one of auto, program, model, got 'both'"),
    ]:
        with pytest.raises(ValueError, match=f"^{text}$"):
            NSRClassifier(**settings).fit(x, y)
    with pytest.raises(ValueError, match="one class: 'a'"):
        NSRClassifier().fit(x, ["a"] * 10)


@pytest.mark.parametrize("kind", ["bool", "uint8", "uint32", "uint64", "int16", "float16", "float32", "longdouble"])
def test_columns_of_every_dtype_are_predicted_as_they_were_learned(kind):
    x = np.random.default_rng(0).integers(0, 2 if kind == "bool" else 100, (150, 3)).astype(kind)
    y = x[:, 0].astype(float) > x[:, 1].astype(float)
    model = NSRClassifier(restarts=2, epochs=60, random_state=0, use="model").fit(x, y)
    assert model.score(x, y) > 0.9
    assert (model.set_params(use="auto").predict(x) == y).all()


def test_integers_are_not_rounded():
    rng = np.random.default_rng(0)
    start = rng.integers(10**14, 2 * 10**14, 300)
    x = pd.DataFrame({"s": start, "a": start + rng.integers(-5, 6, 300)})
    model = NSRRegressor(**SHORT).fit(x, x.min(axis=1))
    assert str(model.program_) in (
        "where(a < s, a, s)",
        "where(a <= s, a, s)",
        "where(a > s, s, a)",
        "where(a >= s, s, a)",
    )


def test_copies_of_a_row_do_not_count_as_evidence():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(12, 4)), rng.permutation([0, 1] * 6)
        model = NSRClassifier(**SHORT).fit(np.repeat(x, 50, 0), np.repeat(y, 50))
        assert model.program_ is None
        assert NSRClassifier(**SHORT).fit(x, y, sample_weight=[100.0] * 12).program_ is None


def test_exceptions_that_follow_a_comparison_are_not_random():
    x = pd.DataFrame(np.random.default_rng(0).uniform(0, 100, (400, 3)), columns=["a", "b", "c"])
    model = NSRRegressor(**SHORT).fit(x, np.where(x["a"] > 93, x["b"] * x["c"], 0.0))
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
    assert model.rule_ == "where(x >= -12.5, where(x > 20, 20, x), -12.5)"


def test_ties_at_which_pieces_agree_are_rows_too():
    x = pd.DataFrame(np.random.default_rng(0).integers(0, 20, (600, 2)), columns=["a", "b"])
    evidence = NSRRegressor(**SHORT).fit(x, x.max(axis=1)).evidence_
    assert evidence.not_covered == ()
    assert str(evidence.margins["a and b"]) == "1 below, on it, 1 above"


def test_a_factor_is_reported_as_outside_the_language():
    x = pd.DataFrame(np.random.default_rng(1).integers(0, 60, (500, 3)), columns=["a", "b", "c"])
    model = NSRClassifier(**SHORT).fit(x, x["a"] > 1.1 * x["b"])
    assert model.program_ is None
    assert "comparisons only approximate the border, which is about b < 0.9" in model.evidence_.reason
    assert model.evidence_.nearest.startswith("True if ")
    assert f"\nnearest rule: {model.evidence_.nearest}\n" in str(model.evidence_)


def test_few_distinct_rows_are_reported():
    x = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (600, 2)), columns=["a", "b"])
    model = NSRClassifier(**SHORT).fit(x, x.all(axis=1))
    few = "no rule: too few rows to tell a rule from chance (4 distinct rows, 1 of the rarest class)"
    assert model.evidence_.reason == few
