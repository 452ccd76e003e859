"""SMT-LIB 2: a constant for each column, and a definition of the program over them, for solvers such as z3 and cvc5.

Exact everywhere: numbers are integers and rationals of any size, and the columns are real numbers or, with
``integers=True``, integers. With products of columns the logic is nonlinear, and a solver may give up.

Truth values are of sort Bool, texts of sort String. Dates are integers that count days since 1970-01-01, times and
durations integers that count microseconds. A column that may be missing has a second constant, of sort Bool, and where
a number may be missing there is a second definition: ``rule_missing``.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from nsr.program import text
from nsr.program.conditions import Condition, Flag, Missing, OneOf
from nsr.program.emit.names import PLAIN, function_name, identifiers, printable
from nsr.program.emit.targets import target
from nsr.program.expressions import (
    And,
    Compare,
    Constant,
    Count,
    Expression,
    Linear,
    Not,
    Or,
    Order,
    Product,
    Truth,
    Variable,
    Where,
)
from nsr.program.integers import denominator, with_integer_coefficients
from nsr.program.kinds import Kind
from nsr.program.lowering import as_choices, has_cells, presence, with_presence
from nsr.program.program import Program
from nsr.program.substitution import substitute
from nsr.program.times import TEMPORAL, UNITS, is_temporal

RESERVED = frozenset(
    (
        *("true", "false", "not", "and", "or", "xor", "distinct", "ite", "=>", "=", "<", ">", "<=", ">="),
        *("+", "-", "*", "/", "div", "mod", "abs", "to_real", "to_int", "is_int"),
        *("!", "_", "as", "let", "exists", "forall", "match", "par"),
        *("BINARY", "DECIMAL", "HEXADECIMAL", "NUMERAL", "STRING"),
    )
)
"""Words of the language and functions of its theories, which a column cannot be called even between bars."""


SORTS = {Kind.BOOLEAN: "Bool", Kind.TEXT: "String", **dict.fromkeys(TEMPORAL, "Int")}


@target("smtlib")
def smtlib_text(program: Program, *, name: str = "rule", integers: bool = False, missing: bool | None = None) -> str:
    """Write declarations and a definition, to which a solver's user adds what is to be proved.

    Args:
        program: The program to write.
        name: Name of the defined function.
        integers: Declare the columns as integers, with comparisons cleared of fractions.
        missing: Whether cells may be missing; by default those that the program asks about.
    """
    function_name(name, lambda word: PLAIN.fullmatch(word) is not None and word not in RESERVED)
    expression = with_integer_coefficients(program.expression) if integers else program.expression
    fractional = not expression.is_boolean and denominator(expression) > 1
    names = identifiers(program.inputs, valid=_is_symbol, taken=[name])
    symbols = {column: f"|{symbol}|" for column, symbol in names.items()}
    column_sort, sort = ("Int", "Real" if fractional else "Int") if integers else ("Real", "Real")
    kinds = expression.kinds
    sorts = {column: SORTS.get(kinds[column], column_sort) for column in symbols}
    lines = [f"; {printable(str(program))}"]
    lines += [f"; {symbols[column]} is {column!a}" for column, symbol in names.items() if symbol != column]
    lines += [f"(set-logic {_logic(expression, integers, fractional)})"]
    lines += [f"(declare-const {symbol} {sorts[column]})" for column, symbol in symbols.items()]
    gaps = _gap_symbols(gap_columns([expression], missing), taken=[name, *names.values()])
    lines += [f"(declare-const {symbol} Bool)" for symbol in gaps.values()]
    terms = Terms(symbols, column_sort, sort, gaps)
    answer = "Bool" if expression.is_boolean else sort
    lines += [f"(define-fun {name} () {answer} {terms.guarded(expression)})"]
    if gaps and not expression.is_boolean:
        lines += [f"(define-fun {name}_missing () Bool (not {terms.present(expression)}))"]
    return "\n".join([*lines, ""])


def _gap_symbols(columns: Collection[str], taken: Collection[str]) -> dict[str, str]:
    names = identifiers([f"{column} is missing" for column in columns], valid=_is_symbol, taken=taken)
    return {column: f"|{symbol}|" for column, symbol in zip(columns, names.values(), strict=True)}


def _logic(expression: Expression, integers: bool, fractional: bool) -> str:
    if has_cells(expression):
        return "ALL"
    degree = "N" if any(isinstance(node, Product) for node in expression.walk()) else "L"
    return f"QF_{degree}{'RA' if not integers else 'IRA' if fractional else 'IA'}"


def gap_columns(expressions: Collection[Expression], missing: bool | Collection[str] | None) -> list[str]:
    """The columns whose cells may be missing: all, none, or by default those that an expression asks about.

    Names are of further columns: those, and the ones that an expression asks about.
    """
    used = dict.fromkeys(name for each in expressions for name in each.variables)
    if isinstance(missing, bool):
        return [name for name in used if missing]
    nodes = (node for each in expressions for node in each.walk())
    asked = {node.column.name for node in nodes if isinstance(node, Missing)}
    return [name for name in used if name in asked or name in (missing or ())]


def number_term(symbol: str, kind: Kind, column_sort: str, sort: str) -> str:
    """A column as a number of a sort; a date in microseconds; texts and truth values as they are."""
    if kind in (Kind.TEXT, Kind.BOOLEAN):
        return symbol
    if kind in TEMPORAL:
        symbol, column_sort = f"(* {UNITS['day']} {symbol})" if kind == Kind.DATE else symbol, "Int"
    return f"(to_real {symbol})" if column_sort != sort else symbol


def _is_symbol(name: str) -> bool:
    """Whether a name can stand between bars and stays free: solvers use names that begin with . or @ themselves."""
    return name.isprintable() and not set(name) & set("|\\") and name[:1] not in (".", "@") and name not in RESERVED


def string(words: str) -> str:
    """Write a text of sort String."""
    letters = (
        letter if " " <= letter <= "~" and letter not in '\\"' else f"\\u{{{ord(letter):x}}}" for letter in words
    )
    return f'"{"".join(letters)}"'


@dataclass(frozen=True)
class Terms:
    """Writes expressions whose numbers are of a sort, ``Int`` or ``Real``; as ``Int`` they must have no fractions."""

    symbols: Mapping[str, str]
    """The constant for each column."""
    column_sort: str
    """The sort of columns of numbers."""
    sort: str
    missing: Mapping[str, str] = field(default_factory=dict)
    """For columns that may be missing, the constant that says so."""
    text: Callable[[str], str] = string
    """How a text is written."""

    def guarded(self, expression: Expression) -> str:
        """Write an expression in which a comparison with a missing cell is false."""
        return self.term(with_presence(expression, every=True) if self.missing else expression)

    def present(self, number: Expression) -> str:
        """Write the formula that a number is not missing."""
        return self.term(presence(number, every=True)) if self.missing else "true"

    def term(self, node: Expression) -> str:
        """Write an expression as it is."""
        match node:
            case Variable(name, kind):
                return number_term(self.symbols[name], kind, self.column_sort, self.sort)
            case Truth(value):
                return str(value).lower()
            case Constant(value):
                return _number(value, self.sort)
            case Linear():
                parts = [self.part(coefficient, atom) for coefficient, atom in node.parts()]
                return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"
            case Compare():
                return self.comparison(node)
            case Count() | Order():
                return self.term(as_choices(node))
            case Condition():
                return self.condition(node)
            case And(parts):
                return self.conjunction(parts)
        functions = {Or: "or", Not: "not", Where: "ite", Product: "*"}
        return f"({functions[type(node)]} {' '.join(map(self.term, node.children))})"

    def comparison(self, node: Compare) -> str:
        """Write a comparison: that of dates as integers, in days if it can be, which solvers find easier."""
        function = "distinct" if node.operator == "!=" else node.operator
        if not _has_times_only(node):
            return f"({function} {self.term(node.left)} {self.term(node.right)})"
        dates = set(node.kinds.values()) == {Kind.DATE}
        sides = (_with_constant_over(UNITS["day"], side) if dates else side for side in node.children)
        cleared = with_integer_coefficients(Compare(node.operator, *sides))
        if dates:  # a symbol counts days
            cleared = substitute(cleared, {name: Variable(name) for name in node.kinds})
        one, other = map(replace(self, sort="Int", column_sort="Int").term, cleared.children)
        return f"({function} {one} {other})"

    def conjunction(self, parts: Collection[Expression]) -> str:
        """Write a conjunction, without the cells that are never missing."""
        always = [isinstance(part, Missing) and part.column.name not in self.missing for part in parts]
        kept = [self.term(part) for part, left_out in zip(parts, always, strict=True) if not left_out or part.holds]  # type: ignore[attr-defined]
        return f"(and {' '.join(kept)})" if len(kept) > 1 else kept[0] if kept else "true"

    def condition(self, node: Condition) -> str:
        """Write a condition about a text, a truth value or a missing cell."""
        match node:
            case Missing(column, _):
                written = self.missing.get(column.name, "false")
            case Flag(column, _):
                written = self.symbols[column.name]
            case OneOf(column, _, texts):
                equal = [f"(= {self.symbols[column.name]} {self.text(each)})" for each in texts]
                written = equal[0] if len(equal) == 1 else f"(or {' '.join(equal)})"
            case _:
                raise TypeError(f"cannot write {node!r} as SMT-LIB")
        return written if node.holds else f"(not {written})"

    def part(self, coefficient: Fraction, atom: Expression | None) -> str:
        """Write a part of a sum."""
        if atom is None:
            return _number(coefficient, self.sort)
        written = self.term(atom)
        return written if coefficient == 1 else f"(* {_number(coefficient, self.sort)} {written})"


def _has_times_only(node: Compare) -> bool:
    """Whether sums of dates, times and durations are compared, without columns of numbers."""
    plain = (isinstance(inner, Compare | Linear | Constant | Variable) for inner in node.walk())
    return is_temporal(node) and all(plain) and Kind.NUMBER not in node.kinds.values()


def _with_constant_over(divisor: int, side: Expression) -> Expression:
    match side:
        case Constant(value):
            return Constant(value / divisor)
        case Linear(terms, constant):
            return Linear(terms, constant / divisor)
    return side


def _number(value: Fraction, sort: str) -> str:
    above, below = (
        f"{text.number(Fraction(n))}{'.0' if sort == 'Real' else ''}" for n in abs(value).as_integer_ratio()
    )
    size = above if value.denominator == 1 else f"(/ {above} {below})"
    return f"(- {size})" if value < 0 else size
