"""Loops as programs: run, printed, emitted, and read from trained recurrent modules."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
import torch

from nsr import MLP, NSR, Ensemble, Recipe, fit, harden
from nsr.data import Rows, random_lists
from nsr.errors import InputError
from nsr.nn import RecurrentCount, RecurrentMinimum
from nsr.program import Compare, Constant, Variable, Where
from nsr.program.folds import FIRST, ITEM, Fold
from nsr.reading import UnreadableError
from tests.reading.samples import written

BEST, COUNT = Variable("best"), Variable("count")
MINIMUM = Fold("best", FIRST, Where(Compare("<", ITEM, BEST), ITEM, BEST))
COUNTING = Fold("count", Constant(0), Where(Compare("=", ITEM, FIRST), COUNT + 1, COUNT))
COMPILER = shutil.which("gcc") or shutil.which("cc")


def counted(items: list) -> int:
    return items[1:].count(items[0])


def test_they_read_like_python():
    assert str(MINIMUM) == "best = first\nfor x in rest:\n    best = x if best > x else best"
    assert str(COUNTING) == "count = 0\nfor x in rest:\n    count = count + 1 if first == x else count"


def test_on_lists_of_python_numbers_of_any_size():
    generator = np.random.default_rng(0)
    big = [10**100 + int(value) for value in generator.integers(-3, 4, 500)]
    assert MINIMUM(big) == min(big)
    assert COUNTING(big) == counted(big)
    assert MINIMUM([7]) == 7
    assert COUNTING([7]) == 0


def test_on_arrays_and_tensors_of_lists_with_lengths():
    lists = np.random.default_rng(1).integers(-5, 6, (40, 12)) + 10**12
    lengths = np.random.default_rng(2).integers(1, 13, 40)
    assert (MINIMUM(lists) == lists.min(-1)).all()
    assert MINIMUM(lists, lengths).tolist() == [min(items[:n]) for items, n in zip(lists, lengths, strict=True)]
    tensors = torch.as_tensor(lists)
    assert COUNTING(tensors, torch.as_tensor(lengths)).tolist() == [
        counted(items[:n]) for items, n in zip(lists.tolist(), lengths, strict=True)
    ]
    assert MINIMUM(tensors.double()).dtype == torch.float64


@pytest.mark.parametrize(("fold", "oracle"), [(MINIMUM, min), (COUNTING, counted)])
def test_the_emitted_python_on_a_long_list(fold, oracle):
    scope = {}
    exec(fold.emit("python", name="read"), scope)
    for span in (10, 10**12):
        items = [int(value) for value in np.random.default_rng(span).integers(-span, span, 100_000)]
        assert scope["read"](items) == oracle(items)
    assert scope["read"]([10**100, 10**100 - 1, 10**100]) == oracle([10**100, 10**100 - 1, 10**100])


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_the_emitted_c_on_a_long_list(tmp_path):
    source = tmp_path / "loops.c"
    source.write_text(MINIMUM.emit("c", name="least") + COUNTING.emit("c", name="counted"))
    subprocess.run(
        [COMPILER, "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC", "-o", tmp_path / "l.so", source], check=True
    )
    library = ctypes.CDLL(str(tmp_path / "l.so"))
    for suffix, kind, dtype in (("", ctypes.c_double, np.float64), ("_int64", ctypes.c_int64, np.int64)):
        items = (np.random.default_rng(3).integers(-50, 50, 100_000) + 2**52).astype(dtype)
        for name, oracle in (("least", min), ("counted", counted)):
            function = getattr(library, name + suffix)
            function.restype, function.argtypes = kind, [ctypes.POINTER(kind), ctypes.c_size_t]
            assert function(items.ctypes.data_as(ctypes.POINTER(kind)), len(items)) == oracle(items.tolist())


@pytest.mark.outer
@pytest.mark.parametrize(
    ("loop", "kind", "epochs"), [("minimum", RecurrentMinimum, 200), ("count", RecurrentCount, 600)]
)
def test_trained_loops_are_read_correctly(loop, kind, epochs):
    rows = [random_lists(loop, np.random.default_rng((seed, 0))) for seed in range(4)]
    ensemble = Ensemble(lambda generator: kind(NSR(2, generator=generator)), range(4))
    recipe = Recipe(name="short", loss="mae", epochs=epochs, learning_rate=0.02)
    fit(ensemble, Rows.each(rows), recipe, engine="eager")
    read = []
    for seed in range(4):
        try:
            read.append(harden(ensemble.member(seed), data=rows[seed]))
        except UnreadableError as error:
            read.append(str(error))
    expected = MINIMUM if loop == "minimum" else COUNTING
    assert read.count(expected) >= 3
    assert next(fold for fold in read if fold == expected).evidence.agreement == 1


def test_a_loop_that_the_lists_contradict_is_an_error_with_examples():
    rows = random_lists("minimum", np.random.default_rng(0))
    with pytest.raises(UnreadableError, match=r"lists contradict the nearest loop") as error:
        harden(RecurrentMinimum(written(2, (0, ">", 1, 0.0))), data=rows)
    assert "best = x if best <= x else best" in str(error.value) or "best > x" in str(error.value)
    assert len(error.value.rows) > 400
    with pytest.raises(UnreadableError, match="^only a module with an NSR can be read"):
        harden(RecurrentMinimum(MLP(2)), data=rows)
    assert harden(RecurrentMinimum(written(2, (0, "<=", 1, 0.0), scale=5.0))) == MINIMUM


def test_errors_for_wrong_loops():
    with pytest.raises(ValueError, match=r"^the state cannot be named 'x', which is the name of an element"):
        Fold("x", FIRST, ITEM)
    with pytest.raises(ValueError, match=r"^step must be a number that uses only best, first, x, got y$"):
        Fold("best", FIRST, Variable("y"))
    with pytest.raises(ValueError, match=r"^a list must have at least one element, got none$"):
        MINIMUM([])
    with pytest.raises(ValueError, match=r"^a list must have at least one element, got shape \(3, 0\)$"):
        MINIMUM(np.zeros((3, 0)))
    with pytest.raises(ValueError, match="holds NaN"):
        MINIMUM([1.0, float("nan")])
    with pytest.raises(InputError, match=r"^unknown target of a loop 'sql': choose from python, c"):
        MINIMUM.emit("sql")


def test_errors_for_wrong_lists():
    lists = np.ones((2, 3))
    with pytest.raises(ValueError, match=r"^lengths must be from 1 to 3, got 0$"):
        MINIMUM(lists, np.array([0, 2]))
    with pytest.raises(ValueError, match=r"^lengths must be integers of shape \(2,\), got int64 of shape \(3,\)$"):
        MINIMUM(lists, np.array([1, 2, 3]))
    with pytest.raises(ValueError, match=r"^a list must hold numbers, got None$"):
        MINIMUM(None)
    with pytest.raises(ValueError, match=r"^'x' holds NaN in 1 row"):
        MINIMUM([1.0, float("nan")])
    with pytest.raises(ValueError, match=r"^a list must hold numbers, got \[1, 2\]: pass several lists as the rows"):
        MINIMUM([[1, 2], [0, 5]])
    with pytest.raises(ValueError, match=r"^lengths apply to arrays and tensors of lists"):
        MINIMUM([3, 1, 2], lengths=1)
    for state in ("*/ int evil; /*", "for", 5):
        with pytest.raises(ValueError, match=r"^the name of the state must be a Python identifier, got "):
            Fold(state, FIRST, ITEM)


def test_lengths_of_any_kind():
    lists = np.array([[3, 1, 0], [2, 1, 5]])
    assert MINIMUM(lists, [2, 1]).tolist() == [1, 2]
    assert MINIMUM(torch.as_tensor(lists), np.array([2, 1])).tolist() == [1, 2]


@pytest.mark.parametrize("name", ["x", "first", "best", "count"])
def test_a_function_may_have_the_name_of_a_part_of_the_loop(name):
    for fold in (MINIMUM, COUNTING):
        namespace = {}
        exec(fold.emit("python", name=name), namespace)
        assert namespace[name]([3, 1, 3, 2]) == fold([3, 1, 3, 2])
        assert f"const double {name} =" not in fold.emit("c", name=name)
