from concurrent.futures import ThreadPoolExecutor

import pytest

from nsr.progress import Quiet
from nsr.refusals import InputError
from nsr.workflows import reproduce, select


class Watch(Quiet):
    def __init__(self) -> None:
        self.planned_items, self.finished_items, self.closed = 0, 0, False

    def planned(self, items) -> None:
        self.planned_items = len(items)

    def finished(self, item, records) -> None:  # noqa: ARG002
        self.finished_items += 1

    def close(self) -> None:
        self.closed = True


def test_reproduce_runs_what_is_asked_and_tells_of_it():
    watch = Watch()
    result = reproduce(
        ["comparisons"],
        profile="smoke",
        recipe="both",
        seeds=3,
        only={"model": ["nsr"], "comparison": [">", "="]},
        executor=ThreadPoolExecutor(1),
        watch=watch,
    )
    ((experiment, summaries),) = result.experiments()
    assert experiment.name == "comparisons"
    assert [(s.recipe, s.cell.comparison, s.seeds) for s in summaries] == [
        ("paper", ">", 3),
        ("paper", "=", 3),
        ("exact", ">", 3),
        ("exact", "=", 3),
    ]
    assert (watch.planned_items, watch.finished_items, watch.closed) == (4, 4, True)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"names": ["comparison"]},
            "unknown experiment 'comparison': choose from comparisons; did you mean 'comparisons'?",
        ),
        ({"profile": "papre"}, "unknown profile 'papre': choose from smoke, quick, paper; did you mean 'paper'?"),
        ({"recipe": "exakt"}, "unknown recipe 'exakt': choose from paper, exact, both; did you mean 'exact'?"),
        ({"seeds": 0}, "seeds must be at least 1, got 0"),
        ({"workers": 0}, "workers must be at least 1, got 0"),
        (
            {"only": {"comparison": ["=="]}},
            "unknown comparison '==': choose from >, <, >=, <=, =, !=; did you mean '='?",
        ),
        ({"only": {"model": ["nrs"]}}, "unknown model 'nrs': choose from mlp, nsr; did you mean 'nsr'?"),
    ],
)
def test_wrong_requests_are_refused_before_anything_runs(arguments, text):
    with pytest.raises(InputError) as refusal:
        reproduce(**arguments)
    assert str(refusal.value) == text


def test_select_keeps_everything_by_default():
    assert select((), {}) == []
