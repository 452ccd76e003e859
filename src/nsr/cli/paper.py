"""The commands about the paper's experiments: reproduce, results, report, list."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from nsr.cli.output import DONE, FAILED, INTERRUPTED, output, say, tell

if TYPE_CHECKING:
    from nsr.paper.summaries import Summary


def reproduce(
    *names: str,
    profile: str = "quick",
    recipe: str = "both",
    seeds: int | None = None,
    model: Annotated[Sequence[str], Parameter(negative="")] = (),
    comparison: Annotated[Sequence[str], Parameter(negative="")] = (),
    workers: int | None = None,
    out: Path = Path("runs"),
    data: Path | None = None,
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
    out
        The folder of the results. The same command goes on where it was stopped.
    data
        The folder with the four files of MNIST, which digits --profile paper reads. By default the one that the
        environment variable NSR_DATA names, else they are downloaded once.
    json_
        Print one JSON object instead of tables.
    quiet
        Show no progress.
    """
    only = {field: values for field, values in (("model", model), ("comparison", comparison)) if values}
    html = None if json_ else out / "report.html"
    try:
        from nsr.cli import progress
        from nsr.paper import commands

        result = commands.reproduce(
            names,
            profile=profile,
            recipe=recipe,
            seeds=seeds,
            only=only,
            workers=workers,
            out=out,
            data=data,
            observer=progress.choose(quiet),
            html=html,
            on_message=tell,
        )
    except KeyboardInterrupt:
        tell("interrupted; what was finished is kept, and the same command goes on from there")
        return INTERRUPTED
    _show(result.summaries, as_json=json_)
    if html:
        tell(f"the page is {html}")
    if not result.ran and not quiet:
        tell(f"nothing was missing: all results were in {out}")
    for item in result.failed:
        tell(f"failed: {item.experiment} {item.cell}, recipe {item.recipe.name}, {len(item.seeds)} seeds")
    if result.failed:
        tell(f"{len(result.failed)} blocks failed; nsr results --failures shows why, the same command tries again")
        return FAILED
    return DONE


def results(
    *names: str,
    out: Path = Path("runs"),
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
    export: Path | None = None,
    failures: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Show what is stored.

    Parameters
    ----------
    names
        Which experiments; all by default.
    out
        The folder of the results.
    json_
        Print one JSON object instead of tables.
    export
        Write the records as CSV files into this folder instead.
    failures
        Print the blocks that failed, with their tracebacks, instead.
    """
    from nsr.paper import commands

    if failures:
        for failure in commands.failures(out):
            say(f"{failure.item}\ntried {failure.attempts} times, last:\n{failure.traceback}")
        return DONE
    if export is not None:
        for path in commands.export(export, names, out=out):
            say(str(path))
        return DONE
    _show(commands.results(names, out=out), as_json=json_)
    return DONE


def report(
    *,
    out: Path = Path("runs"),
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    html: Path | None = None,
    figures: Path | None = None,
) -> int:
    """Write the page: every table and figure, ours beside the paper's.

    Parameters
    ----------
    out
        The folder of the results.
    from_
        Take the records from CSV files in this folder, as in --from results, and train nothing.
    html
        Where to write the page; by default report.html in the folder of the results.
    figures
        Also write every chart as SVG and PNG into this folder.
    """
    from nsr.paper import commands

    say(str(commands.report(out=out, exported=from_, html=html, figures=figures)))
    return DONE


def list_() -> int:
    """List the experiments: section, table or figure, and how much each profile runs."""
    from rich.console import Console
    from rich.table import Table

    from nsr.paper.experiments import EXPERIMENTS

    table = Table("experiment", "section", "shows", "what", "cells x seeds (smoke, quick, paper)", box=None)
    for experiment in EXPERIMENTS.values():
        cost = ", ".join(
            f"{len(experiment.cells_of('paper', profile))} x {profile.seeds}"
            for profile in experiment.profiles.values()
        )
        table.add_row(experiment.name, experiment.section, experiment.shows, experiment.title, cost)
    with output():
        Console().print(table)
    return DONE


def _show(summaries: "Mapping[str, Sequence[Summary]]", *, as_json: bool) -> None:
    if as_json:
        say(json.dumps({name: [row.as_json() for row in rows] for name, rows in summaries.items()}))
        return
    from rich.console import Console

    from nsr.paper.experiments import EXPERIMENTS
    from nsr.paper.report.tables import tables

    console = Console()
    for name, rows in summaries.items():
        for table in tables(EXPERIMENTS[name], rows):
            with output():
                console.print(table, "")
