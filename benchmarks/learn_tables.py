"""The tables of the first edition of the battery, from ``results/learn.json``; to be removed with these records."""

from collections.abc import Iterable
from statistics import mean, median
from typing import Any

from contenders import CONTENDERS
from rich.console import Console
from rich.table import Table

Records = list[dict[str, Any]]
TITLES = {
    "greater": "a > b",
    "equal": "a = b",
    "threshold": "x >= 37.5",
    "both": "a > b and c <= d",
    "either": "a = b or c = 1",
    "three": "sign of a - b",
    "distance": "|a - b|",
    "choice": "where(a > b, e + 4, d - c)",
    "maximum": "max(a, b)",
    "gap": "a > b + 12",
    "random": "labels at random",
    "sine": "sin(a)",
    "product": "a * b",
    "sine-class": "sin(a) > median",
    "product-class": "a * b > median",
}
PARTS = {"rule": "Tables with a rule", "flipped": "The same with 5 % of the labels flipped"}


def print_tables(records: Records, console: Console) -> None:
    """One table for each part, then what was left out and what failed."""
    for part, title in PARTS.items():
        if any(record["part"] == part for record in records):
            console.print(_side_by_side(records, part, title))
    if any(record["part"] == "no rule" for record in records):
        console.print(_claims(records))
    for what in ("left_out", "error"):
        texts = [f"{record['contender']}: {record[what]}" for record in records if record[what]]
        for text in dict.fromkeys(texts):
            console.print(f"{what.replace('_', ' ')}, {texts.count(text)} tables: {text}", markup=False)


def markdown(records: Records) -> str:
    """For the README: how often each rule was read back, the rows that are right, and what each contender costs."""
    names = _contenders(records)
    rules = [r for r in records if r["part"] == "rule"]
    lines = [
        _row("rule", "read back", "labels flipped", *(f"{CONTENDERS[name].title}, near / far" for name in names)),
        _row(*["---"] * (3 + len(names))),
    ]
    for line in _lines(rules):
        own = [[r for r in rules if r["line"] == line and r["contender"] == name] for name in names]
        pairs = (f"{_percent(each, 'near')} / {_percent(each, 'far')}" for each in own)
        ours = [r for r in records if r["line"] == line and r["contender"] == "nsr"]
        exact = (_exact([r for r in ours if r["part"] == part], "either") for part in PARTS)
        lines.append(_row(f"`{TITLES[line]}`".replace("|", "\\|"), *exact, *pairs))
    lines += ["", _row("", "size", "seconds a table"), _row("---", "---:", "---:")]
    for name in names:
        own = [r for r in rules if r["contender"] == name]
        size = f"{_median(own, 'size', ',.0f')} {CONTENDERS[name].unit}"
        lines.append(_row(CONTENDERS[name].title, size, _median(own, "seconds", ".2f")))
    ruleless = [r for r in records if r["part"] == "no rule"]
    if ruleless:
        lines += ["", _row("no rule", "tables", "claim one"), _row("---", "---:", "---:")]
    for line in _lines(ruleless):
        own = [r for r in ruleless if r["line"] == line]
        lines.append(_row(f"`{TITLES[line]}`", str(len(own)), str(sum(bool(r["claims"]) for r in own))))
    return "\n".join(lines)


def _side_by_side(records: Records, part: str, title: str) -> Table:
    heads = ("tables", "near, %", "far, %", "far, balanced", "size", "seconds", "canonical", "same")
    table = Table(title=title, title_justify="left", box=None)
    for head in ("", ""):
        table.add_column(head, no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right")
    chosen = [r for r in records if r["part"] == part]
    for line in _lines(chosen):
        for name in _contenders(chosen):
            own = [r for r in chosen if r["line"] == line and r["contender"] == name]
            table.add_row(
                TITLES[line] if name == _contenders(chosen)[0] else "",
                CONTENDERS[name].title,
                str(sum(r["near"] is not None for r in own)),
                _percent(own, "near"),
                _percent(own, "far"),
                _percent(own, "far_balanced"),
                _median(own, "size", ",.0f"),
                _median(own, "seconds", ".2f"),
                _exact(own, "canonical") if name == "nsr" else "",
                _exact(own, "same") if name == "nsr" else "",
            )
        table.add_section()
    return table


def _claims(records: Records) -> Table:
    chosen = [r for r in records if r["part"] == "no rule"]
    table = Table("", "tables", "claim a program", "seconds", title="No rule", title_justify="left", box=None)
    for line in _lines(chosen):
        own = [r for r in chosen if r["line"] == line]
        claims = [r for r in own if r["claims"]]
        table.add_row(TITLES[line], str(len(own)), str(len(claims)), _median(own, "seconds", ".2f"))
        for record in claims[:3]:
            table.add_row("", "", f"for example {record['rule'][:60]}")
    return table


def _lines(records: Records) -> list[str]:
    there = {record["line"] for record in records}
    return [line for line in TITLES if line in there]


def _contenders(records: Records) -> list[str]:
    there = {record["contender"] for record in records}
    return [name for name in CONTENDERS if name in there]


def _numbers(records: Iterable[dict[str, Any]], what: str) -> list[float]:
    return [record[what] for record in records if record[what] is not None]


def _percent(records: Records, what: str) -> str:
    """The mean over the tables, rounded down: 100 is for all rows of all tables."""
    numbers = _numbers(records, what)
    if not numbers:
        return "-"
    return "100" if min(numbers) == 1 else f"{int(mean(numbers) * 1000) / 10:.1f}"


def _median(records: Records, what: str, form: str) -> str:
    numbers = _numbers(records, what)
    return format(median(numbers), form) if numbers else "-"


def _exact(records: Records, what: str) -> str:
    """How many of the tables were read back: by canonical form, by what is said on all rows, or by either."""
    if not records:
        return "-"
    ways = ("canonical", "same") if what == "either" else (what,)
    return f"{sum(any(r[way] for way in ways) for r in records)} of {len(records)}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
