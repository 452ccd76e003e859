"""Programs in other languages: one file for each target, each of which says in which range it is exact."""

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from nsr.errors import InputError, one_of
from nsr.program.emit.c import c_source
from nsr.program.emit.exactness import InexactWarning as InexactWarning
from nsr.program.emit.json import json_text
from nsr.program.emit.latex import latex
from nsr.program.emit.onnx import onnx_model
from nsr.program.emit.python import python_source
from nsr.program.emit.sql import sql_expression
from nsr.program.emit.sympy import sympy_expression
from nsr.program.program import Program

TARGETS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "python": python_source,
        "c": c_source,
        "sympy": sympy_expression,
        "latex": latex,
        "sql": sql_expression,
        "onnx": onnx_model,
        "json": json_text,
    }
)
"""What can be emitted. sympy and onnx are imported only when they are asked for."""


def emit(program: Program, target: str, **options: Any) -> Any:
    """The program in another language: text, or for ``sympy`` and ``onnx`` their objects.

    Warns with an InexactWarning where a number of the program is beyond what the target computes exactly.
    """
    function = TARGETS[one_of("target", target, TARGETS)]
    known = [name for name in inspect.signature(function).parameters if name != "program"]
    for option in options:
        one_of(f"option of target {target!r}", option, known)
    try:
        return function(program, **options)
    except ModuleNotFoundError as error:
        if error.name not in ("sympy", "onnx"):
            raise
        message = f"target {target!r} needs {error.name}: pip install 'neural-status-registers[export]'"
        raise InputError(message) from None
