"""Whether a rule that was read from a table is the true one: on fresh rows, and by proof.

A border case that no row of the table shows, and that the evidence names, is exempt. Decimals are compared as the
decimals that they stand for: a program on floats gives another answer for 0.1 + 0.2 > 0.3.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from rule_tables import FLOAT, Scale

from nsr.errors import InputError
from nsr.program import Compare, Program

TIME_LIMIT = 10.0
"""Seconds for each proof."""
TOLERANCE = 1e-6
"""A number is right within this share of its size."""
FALSE_CLAIM = 0.01
"""A rule claimed for a table without one is false if it is wrong on more than this share of fresh rows."""

PROVED, DIFFER, UNDECIDED, NOT_TRIED = "proved", "differ", "undecided", "not tried"


@dataclass(frozen=True)
class ReadBack:
    """What became of a rule that was read."""

    rows_equal: bool
    """Whether it gives the true answers on all fresh rows, but for exempt ones."""
    proof: str
    """``proved``, ``differ``, ``undecided`` within the time, or ``not tried`` (plain floats, or rows that differ)."""
    exempt: tuple[str, ...] = ()
    """Border cases that no row of the table shows, of those that the evidence names."""
    counterexample: str | None = None

    @property
    def ok(self) -> bool:
        """Equal on all fresh rows, and not disproved."""
        return self.rows_equal and self.proof != DIFFER


def read_back(program: Program, not_covered: Sequence[str], table: Any, fresh: Sequence[Any]) -> ReadBack:
    """Compare a program with the rule of a table.

    Args:
        program: What was read.
        not_covered: The cases that its evidence names.
        table: The ``RuleTable`` that it was read from.
        fresh: Tables of fresh rows.
    """
    exempt = [tie for tie in ties(not_covered) if not np.any(tie(table.columns))]
    for rows in fresh:
        if (row := first_difference(program, rows, exempt)) is not None:
            shown = ", ".join(f"{name} = {float(value):g}" for name, value in rows.exact_row(row).items())
            return ReadBack(False, NOT_TRIED, tuple(map(str, exempt)), shown)
    proof, counterexample = prove(program, table, exempt)
    return ReadBack(True, proof, tuple(map(str, exempt)), counterexample)


def names_the_truth(pairs: Sequence[str], table: Any, fresh: Sequence[Any]) -> bool:
    """Whether the second comparison of a pair, alone, is the rule of a table.

    A rule that is wrong where another is named that is right is still wrong; this is reported beside it.
    """
    others = (Program.parse(pair.split(" and ")[1], list(table.columns)) for pair in pairs)
    return any(read_back(other, (), table, fresh).ok for other in others)


def ties(texts: Sequence[str]) -> list[Program]:
    """Those cases that are equations."""
    found = []
    for text in texts:
        try:
            program = Program.parse(text)
        except InputError:
            continue
        if isinstance(program.expression, Compare) and program.expression.operator == "=":
            found.append(program)
    return found


def first_difference(program: Program, rows: Any, exempt: Sequence[Program]) -> int | None:
    """A row where the program is wrong and that is not exempt. Rows that floats get wrong are computed exactly."""
    for row in np.flatnonzero(~right(program(rows.columns), rows)).tolist():
        values = _exact_values(rows, row)
        if any(tie(values) for tie in exempt):
            continue
        answer, true = program(values), rows.exact_answer(row)
        if abs(answer - true) > TOLERANCE * abs(true):
            return int(row)
    return None


def _exact_values(rows: Any, row: int) -> dict[str, Any]:
    """All columns of a row; those that matter as the decimals they stand for, others as the floats they are."""
    return {name: Fraction(column[row].item()) for name, column in rows.columns.items()} | rows.exact_row(row)


def prove(program: Program, table: Any, exempt: Sequence[Program]) -> tuple[str, str | None]:
    """Whether z3 proves that a program is the rule of a table, for all numbers with the digits of its columns."""
    scales = {name: column.scale for name, column in table.plan.columns.items()}
    if any(scale.per == FLOAT for scale in scales.values()):
        return NOT_TRIED, None
    try:
        one, other = (_in_steps(text, scales) for text in (str(program), table.rule))
        excepted = [_in_steps(str(tie), scales) for tie in exempt]
        verdict = _except(one, excepted).equivalent(_except(other, excepted), over="integers", timeout=TIME_LIMIT)
    except (InputError, ValueError) as error:
        return UNDECIDED, f"{type(error).__name__}: {error}"
    if verdict.equal is None:
        return UNDECIDED, None
    return (PROVED, None) if verdict else (DIFFER, f"in steps, {verdict}")


def _in_steps(text: str, scales: Mapping[str, Scale]) -> Program:
    """A program over the integer steps of columns, from one over their values."""
    for name, scale in scales.items():
        if scale != Scale():
            text = re.sub(rf"\b{name}\b", f"({name}*{scale.unit}/{scale.per})", text)
    return Program.parse(text)


def _except(program: Program, exempt: Sequence[Program]) -> Program:
    """A program with the same answer in all exempt cases."""
    for tie in exempt:
        text = f"({program}) and not ({tie})" if program.expression.is_boolean else f"where({tie}, 0, {program})"
        program = Program.parse(text)
    return program


def right(answers: Any, rows: Any) -> np.ndarray:
    """Which rows are answered rightly."""
    answers = np.broadcast_to(np.asarray(answers), rows.y.shape)
    if rows.classification:
        return np.asarray(answers == rows.y)
    return np.isclose(answers.astype(np.float64), rows.y, rtol=TOLERANCE, atol=1e-9 * float(np.abs(rows.y).max()))
