"""The page of ``nsr learn``: the rule, the evidence for it, and the rows, in one self-contained HTML file."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nsr.errors import InputError
from nsr.html.page import write_html
from nsr.html.vega import bundle, embedded
from nsr.learn.evidence import MOST_MARGINS, listed, percent
from nsr.learn.page.borders import classes_of
from nsr.learn.page.charts import learned_charts
from nsr.learn.page.trees import LEVELS, tree_of
from nsr.learn.result import SAME, Learned
from nsr.learn.tables import plural
from nsr.program.emit.exactness import InexactWarning
from nsr.program.expressions import Expression, Linear, Variable
from nsr.reading.logic import comparisons

MOST_ROWS = 20
"""How many of the rows that contradict a rule are shown."""
LANGUAGES = {"python": "Python", "sql": "SQL"}


def write_page(path: Path, learned: Learned) -> None:
    """Write the page of a learned rule."""
    evidence, program = learned.estimator.evidence_, learned.program
    charts = [embedded(*chart) for chart in learned_charts(learned)]
    write_html(
        path,
        "nsr.learn.page",
        "learned.html.j2",
        learned=learned,
        classes=classes_of(learned),
        columns=[str(name) for name in learned.table.columns if name not in dict(learned.left_out)],
        rule=learned.rule,
        same=SAME,
        model_predicts=program is None and learned.estimator.use != "program",
        model_held_out=None if evidence.model_held_out is None else percent(evidence.model_held_out),
        evidence=evidence,
        agreement=percent(evidence.agreement),
        held_out=None if evidence.held_out is None else percent(evidence.held_out),
        margins=list(evidence.margins.items())[:MOST_MARGINS],
        not_covered=listed(evidence.not_covered),
        inputs=[] if program is None else program.inputs,
        contradicting=[] if program is None else list(_contradicting(learned, program.inputs)),
        script=bundle() if charts else None,
        charts=charts,
        mean_error=_mean_error(learned),
        levels=LEVELS,
        **_tree(learned),
        codes=[] if program is None else [_code(learned, language) for language in LANGUAGES],
        class_codes=learned.class_codes,
    )


def _mean_error(learned: Learned) -> float | None:
    """The mean absolute error of a rule for a number."""
    program = learned.program
    if program is None or classes_of(learned) is not None:
        return None
    return float(np.abs(np.asarray(program(learned.table)).astype(np.float64) - np.asarray(learned.y)).mean())


def _contradicting(learned: Learned, inputs: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The first rows that contradict the rule."""
    assert learned.verified is not None
    examples = learned.verified.examples[:MOST_ROWS]
    for at, (row, predicted) in enumerate(zip(examples.index, learned.verified.predicted, strict=False)):
        yield {
            "row": f"{row:,}",
            "values": [_format(examples[name].iloc[at]) for name in inputs],
            "target": _format(examples[learned.target].iloc[at]),
            "predicted": _format(predicted),
        }


def _tree(learned: Learned) -> dict[str, Any]:
    program, tree = learned.program, tree_of(learned)
    return {
        "size": None if program is None else _size(program.expression),
        "tree": tree,
        "tree_accuracy": None if tree is None or tree.accuracy is None else percent(tree.accuracy),
    }


def _size(expression: Expression) -> str:
    """How large a rule is, in words."""
    if count := comparisons(expression):
        return plural(count, "comparison")
    return "one sum" if isinstance(expression, Variable | Linear) else plural(expression.size, "node")


def _code(learned: Learned, language: str) -> dict[str, Any]:
    """The rule in a language, with notes on what the language cannot express exactly."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InexactWarning)
        try:
            text = learned.emit(language)
        except InputError as problem:
            return {"language": LANGUAGES[language], "text": None, "notes": [str(problem)]}
    return {
        "language": LANGUAGES[language],
        "text": text.rstrip(),
        "notes": [str(warning.message) for warning in caught],
    }


def _format(value: Any) -> str:
    """A value as text, without the rounding noise of floats."""
    value = value.item() if isinstance(value, np.generic) else value
    return f"{value:.10g}" if isinstance(value, float) else str(value)
