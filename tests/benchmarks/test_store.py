from contextlib import closing

import pytest
import store as benchmark

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.summaries import summarise_groups
from nsr.paper.sweep.store import Store


@pytest.mark.outer
@pytest.mark.parametrize("distinct", [False, True])
def test_its_records_are_current_and_intact(tmp_path, distinct):
    count = benchmark.build(tmp_path, 2000, distinct)
    assert 1800 < count < 2200
    with closing(Store(tmp_path)) as store:
        assert store.verify() == (count, [])
        groups = store.groups()
    summaries = [each for name, made in groups.items() for each in summarise_groups(EXPERIMENTS[name], made)]
    assert sum(summary.seeds for summary in summaries) == count
