"""Core minutes of the paper profile by experiment and recipe, before the native engine and now, from committed records.

python benchmarks/costs.py            the table as text for docs/engine.md
"""

import argparse
import csv
import json
from collections import defaultdict
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"
RECIPES = ("paper", "exact")


def minutes_now(folder: Path) -> dict[tuple[str, str], float]:
    """Minutes of one core by experiment and recipe: the seconds of all records of the folder."""
    minutes: dict[tuple[str, str], float] = defaultdict(float)
    for file in sorted(folder.glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as opened:
            for row in csv.DictReader(opened):
                minutes[file.stem, row["recipe"]] += float(row["seconds"]) / 60
    return minutes


def minutes_before(file: Path) -> dict[tuple[str, str], float]:
    """The same from the summary of the earlier records."""
    return {
        (experiment, recipe): sum(model["minutes"] for model in models.values())
        for experiment, recipes in json.loads(file.read_text(encoding="utf-8"))["core minutes"].items()
        for recipe, models in recipes.items()
    }


def table(before: dict[tuple[str, str], float], now: dict[tuple[str, str], float]) -> str:
    """Markdown: a row for each experiment, the slowest of before first."""
    names = sorted({name for name, _ in now}, key=lambda name: -sum(before.get((name, r), 0) for r in RECIPES))
    lines = ["| core minutes | `paper`, before | now | `exact`, before | now |", "|---|---|---|---|---|"]
    for name in names:
        cells = [f"{source.get((name, recipe), 0):.1f}" for recipe in RECIPES for source in (before, now)]
        lines.append(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |")
    totals = [sum(source.get((name, r), 0) for name in names) for r in RECIPES for source in (before, now)]
    lines.append(f"| **total** | {' | '.join(f'{total:.0f}' for total in totals)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--results", type=Path, default=RESULTS, help="folder of the records (default results)")
    chosen = options.parse_args()
    print(table(minutes_before(chosen.results / "costs_before.json"), minutes_now(chosen.results)))


if __name__ == "__main__":
    main()
