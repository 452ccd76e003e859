"""How long a job of Slurm lasts, how long its workers stay, and how long a block may take on them."""

import math
import re

from nsr.errors import InputError, shortened
from nsr.paper.sweep.plan import LONGEST


def longest_block(walltime: str | None) -> float:
    """Seconds that a block may last: half of a worker's stay, so that most blocks that begin on it also end there."""
    return LONGEST if walltime is None else min(LONGEST, int(lifetime(walltime)[0].removesuffix("s")) / 2)


def lifetime(walltime: str | None) -> list[str]:
    """How long a worker stays, and by how much they differ, so that all have left before Slurm ends the jobs."""
    if walltime is None:
        return []
    total = seconds(walltime)
    stagger = total // 20
    margin = min(LONGEST, total / 5)
    return [f"{math.floor(total - margin - stagger)}s", "--lifetime-stagger", f"{stagger}s"]


def seconds(walltime: str) -> int:
    """Seconds of a time as Slurm writes it: minutes, minutes:seconds, [days-]hours:minutes:seconds, days-hours."""
    match = re.fullmatch(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?", walltime)
    if not match:
        raise InputError(
            f"walltime {shortened(repr(walltime))} is not a time of Slurm: write hours:minutes:seconds, as in 04:00:00"
        )
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    if days is None and len(numbers) < 3:
        numbers.insert(0, 0)
    hours, minutes, rest = (*numbers, 0, 0)[:3]
    total = ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + rest
    if total < 60:
        raise InputError(f"walltime {walltime!r} is less than a minute")
    return total
