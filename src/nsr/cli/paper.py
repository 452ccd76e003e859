"""The commands about the paper's experiments: reproduce, results, report, list."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from nsr.cli.output import DONE, FAILED, INTERRUPTED, print_message, print_output, print_report, writing_output

if TYPE_CHECKING:
    from nsr.paper.cells import Summary


def reproduce(
    *names: str,
    profile: str = "quick",
    recipe: str = "both",
    seeds: int | None = None,
    model: Annotated[Sequence[str], Parameter(negative="")] = (),
    comparison: Annotated[Sequence[str], Parameter(negative="")] = (),
    workers: int | None = None,
    executor: str | None = None,
    scheduler: str | None = None,
    queue: str | None = None,
    account: str | None = None,
    walltime: str | None = None,
    cores: int | None = None,
    memory: str | None = None,
    directive: Annotated[Sequence[str], Parameter(negative="", allow_leading_hyphen=True)] = (),
    cluster: Path | None = None,
    out: Path = Path("runs"),
    data: Path | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
    quiet: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Run experiments of the paper and print their tables, with the published numbers beside ours.

    Parameters
    ----------
    names
        Experiments to run, by default all. See: nsr list
    profile
        How much of each to run: smoke (seconds), quick (minutes) or paper (all seeds).
    recipe
        How to train: paper (as in the paper), exact (ours) or both.
    seeds
        Number of seeds, instead of the profile's.
    model
        Only this model, as in --model nsr. May be repeated.
    comparison
        Only this comparison, as in --comparison ">=". May be repeated.
    workers
        Number of processes, by default one per core.
    executor
        Where to run: local (this machine), dask, slurm, or MODULE:FUNCTION, which returns an executor.
    scheduler
        Address of a Dask scheduler, for --executor dask. By default one is started on this machine.
    queue
        Partition of Slurm.
    account
        Account of Slurm.
    walltime
        Longest time of a job of Slurm, as in 04:00:00. Workers leave before it, and new ones are submitted.
    cores
        Cores of a job of Slurm, each with a worker.
    memory
        Memory of a job of Slurm, as in 8GB.
    directive
        A further line of #SBATCH, as in --directive=--exclude=node7. May be repeated.
    cluster
        File with these options, and more, in its table [cluster]. Default: nsr.toml, if there is one.
    out
        Folder for the results. If a run is interrupted, the same command continues it.
    data
        Folder with the four files of MNIST, which digits --profile paper needs. Default: the folder named by the
        environment variable NSR_DATA; otherwise the files are downloaded once.
    json_
        Print one JSON object instead of tables.
    quiet
        Suppress progress.
    """
    only = {field: values for field, values in (("model", model), ("comparison", comparison)) if values}
    html = None if json_ else out / "report.html"
    try:
        from nsr.cli.sweep_progress import make_observer
        from nsr.paper import commands
        from nsr.paper.sweep.choice import choose_executor
        from nsr.paper.sweep.cluster_config import read_config
        from nsr.paper.sweep.walltime import longest_block

        config = read_config(
            cluster,
            executor=executor,
            workers=workers,
            scheduler=scheduler,
            queue=queue,
            account=account,
            walltime=walltime,
            cores=cores,
            memory=memory,
            directives=tuple(directive),
        )
        result = commands.reproduce(
            names,
            profile=profile,
            recipe=recipe,
            seeds=seeds,
            only=only,
            workers=config.workers,
            longest=longest_block(config.walltime if config.executor == "slurm" else None),
            make_executor=choose_executor(config, print_message),
            out=out,
            data=data,
            observer=make_observer(quiet),
            html=html,
            on_message=print_message,
        )
    except KeyboardInterrupt:
        print_message("interrupted; finished blocks are kept, and the same command continues from there")
        return INTERRUPTED
    _print_summaries(result.summaries, as_json=json_)
    if html:
        print_message(f"wrote {html}")
    if not result.ran and not quiet:
        print_message(f"nothing to run: all results are in {out}")
    for item in result.failed:
        print_message(f"failed: {item.experiment} {item.cell}, recipe {item.recipe.name}, {len(item.seeds)} seeds")
    if result.failed:
        print_message(
            f"{len(result.failed)} of {result.ran} blocks failed; nsr results --failures shows why, "
            "and the same command retries them"
        )
        return FAILED
    return DONE


def results(
    *names: str,
    out: Path = Path("runs"),
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
    export: Path | None = None,
    failures: Annotated[bool, Parameter(negative="")] = False,
    verify: Annotated[bool, Parameter(negative="")] = False,
    repair: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Print the stored results.

    Parameters
    ----------
    names
        Experiments to print, by default all.
    out
        Folder of the results.
    json_
        Print one JSON object instead of tables.
    export
        Write the records as CSV files into this folder instead.
    failures
        Print the blocks that failed, with their tracebacks, instead.
    verify
        Print the damaged records instead, and exit with 1 if there are any.
    repair
        Drop the damaged records, so that nsr reproduce runs them again. A file that is damaged itself is written anew
        with the records that can be read, and kept beside the new one.
    """
    from nsr.paper import commands

    if repair:
        for damaged in commands.repair(out, on_message=print_message):
            print_report(f"dropped {damaged}")
        return DONE
    if verify:
        count, found = commands.verify(out)
        for damaged in found:
            print_report(str(damaged))
        print_message(f"{count - len(found):,} of {count:,} records are intact")
        return FAILED if found else DONE
    if failures:
        for failure in commands.failures(out):
            print_report(f"{failure.item}\ntried {failure.attempts} times, last:\n{failure.traceback}")
        return DONE
    if export is not None:
        for path in commands.export(export, names, out=out):
            print_output(str(path))
        return DONE
    _print_summaries(commands.results(names, out=out), as_json=json_)
    return DONE


def report(
    *,
    out: Path = Path("runs"),
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    html: Path | None = None,
    figures: Path | None = None,
) -> int:
    """Write the page: every table and figure, with the paper's numbers beside ours.

    Parameters
    ----------
    out
        Folder of the results.
    from_
        Read the results from CSV files in this folder instead, as in --from results.
    html
        Where to write the page, by default report.html in the folder of the results.
    figures
        Also write every figure as SVG and PNG into this folder.
    """
    from nsr.paper import commands

    print_output(str(commands.report(out=out, exported=from_, html=html, figures=figures)))
    return DONE


def list_() -> int:
    """List the experiments with their section, table or figure, and the size of each profile."""
    from rich.console import Console
    from rich.table import Table

    from nsr.paper.experiments import EXPERIMENTS

    table = Table("experiment", "section", "reproduces", "title", "cells x seeds (smoke, quick, paper)", box=None)
    for experiment in EXPERIMENTS.values():
        sizes = ", ".join(
            f"{len(experiment.cells_of('paper', profile))} x {profile.seeds}"
            for profile in experiment.profiles.values()
        )
        table.add_row(experiment.name, experiment.section, experiment.shows, experiment.title, sizes)
    with writing_output():
        Console().print(table)
    return DONE


def _print_summaries(summaries: "Mapping[str, Sequence[Summary[Any]]]", *, as_json: bool) -> None:
    if as_json:
        print_output(json.dumps({name: [row.as_json() for row in rows] for name, rows in summaries.items()}))
        return
    from rich.console import Console

    from nsr.paper.experiments import EXPERIMENTS
    from nsr.paper.report.terminal import for_terminal

    console = Console()
    for name, rows in summaries.items():
        for table in EXPERIMENTS[name].tables(rows):
            with writing_output():
                console.print(for_terminal(table), "")
