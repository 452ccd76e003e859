"""The command ``nsr``: parse, call one workflow, print, exit code. Heavy imports live inside the commands."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import cyclopts
from cyclopts import App, Parameter

from nsr.refusals import InputError

if TYPE_CHECKING:
    from nsr.report.summaries import Summary

DONE, FAILED, WRONG, INTERRUPTED = 0, 1, 2, 130


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
    from nsr import progress, workflows

    only = {field: values for field, values in (("model", model), ("comparison", comparison)) if values}
    result = workflows.reproduce(
        names,
        profile=profile,
        recipe=recipe,
        seeds=seeds,
        only=only,
        workers=workers,
        out=out,
        data=data,
        watch=progress.choose(quiet),
        tell=_tell,
    )
    _show(result.summaries, as_json=json_)
    if not json_:
        _tell(f"the page is {workflows.report(out=out)}")
    if not result.ran and not quiet:
        _tell(f"nothing was missing: all results were in {out}")
    for item in result.failed:
        _tell(f"failed: {item.experiment} {item.cell}, recipe {item.recipe.name}, {len(item.seeds)} seeds")
    if result.failed:
        _tell(f"{len(result.failed)} blocks failed; nsr results --failures shows why, the same command tries again")
        return FAILED
    return DONE


@app.command
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
    from nsr import workflows

    if failures:
        for failure in workflows.failures(out):
            print(f"{failure.item}\ntried {failure.attempts} times, last:\n{failure.traceback}")  # noqa: T201
        return DONE
    if export is not None:
        for path in workflows.export(export, names, out=out):
            print(path)  # noqa: T201
        return DONE
    _show(workflows.stored(names, out=out), as_json=json_)
    return DONE


@app.command
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
    from nsr import workflows

    print(workflows.report(out=out, exported=from_, html=html, figures=figures))  # noqa: T201
    return DONE


@app.command(name="list")
def list_() -> int:
    """List the experiments: section, table or figure, and how much each profile runs."""
    from rich.console import Console
    from rich.table import Table

    from nsr.experiments import EXPERIMENTS

    table = Table("experiment", "section", "shows", "what", "cells x seeds (smoke, quick, paper)", box=None)
    for experiment in EXPERIMENTS.values():
        cost = ", ".join(
            f"{len(experiment.cells_of('paper', profile))} x {profile.seeds}"
            for profile in experiment.profiles.values()
        )
        table.add_row(experiment.name, experiment.section, experiment.shows, experiment.title, cost)
    Console().print(table)
    return DONE


def _show(summaries: "Mapping[str, Sequence[Summary]]", *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({name: [row.as_json() for row in rows] for name, rows in summaries.items()}))  # noqa: T201
        return
    from rich.console import Console

    from nsr.experiments import EXPERIMENTS
    from nsr.report.tables import tables

    console = Console()
    for name, rows in summaries.items():
        for table in tables(EXPERIMENTS[name], rows):
            console.print(table, "")


def _tell(text: str) -> None:
    print(f"nsr: {text}", file=sys.stderr)  # noqa: T201


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 done, 1 something failed, 2 the command was wrong, 130 interrupted."""
    try:
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except (InputError, cyclopts.CycloptsError) as refusal:
        _tell(str(refusal))
        code = WRONG
    except KeyboardInterrupt:
        _tell("interrupted; what was finished is kept, and the same command goes on from there")
        code = INTERRUPTED
    except BrokenPipeError:  # the reader, such as head, has seen enough
        sys.stdout = None
        code = DONE
    sys.exit(code or DONE)
