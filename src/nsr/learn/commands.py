"""One function per command: ``nsr learn`` and ``nsr apply``. Read this first."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from nsr.errors import InputError, at_least, one_of
from nsr.learn import result as learning
from nsr.learn import tables
from nsr.learn.result import Learned
from nsr.learn.saved import load_saved
from nsr.program.emit import TARGETS

KINDS = ("auto", "class", "number")


def learn(
    path: Path,
    target: str,
    *,
    columns: Sequence[str] = (),
    kind: str = "auto",
    errors: float = 0.1,
    restarts: int = 8,
    seed: int = 0,
    drop_missing: bool = False,
    tell: Callable[[str], None] = lambda _: None,
    watch: Callable[[str, float], None] = lambda *_: None,
) -> Learned:
    """Look for the exact rule by which a column of a table follows from the others.

    Args:
        path: A CSV, TSV or Parquet file. Of a large one a sample is learned from; a rule is verified on all rows.
        target: The column.
        columns: The columns to learn from; all that hold numbers by default.
        kind: Whether the target is a ``class`` or a ``number``; by default as it looks.
        errors: Which share of the rows may contradict a rule, as long as they look like chance.
        restarts: How many models are trained.
        seed: Fixes everything that is drawn.
        drop_missing: Leave out rows in which a value is missing, instead of refusing them.
        tell: Told what was seen.
        watch: Told what is being done, and which share of it is.
    """
    one_of("kind", kind, KINDS)
    at_least(1, "restarts", restarts)
    if not 0 <= errors < 0.5:
        raise InputError(f"errors must be a share from 0 to below 0.5, got {errors}")
    began = time.perf_counter()
    table = tables.read(path, seed=seed, watch=partial(watch, "reading"))
    some = tables.prepare(table, target, drop_missing=drop_missing, only=columns)
    sampled = "" if table.complete else f", of which a sample of {len(some.features):,} is learned from"
    tell(f"{path.name}: {table.rows:,} rows{sampled}, {len(some.features.columns)} columns to learn {target!r} from")
    if some.dropped:
        tell(f"{some.dropped:,} rows are left out, since a value is missing")
    for name, reason in some.left_out:
        tell(f"column {name!r} is left out: {reason}")
    settings = {"errors": errors, "restarts": restarts, "random_state": seed}
    told = partial(watch, "verifying")
    parts = partial(tables.chunks, table, target=target, drop_missing=drop_missing, watch=told)
    found = partial(
        learning.found, parts=parts, kind=kind, settings=settings, tell=tell, watch=partial(watch, "learning")
    )
    estimator, verified = found(some.features, some.target)
    if not table.complete and verified is not None and verified.wrong and estimator.evidence_.agreement == 1:
        tell(f"{verified.wrong:,} rows of the table contradict what the sample says: learning again with them")
        again = found(*learning.joined(some.features, some.target, verified.some))
        if again[1] is not None and again[1].wrong < verified.wrong:
            estimator, verified = again
    return learning.Learned(
        source=path.name,
        target=target,
        rows=table.rows,
        dropped=some.dropped,
        left_out=some.left_out,
        x=some.features,
        y=some.target,
        estimator=estimator,
        verified=verified,
        seconds=time.perf_counter() - began,
    )


def check_target(name: str) -> None:
    """Refuse a language that rules cannot be written in."""
    one_of("language", name, [target for target in TARGETS if target != "onnx"])


def apply(path: Path, table: Path, *, drop_missing: bool = False) -> Iterator[pd.DataFrame]:
    """What a saved rule or model says of the rows of a table, part by part: a table of the target alone."""
    rule = load_saved(path)
    for part in tables.chunks(tables.read(table, rows=1), rule.inputs, drop_missing=drop_missing):
        yield pd.DataFrame({rule.target: rule(part)}, index=part.index)
