"""Benchmarks on any executor: every call has its result or its error, and a lost worker is a retry."""

import argparse
from concurrent.futures import Executor, Future
from pathlib import Path

import attack
import pytest
import spread
from attack import Outcome

from nsr.paper.sweep.cluster_config import ClusterConfig
from nsr.paper.sweep.worker import LostWorkerError

TRIES: list[int] = []


class Losing(Executor):
    def submit(self, function, /, *arguments):
        future: Future = Future()
        TRIES.append(arguments[0])
        if arguments[0] == 9 or (arguments[0] == 7 and TRIES.count(7) < 3):
            future.set_exception(LostWorkerError("lost", blamed=True))
        else:
            try:
                future.set_result(function(*arguments))
            except Exception as error:
                future.set_exception(error)
        return future


def losing() -> Executor:
    TRIES.clear()
    return Losing()


HERE = ClusterConfig(executor=f"{__name__}:losing")


def test_every_call_has_its_result_or_its_error_and_lost_workers_are_retries():
    answers = dict(spread.spread(HERE, 2, divmod, [(6, 3), (7, 7), (8, 0), (9, 3)]))
    assert (answers[6, 3], answers[7, 7]) == ((2, 0), (1, 0))
    assert isinstance(answers[8, 0], ZeroDivisionError)
    assert isinstance(answers[9, 3], LostWorkerError)
    assert (TRIES.count(7), TRIES.count(8), TRIES.count(9)) == (3, 1, 3)


@pytest.mark.parametrize(
    ("words", "expected"), [([], None), (["--executor", "dask"], "dask"), (["--scheduler", "tcp://a:1"], "dask")]
)
def test_the_options_choose_where_to_run(words, expected):
    parser = argparse.ArgumentParser()
    spread.add_options(parser)
    config = spread.config_of(parser.parse_args(words), longest=7.0)
    assert (config and config.executor) == expected
    assert config is None or config.hang == 7.0


def test_an_attack_elsewhere_counts_as_one_here(monkeypatch):
    def run_share(script: str, share, seed: int):
        assert (Path(script).name, seed) == ("attack.py", 3)
        return [[name, number, "refused" if number % 2 else "loaded", ""] for name, number in share]

    monkeypatch.setattr(attack, "run_share", run_share)
    config = ClusterConfig(executor="concurrent.futures:ThreadPoolExecutor")
    seen: list[Outcome] = []
    jobs = [("store", number) for number in range(250)]
    tally = attack.attack_elsewhere(config, jobs, seed=3, workers=2, on_outcome=seen.append)
    assert tally.counts == {"store": {"refused": 125, "loaded": 125}}
    assert sorted(outcome.number for outcome in seen) == list(range(250))
