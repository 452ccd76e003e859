"""The commands about a table: learn, apply."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nsr.cli.output import DONE, INTERRUPTED, NO_RULE, say, tell


def learn(
    table: Path,
    *,
    target: str,
    columns: Annotated[Sequence[str], Parameter(negative="", consume_multiple=True)] = (),
    kind: str = "auto",
    errors: float = 0.1,
    restarts: int = 8,
    seed: int = 0,
    drop_missing: Annotated[bool, Parameter(negative="")] = False,
    emit: str | None = None,
    save: Path | None = None,
    html: Path | None = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Find the exact rule by which a column of a table follows from the others.

    Parameters
    ----------
    table
        A CSV, TSV or Parquet file.
    target
        The column that the rule is to tell.
    columns
        Columns to learn from, instead of all that hold numbers, as in --columns a b or --columns a --columns b.
    kind
        Whether the target is a class or a number; by default as it looks.
    errors
        Which share of the rows may contradict the rule, as long as they look like chance.
    restarts
        How many models are trained.
    seed
        Fixes everything that is drawn.
    drop_missing
        Leave out rows in which a value is missing.
    emit
        Print the rule in this language instead: python, c, sympy, latex, sql or json.
    save
        Write the rule to this file, or the model where there is no rule, for nsr apply.
    html
        Write a page about what was learned to this file.
    quiet
        Show no progress, and not what was seen.
    """
    try:
        from nsr.cli import progress
        from nsr.errors import needs_extra
        from nsr.files import check_place

        with needs_extra("learn"):
            from nsr.learn import commands
            from nsr.learn.saved import saved
        if html is not None:
            with needs_extra("reproduce"):
                from nsr.learn.page import write_page

        if emit is not None:
            commands.check_target(emit)
        for path in (save, html):
            if path is not None:
                check_place(path)
        with progress.share(quiet) as watch:
            learned = commands.learn(
                table,
                target,
                columns=columns,
                kind=kind,
                errors=errors,
                restarts=restarts,
                seed=seed,
                drop_missing=drop_missing,
                tell=(lambda _: None) if quiet else tell,
                watch=watch,
            )
    except KeyboardInterrupt:
        tell("interrupted; nothing was learned")
        return INTERRUPTED
    words, program = learned.words(), learned.estimator.program_
    if program is None:
        tell(words if save else f"{words}; --save FILE keeps it")
    elif emit is None:
        say(words)
    else:
        tell(words)
        if learned.answers:
            (said, meant), *others = learned.answers
            each = [f"{said} stands for {meant}", *(f"{said} for {meant}" for said, meant in others)]
            tell(f"in the code, {(' and ' if len(each) == 2 else ', ').join(each)}")
        say(str(program.emit(emit)).rstrip("\n"))
    if save is not None:
        saved(learned.estimator, target).save(save)
        tell(f"the {'model' if program is None else 'rule'} is in {save}: nsr apply {save} TABLE uses it")
    if html is not None:
        write_page(html, learned)
        tell(f"the page is {html}")
    return NO_RULE if program is None else DONE


def apply(
    rule: Path,
    table: Path,
    *,
    drop_missing: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Print what a saved rule, or a saved model, says of each row of a table, as CSV.

    Parameters
    ----------
    rule
        A file that nsr learn --save wrote.
    table
        A CSV, TSV or Parquet file with the columns that the rule needs.
    drop_missing
        Leave out rows in which a value is missing; the first column of the output then numbers the rows, as a
        spreadsheet does: the header is row 1. A Parquet file has no header and begins with row 1.
    """
    from nsr.errors import needs_extra

    with needs_extra("learn"):
        from nsr.learn import commands

    for number, part in enumerate(commands.apply(rule, table, drop_missing=drop_missing)):
        label = "row" if drop_missing else None
        say(part.to_csv(header=number == 0, index=drop_missing, index_label=label), end="")
    return DONE
