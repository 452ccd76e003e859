"""``python -m nsr`` is ``nsr``."""

from nsr.cli import main

main()
