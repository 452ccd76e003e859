"""The command ``nsr``: parse, call one workflow, print, exit code. Heavy imports live inside the commands."""

import sys
from collections.abc import Sequence
from typing import Any

import cyclopts

from nsr.cli.learn import apply, learn
from nsr.cli.output import DONE, FAILED, INTERRUPTED, WRONG, OutputError, flush, hush, tell
from nsr.cli.paper import list_, report, reproduce, results
from nsr.errors import InputError


def _version() -> str:
    from importlib.metadata import version

    return f"nsr {version('neural-status-registers')}"


app = cyclopts.App(
    name="nsr",
    help="Learn exact comparisons and conditionals from data, and reproduce every result of the paper.",
    version=_version,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
)
for command in (learn, apply, reproduce, results, report):
    app.command(command)
app.command(list_, name="list")


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 done, 1 something failed, 2 the command was wrong, 3 no rule, 130 interrupted."""
    try:
        code = _code(tokens)
        flush()
    except BrokenPipeError:  # the reader, such as head, has seen enough
        hush()
        code = DONE
    except OutputError as problem:
        tell(str(problem))
        hush()
        code = FAILED
    sys.exit(code or DONE)


def _code(tokens: Sequence[str] | None) -> Any:
    try:
        return app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except (InputError, cyclopts.CycloptsError) as refusal:
        tell(str(refusal))
        return WRONG
    except KeyboardInterrupt:
        tell("interrupted")
        return INTERRUPTED
