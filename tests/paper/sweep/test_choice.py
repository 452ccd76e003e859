import builtins
import contextlib
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from nsr.errors import InputError
from nsr.paper.sweep import executors
from nsr.paper.sweep.choice import choose_executor
from nsr.paper.sweep.cluster_config import ClusterConfig

MINE = """
from concurrent.futures import ThreadPoolExecutor
def threads(workers): return ThreadPoolExecutor(workers)
def one_thread(): return ThreadPoolExecutor(1)
def text(workers): return "executor"
def fails(workers): raise KeyError("x" * 5000)
number = 3
def takes_ctrl_c(workers):
    import signal
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return ThreadPoolExecutor(workers)
"""


def make(name: str, workers: int = 2):
    return choose_executor(ClusterConfig(executor=name))(workers)


@pytest.fixture(autouse=True)
def _module(tmp_path, monkeypatch):
    (tmp_path / "mine_for_tests.py").write_text(MINE)
    (tmp_path / "broken_for_tests.py").write_text("f(")
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("mine_for_tests", None)


def test_local_is_the_default():
    assert choose_executor(ClusterConfig()) is executors.local


@pytest.mark.parametrize(
    ("name", "workers"),
    [
        ("concurrent.futures:ThreadPoolExecutor", 2),
        ("mine_for_tests:threads", 2),
        ("mine_for_tests:one_thread", 1),
    ],
)
def test_any_callable_that_returns_an_executor_will_do(name, workers):
    with make(name) as pool:
        assert isinstance(pool, ThreadPoolExecutor)
        assert pool._max_workers == workers


def test_an_executor_cannot_take_ctrl_c_away():
    before = signal.getsignal(signal.SIGINT)
    make("mine_for_tests:takes_ctrl_c").shutdown()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("name", ["mine_for_tests:threads", "nowhere:f"])
def test_the_current_folder_is_searched_first_and_only_meanwhile(name, tmp_path, monkeypatch):
    before, searched = list(sys.path), []

    def resolve(_):
        searched.extend(sys.path)
        raise ImportError(name)

    with contextlib.suppress(InputError):
        make(name).shutdown()
    assert sys.path == before
    monkeypatch.setattr("nsr.paper.sweep.choice.resolve_name", resolve)
    with pytest.raises(InputError):
        make(name)
    assert searched == [str(tmp_path), *before]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dsk", "^unknown executor 'dsk': choose from local, dask, slurm, MODULE:FUNCTION; did you mean 'dask'"),
        ("nowhere.at_all:f", "^executor 'nowhere.at_all:f' cannot be imported: No module named 'nowhere'"),
        ("mine_for_tests:f", "^executor 'mine_for_tests:f' cannot be imported: .* has no attribute 'f'"),
        (":f", "^executor ':f' cannot be imported"),
        ("mine_for_tests:number", "is not a function that returns a concurrent.futures.Executor$"),
        ("mine_for_tests:fails", "^mine_for_tests:fails made no executor: KeyError: 'x{199}...$"),
        ("json:loads", "^json:loads made no executor: TypeError: the JSON object must be str"),
        ("broken_for_tests:f", "^executor 'broken_for_tests:f' cannot be imported: SyntaxError: "),
        ("nowhere:" + "f" * 5000, "^executor 'nowhere:f{191}... cannot be imported: No module named 'nowhere'$"),
        ("f" * 5000, "^unknown executor 'f{199}...: choose from local, dask, slurm, MODULE:FUNCTION$"),
        ("mine_for_tests:text", "^mine_for_tests:text returned str, which is not a concurrent.futures.Executor$"),
    ],
)
def test_what_is_wrong_is_a_sentence(name, text):
    with pytest.raises(InputError, match=text):
        make(name)


@pytest.mark.parametrize(("name", "missing"), [("dask", "distributed"), ("slurm", "dask_jobqueue")])
def test_a_missing_package_is_a_sentence_that_names_the_extra(name, missing, monkeypatch):
    original = builtins.__import__

    def without(module, *rest):
        if module.split(".")[0] == missing:
            raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)
        return original(module, *rest)

    for loaded in ("nsr.paper.sweep.dask", "nsr.paper.sweep.slurm"):
        monkeypatch.delitem(sys.modules, loaded, raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=rf"^this needs {missing}: .*neural-status-registers\[cluster\]"):
        make(name)
