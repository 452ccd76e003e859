"""The targets that programs can be emitted in. To add one, write a file with ``@target`` and import it once."""

from collections.abc import Callable
from typing import Any, TypeVar

Emitter = TypeVar("Emitter", bound=Callable[..., Any])

TARGETS: dict[str, Callable[..., Any]] = {}
"""Functions of a program and keyword options, by the name of the target."""


def target(name: str) -> Callable[[Emitter], Emitter]:
    """Decorate a function of a program, and of keyword options, to make it the target ``name``."""

    def register(function: Emitter) -> Emitter:
        TARGETS[name] = function
        return function

    return register
