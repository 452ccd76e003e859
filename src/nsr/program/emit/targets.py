"""The targets that programs can be emitted in. To add one, write a file with ``@target`` and import it once."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, Unpack, get_args, get_origin, get_type_hints

Emitter = TypeVar("Emitter", bound=Callable[..., Any])

TARGETS: dict[str, Callable[..., Any]] = {}
"""Functions of a program and keyword options, by the name of the target."""


def target(name: str) -> Callable[[Emitter], Emitter]:
    """Decorate a function of a program, and of keyword options, to make it the target ``name``."""

    def register(function: Emitter) -> Emitter:
        TARGETS[name] = function
        return function

    return register


def options_of(name: str) -> dict[str, bool]:
    """The options that a target takes, each with whether it must be given."""
    options: dict[str, bool] = {}
    for option, parameter in list(inspect.signature(TARGETS[name]).parameters.items())[1:]:
        if get_origin(parameter.annotation) is Unpack:
            options |= dict.fromkeys(get_type_hints(*get_args(parameter.annotation)), False)
        else:
            options[option] = parameter.default is inspect.Parameter.empty
    return options
