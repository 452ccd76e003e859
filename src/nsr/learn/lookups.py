"""Classes that the texts of one column decide: a warehouse for each country."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from nsr.learn.rules import Reader, Rule
from nsr.program.conditions import OneOf
from nsr.program.expressions import Compare, Constant, Expression, Variable, Where
from nsr.reading.atoms import Atom, Weights
from nsr.reading.columns import Columns

PURE = 0.8
"""At least this share of the rows with certain texts must be of one class: others may have wrong labels."""


def read_lookup(reader: Reader, origin: str) -> Rule | None:
    """The rule with the shortest description that asks one column for its texts, class by class; None without one."""
    if reader.rows.n_classes <= 2:
        return None
    by_column = defaultdict(list)
    for name, (column, _) in _asked(reader.rows.columns).items():
        by_column[column].append(name)
    rules = (_rule(reader, names, origin) for names in by_column.values())
    return min((rule for rule in rules if rule is not None), key=lambda rule: rule.nats, default=None)


def shorter_conditions(columns: Columns, atom: Atom) -> list[Weights]:
    """Of a condition on the texts of a column, others of the same column that name fewer texts."""
    asked = _asked(columns)
    own = asked.get(atom.columns[0])
    if own is None:
        return []
    shorter = (name for name, (column, texts) in asked.items() if column == own[0] and len(texts) < len(own[1]))
    return [Atom.difference(name).weights for name in shorter]


def without_overlaps(columns: Columns, atoms: Sequence[Atom]) -> list[Atom]:
    """Atoms with conditions on single texts in the place of those whose sets of texts overlap, where there are some."""
    asked = _asked(columns)
    single = {(column, texts[0]): name for name, (column, texts) in asked.items() if len(texts) == 1}
    own = {atom.columns[0]: asked[atom.columns[0]] for atom in atoms if atom.columns[0] in asked}
    often = Counter((column, text) for column, texts in own.values() for text in texts)
    found: list[Atom] = []
    for atom in atoms:
        column, texts = own.get(atom.columns[0], ("", ()))
        parts = [(column, text) for text in texts]
        replaced = any(often[part] > 1 for part in parts) and all(part in single for part in parts)
        found += [Atom.difference(single[part]) for part in parts] if replaced else [atom]
    return list(dict.fromkeys(found))


def _asked(columns: Columns) -> dict[str, tuple[str, tuple[str, ...]]]:
    """For each column of 0 and 1 that says whether a column has certain texts, that column and the texts."""
    derived = columns.meaning.derived
    meant = {name: derived[name] for name in columns.names if name in derived}
    return {
        name: (each.column.name, each.texts) for name, each in meant.items() if isinstance(each, OneOf) and each.holds
    }


def _rule(reader: Reader, names: Sequence[str], origin: str) -> Rule | None:
    """For each class the condition that holds for most of its rows; the class with the longest condition needs none."""
    rows = reader.rows
    at = [rows.columns.names.index(name) for name in names]
    holds = rows.columns.x[:, at].numpy() == 1
    counts = np.stack(
        [rows.weight[rows.classes == label] @ holds[rows.classes == label] for label in range(rows.n_classes)]
    )
    largest, totals = counts.max(0), counts.sum(0)
    best: dict[int, int] = {}
    for place in np.argsort(-largest, kind="stable").tolist():
        if totals[place] and largest[place] >= PURE * totals[place]:
            best.setdefault(int(counts[:, place].argmax()), place)
    if len(best) < 2:
        return None
    open_classes = sorted(set(range(rows.n_classes)) - set(best))
    texts = {label: len(str(rows.columns.meaning.derived[names[place]])) for label, place in best.items()}
    last = open_classes[0] if open_classes else max(best, key=lambda label: (texts[label], -label))
    expression: Expression = Constant(last)
    for label in sorted(best, reverse=True):
        if label != last:
            expression = Where(Compare("=", Variable(names[best[label]]), 1), Constant(label), expression)
    atoms = [Atom.difference(names[place]) for label, place in best.items() if label != last]
    return reader.scored(expression, atoms, origin)
