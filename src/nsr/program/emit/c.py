"""C99: one text with a function of double and, where the program allows, one of int64_t.

Exact: the function of double gives the same bits as the program on floats. The source forbids the compiler to contract
products and sums, and does not compile where doubles are not IEEE doubles. The function of int64_t is exact for inputs
up to the size stated in its comment and contains no fractions: comparisons are cleared of denominators, and a program
whose answers can be fractions has no such function. The function
of double may differ for a minimum, maximum or median of a NaN, such as inf - inf.
"""

import re
from fractions import Fraction

from nsr.program import text
from nsr.program.emit.exactness import (
    FLOAT_INTEGERS,
    integer_range,
    reject_cells,
    reject_overflow,
    rounded_integer,
    short,
    warn_inexact,
)
from nsr.program.emit.names import PLAIN, function_name, identifiers, printable
from nsr.program.emit.targets import target
from nsr.program.emit.writer import CHOICE, COMPARE, OR, Writer
from nsr.program.expressions import Constant, Expression, Where
from nsr.program.integers import denominator, with_integer_coefficients
from nsr.program.program import Program

WORDS = re.findall(
    r"\w+",
    """
    alignas alignof asm auto bool break case char const constexpr continue default do double else enum extern false
    float for goto if inline int long main nullptr register restrict return short signed sizeof static static_assert
    struct switch thread_local true typedef typeof typeof_unqual union unsigned void volatile while
    linux unix i386 NULL offsetof
    """,
)
"""Reserved words of C, and names that headers and compilers define."""

HEADER = """\
#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if FLT_EVAL_METHOD == 2 || defined(__FAST_MATH__)
#error "doubles must be IEEE doubles: no -ffast-math, no x87"
#endif
/* A fused multiply-add rounds once where the program rounds twice. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif
"""


@target("c")
def c_source(program: Program, *, name: str = "rule", loop: bool = False) -> str:
    """Write the functions ``name`` for double and ``name_int64`` for int64_t; their arguments are ``program.inputs``.

    Args:
        program: The program to write.
        name: Name of the function for double.
        loop: Add ``name_rows`` and ``name_int64_rows``, which fill an array of answers from arrays of inputs.
    """
    reject_cells(program.expression, "c")
    reject_overflow(program.expression, "c")
    if (value := rounded_integer(program.expression)) is not None:
        warn_inexact(f"{short(value)} is not a double: the function of double uses the nearest")
    functions = [function_name(name, is_c_name), f"{name}_int64", f"{name}_rows", f"{name}_int64_rows"]
    names = identifiers(program.inputs, valid=is_c_name, taken=functions)
    comment = [_comment(str(program))]
    comment += [f"{written} is {_comment(repr(name))}" for name, written in names.items() if written != name]
    parts = ["/* " + "\n   ".join(comment) + " */", HEADER]
    parts += _functions(program.expression, names, DoubleWriter(names), "double", name, loop)
    return "\n".join(parts + _on_integers(program.expression, names, f"{name}_int64", loop))


def _on_integers(expression: Expression, names: dict[str, str], name: str, loop: bool) -> list[str]:
    if not expression.is_boolean and denominator(expression) > 1:
        return [f"/* There is no {name}: answers can be fractions. */\n"]
    expression = with_integer_coefficients(expression)
    largest = integer_range(expression)
    if largest is None:
        warn_inexact(f"the program has a number that does not fit int64: the function {name} is left out")
        return [f"/* There is no {name}: a number does not fit int64_t. */\n"]
    comment = f"/* Exact for inputs from -{largest} to {largest}. */"
    return [comment, *_functions(expression, names, Int64Writer(names), "int64_t", name, loop)]


def _functions(
    expression: Expression, names: dict[str, str], writer: Writer, number: str, name: str, loop: bool
) -> list[str]:
    """The function of numbers of a C type and, with ``loop``, the one of arrays."""
    answer, body = "bool" if expression.is_boolean else number, writer.write(expression)
    arguments = ", ".join(f"{number} {argument}" for argument in names.values()) or "void"
    function = f"{answer} {name}({arguments})\n{{\n    return {body};\n}}\n"
    return [function, _loop(list(names.values()), number, answer, name, body)] if loop else [function]


def _loop(columns: list[str], number: str, answer: str, name: str, body: str) -> str:
    local = identifiers(("rows", "row", "answers"), valid=is_c_name, taken=columns)
    rows, row, answers = local.values()
    arrays = list(identifiers((f"{column}_rows" for column in columns), valid=is_c_name, taken=columns).values())
    pointers = "".join(f"const {number} *restrict {array}, " for array in arrays)
    loads = "".join(
        f"        const {number} {column} = {array}[{row}];\n" for column, array in zip(columns, arrays, strict=True)
    )
    return (
        f"void {name}_rows(size_t {rows}, {pointers}{answer} *restrict {answers})\n{{\n"
        f"    for (size_t {row} = 0; {row} < {rows}; {row}++) {{\n{loads}"
        f"        {answers}[{row}] = {body};\n    }}\n}}\n"
    )


def is_c_name(name: str) -> bool:
    """Whether it can name a function or variable in C: not reserved, and not a name that the headers may define."""
    reserved = name.startswith("_") or re.search(r"(?i)^u?int|_(t|c|max|min|width)$", name)
    reserved = reserved or re.match(r"(L?DBL|FLT\d*X?|DEC\d*X?|DECIMAL)_", name)  # <float.h>
    return PLAIN.fullmatch(name) is not None and name not in WORDS and not reserved


def _comment(words: str) -> str:
    """Escape text for a comment: it cannot end the comment, start another or form a trigraph."""
    plain = printable(words, ascii_only=True)
    return plain.replace("*/", "*\\x2f").replace("/*", "/\\x2a").replace("??", "?\\x3f")


class DoubleWriter(Writer):
    """Numbers of type double."""

    truths = ("false", "true")
    both, either = " && ", " || "
    inside_both = inside_either = COMPARE

    def number(self, value: Fraction) -> str:
        """Write a constant."""
        if value.denominator == 1:
            return f"{value.numerator}.0" if value <= FLOAT_INTEGERS else repr(float(value))
        decimal = text.number(value)
        return repr(float(value)) if "/" in decimal else decimal

    def choice(self, node: Where) -> str:
        """Write a choice."""
        return f"{self.write(node.condition, OR)} ? {self.write(node.then, OR)} : {self.write(node.otherwise)}"


class Int64Writer(DoubleWriter):
    """Numbers of type int64_t."""

    def number(self, value: Fraction) -> str:
        """Write a constant."""
        return str(value.numerator)

    def write(self, node: Expression, around: int = CHOICE) -> str:
        """Write a node; a constant on its own is an int64_t, because an int would overflow earlier."""
        if isinstance(node, Constant):
            return f"{'-' if node.value < 0 else ''}INT64_C({abs(node.value.numerator)})"
        return super().write(node, around)
