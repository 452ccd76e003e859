"""The command ``nsr play``: a page on which a register learns."""

import os
import sys
from pathlib import Path

from nsr.cli.output import DONE, print_message, print_output


def play(*, out: Path | None = None) -> int:
    """Open the playground in a browser: one page, without network, on which a register learns beside an MLP.

    Prints the path of the page. Without a display, that is all.

    Parameters
    ----------
    out
        Write the page to this file, and do not open it.
    """
    from importlib.resources import files

    page = Path(str(files("nsr") / "play" / "playground.html"))
    if out is not None:
        from nsr.files import check_writable, write

        check_writable(out)
        write(out, page.read_text(encoding="utf-8"))
        print_message(f"wrote {out}")
        return DONE
    print_output(str(page))
    if _has_display():
        import webbrowser

        if not webbrowser.open(page.as_uri()):
            print_message("no browser was found: open the file in one")
    return DONE


def _has_display() -> bool:
    """Whether a browser could show a window."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
