"""Programs in other languages: one file for each target, which states the range in which it is exact.

To add a target, write a file like those below and import its function here.
"""

from typing import Any

from nsr.errors import InputError, one_of
from nsr.program.emit.exactness import InexactWarning as InexactWarning
from nsr.program.emit.targets import TARGETS as TARGETS
from nsr.program.emit.targets import options_of as options_of
from nsr.program.program import Program

# isort: off
# One line for each target, in the order in which error messages list them.
from nsr.program.emit.python import python_source as python_source
from nsr.program.emit.pandas import pandas_source as pandas_source
from nsr.program.emit.polars import polars_expression as polars_expression
from nsr.program.emit.c import c_source as c_source
from nsr.program.emit.sql import sql_expression as sql_expression
from nsr.program.emit.check_sql import check_query as check_query
from nsr.program.emit.check_constraint import check_constraint as check_constraint
from nsr.program.emit.dbt import dbt_test as dbt_test
from nsr.program.emit.pandera import pandera_schema as pandera_schema
from nsr.program.emit.sympy import sympy_expression as sympy_expression
from nsr.program.emit.latex import latex_formula as latex_formula
from nsr.program.emit.json import json_text as json_text
from nsr.program.emit.smtlib import smtlib_text as smtlib_text
from nsr.program.emit.onnx import onnx_model as onnx_model
# isort: on


def emit(program: Program, target: str, **options: Any) -> Any:
    """Write the program in another language: text, or an object for ``sympy`` and ``onnx``.

    Warns with an ``InexactWarning`` if the program holds a number that the target cannot compute with exactly.

    >>> from nsr.program import Program, Variable
    >>> from nsr.program.emit import emit
    >>> print(emit(Program(Variable("unit price") >= 37.5), "python", name="is_expensive"))
    def is_expensive(unit_price: float) -> bool:
        \"\"\"`unit price` >= 37.5
    <BLANKLINE>
        unit_price: 'unit price'
        \"\"\"
        return unit_price >= 37.5
    <BLANKLINE>
    """
    function = TARGETS[one_of("target", target, TARGETS)]
    known = options_of(target)
    for option in options:
        one_of(f"option of target {target!r}", option, known)
    for option, needed in known.items():
        if needed and option not in options:
            raise InputError(f"target {target!r} needs the option {option!r}")
    try:
        return function(program, **options)
    except RecursionError:
        raise InputError(f"the program is nested too deep for target {target!r}") from None
