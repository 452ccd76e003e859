"""The records of ``learn.py`` as tables for the terminal and for docs/battery.md. Reports are functions of records."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import sqrt
from statistics import mean, median
from typing import Any

from contenders import CONTENDERS
from no_rule_tables import RULELESS
from rich.console import Console
from rich.table import Table
from rule_lines import LINES

Records = Sequence[dict[str, Any]]
TITLES = {name: line.title for name, line in {**RULELESS, **LINES}.items()}
PARTS = {"rule": "Tables with a rule", "flipped": "The same with 5 % of the labels flipped"}
Z = 1.959963984540054
"""Quantile of the normal distribution for intervals of 95 %."""


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for a share.

    >>> low, high = wilson(10, 10)
    >>> round(low, 3), high
    (0.722, 1.0)
    """
    if not 0 <= successes <= trials or trials == 0:
        raise ValueError(f"successes must be from 0 to trials, and trials more than 0, got {successes} of {trials}")
    share, square = successes / trials, Z * Z
    centre = (share + square / (2 * trials)) / (1 + square / trials)
    half = Z / (1 + square / trials) * sqrt(share * (1 - share) / trials + square / (4 * trials**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def exact(record: dict[str, Any]) -> bool:
    """Whether a rule was read back; for contenders without rules, whether all fresh rows are right."""
    if CONTENDERS[record["contender"]].has_rules:
        return bool(record["read_back"])
    return record["near"] == 1 and record["far"] == 1


def print_tables(records: Records, console: Console) -> None:
    """One table for each part, then rules that were not read back, what was left out and what failed."""
    for part, title in PARTS.items():
        chosen = [record for record in records if record["part"] == part]
        if chosen:
            console.print(_exact_table(chosen, title), "")
            console.print(_shares_table(chosen), "")
            _print_missed(chosen, console)
    without = [record for record in records if record["part"] == "no-rule"]
    if without:
        console.print(_claims_table(without), "")
        for record in without:
            if record["rule"]:
                kind = "false" if record["false_claim"] else "not false"
                text = f"{kind}: {record['line']} {record['table']}, wrong on {record['wrong']:.1%}: {record['rule']}"
                console.print(text, markup=False, soft_wrap=True)
    for what in ("left_out", "error"):
        texts = Counter(f"{record['contender']}: {record[what]}" for record in records if record[what])
        for text, count in texts.items():
            console.print(f"{what.replace('_', ' ')}, {count} tables: {text}", markup=False, soft_wrap=True)


def markdown(records: Records) -> str:
    """For docs/battery.md: how often each rule was read back, by whom; rows that are right and costs; claims."""
    ruled, flipped, without = ([r for r in records if r["part"] == part] for part in ("rule", "flipped", "no-rule"))
    names = _contenders(ruled)
    lines = [_row("rule", *(CONTENDERS[name].title for name in names), "NSR, 5 % flipped", "CPU seconds"), ""]
    lines[1] = _row("---", *["---:"] * (len(names) + 2))
    for line in _lines(ruled):
        own, noisy = _of(ruled, line=line), _of(flipped, line=line, contender="nsr")
        counts = (_count(_of(own, contender=name)) for name in names)
        seconds = _median(_of(own, contender="nsr"), "cpu_seconds", ".1f")
        lines.append(_row(f"`{TITLES[line]}`".replace("|", "\\|"), *counts, _count(noisy), seconds))
    totals = [_count(_of(ruled, contender=name)) for name in names] + [_count(_of(flipped, contender="nsr"))]
    lines.append(_row("**total**", *totals, _median(_of(ruled, contender="nsr"), "cpu_seconds", ".1f")))
    chosen = [_of(ruled, contender=name) for name in names] + [_of(flipped, contender="nsr")]
    lines.append(_row("95 % interval", *map(_interval, chosen), ""))
    heads = ("contender", "near, %", "far, %", "wrong rules", "size", "CPU seconds")
    lines += ["", _row(*heads), _row("---", *["---:"] * 5)]
    for name in names:
        own = _of(ruled, contender=name)
        size = f"{_median(own, 'size', ',.0f')} {CONTENDERS[name].unit}"
        shares = (_percent(own, what) for what in ("near", "far"))
        wrong = _wrong_rules(own, name)
        lines.append(_row(CONTENDERS[name].title, *shares, wrong, size, _median(own, "cpu_seconds", ".2f")))
    if without:
        lines += ["", _row("no rule", "tables", "claims", "false claims"), _row("---", *["---:"] * 3)]
        for line in [*_lines(without), None]:
            own = without if line is None else _of(without, line=line)
            claims, false = (sum(bool(r[what]) for r in own) for what in ("rule", "false_claim"))
            title = TITLES[line] if line else "**total**"
            lines.append(_row(title, str(len(own)), str(claims), str(false)))
    return "\n".join(lines)


def _exact_table(records: Records, title: str) -> Table:
    table = Table(title=f"{title}: read back, or all fresh rows right", title_justify="left", box=None)
    table.add_column("")
    names = _contenders(records)
    ours = [name for name in names if CONTENDERS[name].has_rules]
    for name in names:
        table.add_column(CONTENDERS[name].title, justify="right")
    for name in ours:
        table.add_column(f"seconds, {CONTENDERS[name].title}", justify="right")
    for line in [*_lines(records), None]:
        own = [
            _of(records, contender=name) if line is None else _of(records, line=line, contender=name) for name in names
        ]
        seconds = [_median(each, "seconds", ".1f") for name, each in zip(names, own, strict=True) if name in ours]
        if line is None:
            table.add_section()
        table.add_row(TITLES[line] if line else "total", *map(_count, own), *seconds)
    table.add_row("95 % interval, %", *(_interval(_of(records, contender=name)) for name in names))
    return table


def _shares_table(records: Records) -> Table:
    heads = ("tables", "near, %", "far, %", "far, balanced", "size", "wall seconds", "CPU seconds")
    heads += ("wrong rules", "undecided proofs")
    table = Table("", title="Fresh rows that are right (mean), and costs (median)", title_justify="left", box=None)
    for head in heads:
        table.add_column(head, justify="right")
    for name in _contenders(records):
        own = [r for r in _of(records, contender=name) if r["near"] is not None]
        table.add_row(
            CONTENDERS[name].title,
            str(len(own)),
            *(_percent(own, what) for what in ("near", "far", "far_balanced")),
            _median(own, "size", ",.0f"),
            *(_median(own, what, ".2f") for what in ("seconds", "cpu_seconds")),
            _wrong_rules(own, name),
            str(sum(r["proof"] == "undecided" for r in own)) if CONTENDERS[name].has_rules else "",
        )
    return table


def _wrong_rules(records: Records, contender: str) -> str:
    """How many rules are claimed that are not the true ones."""
    if not CONTENDERS[contender].has_rules:
        return ""
    return str(sum(record["rule"] is not None and not record["read_back"] for record in records))


def _print_missed(records: Records, console: Console) -> None:
    for record in _of(records, contender="nsr"):
        if not record["read_back"] and not record["error"]:
            why = record["counterexample"] or record["reason"] or ""
            text = f"not read back: {record['line']} {record['table']} ({record['rows']} rows): {record['truth']}"
            console.print(f"{text}\n    got {record['rule']}; {why}", markup=False, soft_wrap=True)
        elif record["proof"] == "undecided":
            text = f"neither proved nor disproved: {record['line']} {record['table']}: {record['rule']}"
            console.print(f"{text}; {record['counterexample'] or 'time ran out'}", markup=False, soft_wrap=True)


def _claims_table(records: Records) -> Table:
    heads = ("tables", "claims", "false claims", "95 % interval, %", "seconds")
    table = Table("", title="No rule", title_justify="left", box=None)
    for head in heads:
        table.add_column(head, justify="right")
    for line in [*_lines(records), None]:
        own = [r for r in (records if line is None else _of(records, line=line)) if not r["error"]]
        claims, false = (sum(bool(r[what]) for r in own) for what in ("rule", "false_claim"))
        interval = _percents(wilson(false, len(own))) if own else "-"
        title = TITLES[line] if line else "total"
        table.add_row(title, str(len(own)), str(claims), str(false), interval, _median(own, "seconds", ".1f"))
    return table


def _of(records: Iterable[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [record for record in records if all(record[name] == value for name, value in wanted.items())]


def _lines(records: Records) -> list[str]:
    there = {record["line"] for record in records}
    return [line for line in (*LINES, *RULELESS) if line in there]


def _contenders(records: Records) -> list[str]:
    there = {record["contender"] for record in records}
    return [name for name in CONTENDERS if name in there]


def _took_part(records: Records) -> list[dict[str, Any]]:
    """A failure counts as not read back; a contender that is left out does not count."""
    return [record for record in records if not record["left_out"]]


def _count(records: Records) -> str:
    own = _took_part(records)
    return f"{sum(map(exact, own))} of {len(own)}" if own else "-"


def _interval(records: Records) -> str:
    own = _took_part(records)
    return _percents(wilson(sum(map(exact, own)), len(own))) if own else "-"


def _percents(shares: tuple[float, float]) -> str:
    return " to ".join(f"{100 * share:.1f}" for share in shares)


def _numbers(records: Records, what: str) -> list[float]:
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


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
