"""C99: one text with a function of double and, where the program allows, one of int64_t.

Exact: the function of double has the bits of the program on floats; the text sees to it that products and sums
are not contracted, and does not compile where doubles are not IEEE. The function of int64_t is exact for inputs up to
the size that its comment states, with no fraction in it: comparisons are multiplied out, and a program whose answers
can be fractions has no such function.
"""

import re
from fractions import Fraction

from nsr.program import text
from nsr.program.emit.exactness import FLOAT_INTEGERS, integer_range, refuse_overflow, rounded, short, warn_inexact
from nsr.program.emit.names import PLAIN, function_name, identifiers, printable
from nsr.program.emit.writer import CHOICE, COMPARE, OR, Writer
from nsr.program.expressions import Constant, Expression, Where
from nsr.program.program import Program
from nsr.program.whole import denominator, whole

WORDS = re.findall(
    r"\w+",
    """
    alignas alignof asm auto bool break case char const constexpr continue default do double else enum extern false
    float for goto if inline int long main nullptr register restrict return short signed sizeof static static_assert
    struct switch thread_local true typedef typeof typeof_unqual union unsigned void volatile while
    linux unix i386 NULL
    """,
)
"""Words of C, of its headers and of compilers."""

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


def c_source(program: Program, *, name: str = "rule", loop: bool = False) -> str:
    """The functions ``name`` of double and ``name_int64`` of int64_t, of ``program.inputs``.

    Args:
        program: What to write.
        name: The name of the function of double.
        loop: Add ``name_rows`` and ``name_int64_rows``, which fill an array of answers from arrays of inputs.
    """
    refuse_overflow(program.expression, "c")
    if (value := rounded(program.expression)) is not None:
        warn_inexact(f"{short(value)} is no double: the function of double takes the nearest")
    functions = [function_name(name, is_c_name), f"{name}_int64", f"{name}_rows", f"{name}_int64_rows"]
    names = identifiers(program.inputs, valid=is_c_name, taken=functions)
    told = [_told(str(program)), *(f"{own} is {_told(repr(column))}" for column, own in names.items() if own != column)]
    parts = ["/* " + "\n   ".join(told) + " */", HEADER]
    parts += _functions(program.expression, names, DoubleWriter(names), "double", name, loop)
    return "\n".join(parts + _on_integers(program.expression, names, f"{name}_int64", loop))


def _on_integers(expression: Expression, names: dict[str, str], name: str, loop: bool) -> list[str]:
    if not expression.is_truth and denominator(expression) > 1:
        return [f"/* There is no {name}: answers can be fractions. */\n"]
    expression = whole(expression)
    largest = integer_range(expression)
    if largest is None:
        warn_inexact(f"a number of the program does not fit int64: there is no function {name}")
        return [f"/* There is no {name}: a number does not fit int64_t. */\n"]
    told = f"/* Exact for inputs from -{largest} to {largest}. */"
    return [told, *_functions(expression, names, Int64Writer(names), "int64_t", name, loop)]


def _functions(
    expression: Expression, names: dict[str, str], writer: Writer, kind: str, name: str, loop: bool
) -> list[str]:
    answer, body = "bool" if expression.is_truth else kind, writer.write(expression)
    arguments = ", ".join(f"{kind} {own}" for own in names.values()) or "void"
    functions = [f"{answer} {name}({arguments})\n{{\n    return {body};\n}}\n"]
    if loop:
        own = identifiers(("rows", "row", "answers"), valid=is_c_name, taken=names.values())
        arrays = identifiers((f"{column}_rows" for column in names.values()), valid=is_c_name, taken=names.values())
        pointers = "".join(f"const {kind} *restrict {array}, " for array in arrays.values())
        loads = "".join(
            f"        const {kind} {column} = {array}[{own['row']}];\n"
            for column, array in zip(names.values(), arrays.values(), strict=True)
        )
        functions += [
            f"void {name}_rows(size_t {own['rows']}, {pointers}{answer} *restrict {own['answers']})\n{{\n"
            f"    for (size_t {own['row']} = 0; {own['row']} < {own['rows']}; {own['row']}++) {{\n{loads}"
            f"        {own['answers']}[{own['row']}] = {body};\n    }}\n}}\n"
        ]
    return functions


def is_c_name(name: str) -> bool:
    """Whether C takes it as a name of ours: neither reserved, nor what <stdint.h> may define."""
    reserved = name.startswith("_") or re.search(r"(?i)^u?int|_(t|c|max|min|width)$", name)
    return PLAIN.fullmatch(name) is not None and name not in WORDS and not reserved


def _told(words: str) -> str:
    """Text for a comment: no end of it, no start of another, no trigraph."""
    plain = printable(words, ascii_only=True)
    return plain.replace("*/", "*\\x2f").replace("/*", "/\\x2a").replace("??", "?\\x3f")


class DoubleWriter(Writer):
    """Numbers of type double."""

    truths = ("false", "true")
    both, either = " && ", " || "
    inside_both = inside_either = COMPARE

    def number(self, value: Fraction) -> str:
        """A constant."""
        if value.denominator == 1:
            return f"{value.numerator}.0" if value <= FLOAT_INTEGERS else repr(float(value))
        decimal = text.number(value)
        return repr(float(value)) if "/" in decimal else decimal

    def choice(self, node: Where) -> str:
        """One number or another."""
        return f"{self.write(node.condition, OR)} ? {self.write(node.then, OR)} : {self.write(node.otherwise)}"


class Int64Writer(DoubleWriter):
    """Numbers of type int64_t."""

    def number(self, value: Fraction) -> str:
        """A constant."""
        return str(value.numerator)

    def write(self, node: Expression, around: int = CHOICE) -> str:
        """A constant that stands alone is an int64_t: an int would overflow sooner in a sum of choices."""
        if isinstance(node, Constant):
            return f"{'-' if node.value < 0 else ''}INT64_C({abs(node.value.numerator)})"
        return super().write(node, around)
