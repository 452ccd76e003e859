"""The command ``nsr``: parse, call, print, exit code. Heavy imports are inside the commands."""

import sys
from collections.abc import Sequence
from typing import Any

import cyclopts

from nsr.cli.learn import apply, check, emit, learn
from nsr.cli.output import DONE, FAILED, INTERRUPTED, WRONG, OutputError, discard_output, flush, print_message
from nsr.cli.paper import list_, report, reproduce, results
from nsr.cli.play import play
from nsr.cli.profile import profile
from nsr.cli.signals import ending_by_signals
from nsr.errors import FailedError, InputError


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
for command in (learn, apply, emit, check, profile, play, reproduce, results, report):
    app.command(command)
app.command(list_, name="list")


def main(tokens: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 done, 1 something failed, 2 wrong command or input, 3 no rule, 130 interrupted."""
    try:
        with ending_by_signals():
            code = _run(tokens)
            flush()
    except BrokenPipeError:  # the reader, such as head, has seen enough
        discard_output()
        code = DONE
    except OutputError as error:
        print_message(str(error))
        discard_output()
        code = FAILED
    sys.exit(code or DONE)


def _shortened(name: str) -> str:
    return name if len(name) <= 200 else f"{name[:200]}..."


def _run(tokens: Sequence[str] | None) -> Any:
    try:
        return app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except (InputError, cyclopts.CycloptsError) as error:
        print_message(str(error))
        return WRONG
    except FailedError as error:
        print_message(str(error))
        return FAILED
    except OSError as error:
        if error.filename is None:
            raise
        print_message(f"cannot use {_shortened(str(error.filename))}: {error.strerror}")
        return WRONG
    except KeyboardInterrupt:
        print_message("interrupted")
        return INTERRUPTED
