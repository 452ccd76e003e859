"""Loops in other languages: Python, and C99 over arrays of double and of int64_t.

Exact where the targets python and c are exact for the step of the loop; int64_t needs a step without fractions.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from nsr.errors import one_of
from nsr.program.emit.c import HEADER, DoubleWriter, Int64Writer, is_c_name
from nsr.program.emit.names import function_name, identifiers
from nsr.program.emit.python import PythonWriter
from nsr.program.emit.writer import Writer
from nsr.program.folds import FIRST, ITEM, Fold
from nsr.program.integers import denominator, with_integer_coefficients

TAKEN = ("items", "size", "at")
"""Names that the emitted functions use."""


def fold_to_python(fold: Fold, *, name: str = "loop") -> str:
    """Write a function of a sequence with at least one element."""
    names = identifiers((fold.state, FIRST.name, ITEM.name), taken=[function_name(name), *TAKEN])
    writer, state, first, item = PythonWriter(names), *(names[part] for part in (fold.state, FIRST.name, ITEM.name))
    lines = [
        "from collections.abc import Sequence",
        "",
        "",
        f"def {name}(items: Sequence[float]) -> float:",
        *([f"    {first} = items[0]"] if _uses_first(fold) else []),
        f"    {state} = {writer.write(fold.start) if _uses_first(fold) else _start(fold, writer, 'items[0]')}",
        f"    for {item} in items[1:]:",
        f"        {state} = {writer.write(fold.step)}",
        f"    return {state}",
        "",
    ]
    return "\n".join(lines)


def fold_to_c(fold: Fold, *, name: str = "loop") -> str:
    """Write the functions ``name`` for double and ``name_int64`` for int64_t, of an array with at least one element."""
    function_name(name, is_c_name)
    parts = [f"/* {fold.state}: {fold.start}, then {fold.step} */", HEADER]
    parts.append(_c_function(fold, "double", DoubleWriter, name))
    if max(denominator(fold.start), denominator(fold.step)) > 1:
        return "\n".join([*parts, f"/* There is no {name}_int64: its state can be a fraction. */\n"])
    exact = Fold(fold.state, fold.start, with_integer_coefficients(fold.step))
    return "\n".join([*parts, _c_function(exact, "int64_t", Int64Writer, f"{name}_int64")])


def _c_function(fold: Fold, kind: str, make: Callable[[Mapping[str, str]], Writer], name: str) -> str:
    names = identifiers((fold.state, FIRST.name, ITEM.name), valid=is_c_name, taken=[name, *TAKEN])
    writer, state = make(names), names[fold.state]
    first = f"    const {kind} {names[FIRST.name]} = items[0];\n" if _uses_first(fold) else ""
    start = writer.write(fold.start) if _uses_first(fold) else _start(fold, writer, "items[0]")
    return (
        f"{kind} {name}(const {kind} *items, size_t size)\n{{\n{first}"
        f"    {kind} {state} = {start};\n"
        f"    for (size_t at = 1; at < size; at++) {{\n"
        f"        const {kind} {names[ITEM.name]} = items[at];\n"
        f"        {state} = {writer.write(fold.step)};\n    }}\n    return {state};\n}}\n"
    )


def _uses_first(fold: Fold) -> bool:
    """Whether the first element needs a name: it is used in the step, or the start is more than the element."""
    return FIRST.name in fold.step.variables or (fold.start != FIRST and FIRST.name in fold.start.variables)


def _start(fold: Fold, writer: Writer, first: str) -> str:
    return first if fold.start == FIRST else writer.write(fold.start)


FOLD_TARGETS: Mapping[str, Callable[..., str]] = MappingProxyType({"python": fold_to_python, "c": fold_to_c})


def emit_fold(fold: Fold, target: str, **options: str) -> str:
    """Write a loop in another language."""
    return FOLD_TARGETS[one_of("target of a loop", target, FOLD_TARGETS)](fold, **options)
