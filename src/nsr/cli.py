"""The command ``nsr``: parse, call one workflow, print, exit code. Heavy imports live inside the commands."""

import json
import sys
from collections.abc import Sequence
from typing import Annotated

import cyclopts
from cyclopts import App, Parameter

from nsr.refusals import InputError

DONE, WRONG, INTERRUPTED = 0, 2, 130


def _version() -> str:
    from importlib.metadata import version

    return f"nsr {version('neural-status-registers')}"


app = App(
    name="nsr",
    help="Learn exact comparisons and conditionals from data, and reproduce every result of the paper.",
    version=_version,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
)


@app.command
def reproduce(
    *names: str,
    profile: str = "quick",
    recipe: str = "both",
    seeds: int | None = None,
    model: Annotated[Sequence[str], Parameter(negative="")] = (),
    comparison: Annotated[Sequence[str], Parameter(negative="")] = (),
    workers: int | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
    quiet: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Run experiments of the paper and print their tables, the published numbers beside ours.

    Parameters
    ----------
    names
        Which experiments; all by default. See: nsr list
    profile
        How much of each: smoke (seconds), quick (minutes) or paper (all seeds).
    recipe
        How models are trained: paper (the paper's own), exact (ours) or both.
    seeds
        How many seeds, instead of the profile's number.
    model
        Only this model, as in --model nsr. May be repeated.
    comparison
        Only this comparison, as in --comparison ">=". May be repeated.
    workers
        How many processes; by default one for each core.
    json_
        Print one JSON object instead of tables.
    quiet
        Show no progress.
    """
    from rich.console import Console

    from nsr import progress, workflows
    from nsr.report.tables import comparison_tables

    only = {field: values for field, values in (("model", model), ("comparison", comparison)) if values}
    result = workflows.reproduce(
        names,
        profile=profile,
        recipe=recipe,
        seeds=seeds,
        only=only,
        workers=workers,
        watch=progress.choose(quiet),
    )
    if json_:
        print(json.dumps({e.name: [s.as_json() for s in rows] for e, rows in result.experiments()}))  # noqa: T201
        return DONE
    console = Console()
    for experiment, summaries in result.experiments():
        for table in comparison_tables(experiment, summaries):
            console.print(table, "")
    return DONE


@app.command(name="list")
def list_() -> int:
    """List the experiments: section, table or figure, and how much each profile runs."""
    from rich.console import Console
    from rich.table import Table

    from nsr.experiments import EXPERIMENTS

    table = Table("experiment", "section", "shows", "what", "cells x seeds (smoke, quick, paper)", box=None)
    for experiment in EXPERIMENTS.values():
        sizes = ", ".join(str(profile.seeds) for profile in experiment.profiles.values())
        cost = f"{len(experiment.cells)} x {sizes}"
        table.add_row(experiment.name, experiment.section, experiment.shows, experiment.title, cost)
    Console().print(table)
    return DONE


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 done, 2 the command or its input was wrong, 130 interrupted."""
    try:
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except (InputError, cyclopts.CycloptsError) as refusal:
        print(f"nsr: {refusal}", file=sys.stderr)  # noqa: T201
        code = WRONG
    except KeyboardInterrupt:
        print("nsr: interrupted", file=sys.stderr)  # noqa: T201
        code = INTERRUPTED
    sys.exit(code or DONE)
