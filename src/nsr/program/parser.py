"""Programs from text: what ``str`` prints, and what a person types. Nothing is executed, and the size is limited.

From loosest to tightest: ``or``, ``and``, ``not``, comparisons, sums, products, powers, then numbers, names, functions
such as ``where(...)`` and ``at least 2 of (...)``, and parentheses. A name is an identifier, or any text in backquotes
or double quotes.

Texts stand in single quotes, after ``=``, ``!=`` or ``in``: ``country in ('AT', 'DE')``. Dates are written as
``2024-01-31``, durations as ``30 days``. ``is missing`` and ``is present`` ask for missing cells, and the name of a
column of truth values is a formula.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import NoReturn

from nsr.errors import InputError, one_of, shortened
from nsr.program.conditions import Flag, Missing, OneOf
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
    coefficient_and_factors,
    total,
)
from nsr.program.kinds import Kind
from nsr.program.substitution import substitute
from nsr.program.text import KEYWORDS, NOT_NAMES
from nsr.program.times import ISO, POINTS, TEMPORAL, WORDS, constant_is_point, duration_text, parse_point, point_text

CHARACTERS, NESTING, DIGITS, EXPONENT, COPIES = 10_000, 100, 10_000, 400, 5_000
"""Limits that keep memory, time and Python's stack bounded; powers and absolute values copy nodes."""
TOO_LARGE = 10**DIGITS

OR, AND, COMPARE, SUM, PRODUCT, POWER = range(6)
"""How tightly an operator binds, loosest first."""

SPELLINGS = {"&": "and", "&&": "and", "|": "or", "||": "or", "==": "=", "<>": "!=", "^": "**"}
LEVELS = {
    **{"or": OR, "and": AND, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "**": POWER},
    **dict.fromkeys((">", "<", ">=", "<=", "=", "!=", "in", "is"), COMPARE),
}

NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
SYMBOL = re.compile(r"=>|=<|<=|>=|==|!=|<>|&&|\|\||\*\*|[-+*/^(),<>=&|]")
QUOTED = re.compile(r"""`(?:[^`]|``)*`|"(?:[^"]|"")*"|'(?:[^']|'')*'""")
ESCAPE = re.compile(r"\\(?:([nrt\\])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|)")
LETTERS = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}

COUNTED: dict[tuple[str | None, ...], str] = {("at", "least"): ">=", ("at", "most"): "<=", ("exactly",): "="}
"""Words before ``2 of (p, q, r)``. They are no keywords: a name that a number or another name follows is no column."""


@dataclass(frozen=True)
class _Token:
    kind: str
    """``number``, ``time``, ``name``, ``text``, ``symbol`` (which includes the keywords) or ``end``."""
    value: str
    """The text, with a name unquoted and an operator in its usual spelling."""
    start: int
    end: int


@dataclass(frozen=True)
class _Operand:
    expression: Expression
    start: int
    end: int


def parse(
    text: str,
    names: Collection[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    *,
    plain: bool = False,
) -> Expression:
    """Read an expression; an ``InputError`` says what was expected, and where.

    Args:
        text: A formula or a number, such as ``price <= 0.9 * limit and not stock = 0``.
        names: The names that may occur; by default any.
        kinds: What the columns hold, for those that are not numbers; by default, what the text implies.
        plain: Whether an answer that is a date or a duration is an error.
    """
    if not isinstance(text, str):
        raise InputError(f"a program must be text, got {type(text).__name__}")
    if len(text) > CHARACTERS:
        raise InputError(f"a program must have at most {CHARACTERS:,} characters, got {len(text):,}")
    return _Parser(text, names, kinds).parse(plain=plain)


def _quoted(name: str) -> str:
    return shortened(repr(name))


class _Source:
    """The text, and errors about it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def error(self, problem: str, position: int | None = None) -> InputError:
        """An error about what stands at a position, counted from 0."""
        first = 0 if position is None else max(0, min(position - 30, len(self.text) - 60))
        shown = self.text[first : first + 60]
        shown = f"{'...' if first else ''}{shown}{'...' if first + 60 < len(self.text) else ''}"
        if position is not None:
            problem += " at the end" if position == len(self.text) else f" at position {position + 1}"
        return InputError(f"cannot read {shown!r}: {problem}")

    def tokens(self) -> list[_Token]:
        """Numbers, names and symbols, and a token for the end."""
        found, start = [], 0
        while start < len(self.text):
            if self.text[start].isspace():
                start += 1
            else:
                found.append(self._token(start))
                start = found[-1].end
        return [*found, _Token("end", "", len(self.text), len(self.text))]

    def _token(self, start: int) -> _Token:
        text = self.text
        if time := ISO.match(text, start):
            return _Token("time", time[0], start, time.end())
        if number := NUMBER.match(text, start):
            exponent = number[1] or "0"
            if len(exponent) > 9 or abs(int(exponent)) > EXPONENT:
                raise self.error(f"expected an exponent from -{EXPONENT} to {EXPONENT}", start)
            return _Token("number", number[0], start, number.end())
        if symbol := SYMBOL.match(text, start):
            if symbol[0] in ("=>", "=<"):
                raise self.error(f"expected {symbol[0][::-1]}, got {symbol[0]}", start)
            return _Token("symbol", SPELLINGS.get(symbol[0], symbol[0]), start, symbol.end())
        if text[start] in "`\"'":
            return self._quoted(start)
        if not text[start].isidentifier():
            raise self.error(f"expected a number, a name or an operator, got {text[start]!r}", start)
        end = next((end for end in range(start + 1, len(text)) if not f"a{text[end]}".isidentifier()), len(text))
        word = text[start:end]
        if word.lower() in KEYWORDS:
            return _Token("symbol", word.lower(), start, end)
        return _Token("name", word, start, end)

    def _quoted(self, start: int) -> _Token:
        quote, quoted = self.text[start], QUOTED.match(self.text, start)
        if quoted is None:
            raise self.error(f"expected a closing {quote} for the one", start)
        if quoted.end() - start == 2 and quote != "'":
            raise self.error(f"expected a name between {quote} and {quote}", start)
        content = quoted[0][1:-1].replace(quote * 2, quote)
        kind = "text" if quote == "'" else "name"
        return _Token(kind, ESCAPE.sub(lambda escape: self._letter(escape, start), content), start, quoted.end())

    def _letter(self, escape: re.Match[str], start: int) -> str:
        letter, *codes = escape.groups()
        code = int(next(filter(None, codes), "110000"), 16)
        if letter is None and code > 0x10FFFF:
            raise self.error(r"expected \\, \n, \r, \t, \x.., \u.... or \U........ in the text", start)
        return LETTERS[letter] if letter else chr(code)


class _Parser:
    """Recursive descent. One call of ``expression`` reads operators of all levels, so that the stack stays small."""

    def __init__(self, text: str, names: Collection[str] | None, kinds: Mapping[str, Kind] | None) -> None:
        self.source, self.names = _Source(text), names
        self.kinds, self.implied = kinds, dict[str, Kind]()
        self.tokens = self.source.tokens()
        self.position = self.depth = self.copies = 0
        self.times: Kind | None = None
        self.has_units = False
        self.timed = set[int]()
        """Where dates and durations begin."""
        self.plain = list[tuple[Compare, int]]()
        """Comparisons without dates and durations, and where their right sides begin."""
        self.denominator = 1
        self.read_level: tuple[Callable[[_Operand], Expression], ...] = (
            self.disjunction,
            self.conjunction,
            self.comparison,
            self.sum,
            self.product,
            self.power,
        )
        self.functions: dict[str, Callable[[_Token, list[_Operand]], Expression]] = {
            "where": self.choice,
            "min": lambda token, read: Order(1, *self.numbers(token, read)),
            "max": lambda token, read: Order(len(read), *self.numbers(token, read)),
            "median": self.median,
            "abs": self.absolute,
            "clip": self.clip,
            "smallest": self.smallest,
            "count": lambda token, read: Count(*self.formulas(token, read)),
        }

    @property
    def token(self) -> _Token:
        return self.tokens[self.position]

    def parse(self, *, plain: bool) -> Expression:
        operand = self.expression(OR)
        expression = operand.expression
        if self.token.kind != "end":
            raise self.expected("an operator or the end")
        if plain and operand.start in self.timed and not expression.is_boolean:
            self.mistaken(operand, "expected a number, got the date or duration")
        if isinstance(expression, Variable) and expression.kind == Kind.BOOLEAN:
            expression = Flag(expression)
        expression = self.not_too_deep(self.with_kinds(expression))
        for comparison, position in self.plain:
            self.check_plain(comparison, position)
        return expression

    def with_kinds(self, expression: Expression) -> Expression:
        """The expression with the kinds of columns that were given, or that the text implies."""
        while self.kinds is None and self.imply_from_others(expression):
            pass
        if not self.implied:
            return expression
        columns = {name: Variable(name, kind) for name, kind in self.implied.items()}
        try:
            return substitute(expression, columns)
        except ValueError:
            raise self.contradiction(expression, columns) from None

    def imply_from_others(self, expression: Expression) -> bool:
        """Columns that are compared with a text or a date hold such too; whether any became known by that."""
        before = len(self.implied)
        for node in expression.walk():
            if not isinstance(node, Compare):
                continue
            difference = total([(Fraction(1), node.left), (Fraction(-1), node.right)])
            terms = difference.terms if isinstance(difference, Linear) else ()
            columns = [atom for _, atom in terms if isinstance(atom, Variable)]
            if len(columns) != 2 or len(terms) != 2 or {weight for weight, _ in terms} != {Fraction(1), Fraction(-1)}:
                continue
            for one, other in (columns, columns[::-1]):
                kind = self.implied.get(one.name, one.kind)
                if kind in (Kind.TEXT, *TEMPORAL):
                    self.implied.setdefault(other.name, kind)
        return len(self.implied) > before

    def contradiction(self, expression: Expression, columns: Mapping[str, Variable]) -> InputError:
        """The error for a column that the text uses in two ways."""
        for name, column in columns.items():
            try:
                substitute(expression, {name: column})
            except ValueError:
                break
        kinds = f"kinds={{{name!r}: ...}} says what it is"
        return self.source.error(f"column {_quoted(name)} cannot be a {column.kind} and something else ({kinds})")

    def check_plain(self, comparison: Compare, position: int) -> None:
        """Raise an error where dates, times or durations are compared with a plain number."""
        known = {name: Variable(name, self.implied.get(name, kind)) for name, kind in comparison.kinds.items()}
        comparison = substitute(comparison, known)  # type: ignore[assignment]
        dates = [name for name, column in known.items() if column.kind in TEMPORAL]
        is_point = constant_is_point(comparison) if dates else None
        difference = total([(Fraction(1), comparison.left), (Fraction(-1), comparison.right)])
        constant = difference.constant if isinstance(difference, Linear) else Fraction(0)
        if is_point is None or not (constant or (is_point and isinstance(difference, Variable))):
            return
        written = point_text(-constant) or point_text(constant) if is_point else duration_text(abs(constant))
        if written is not None:  # otherwise there is no other way to write it
            wanted = "a date such as 2024-01-31" if is_point else "a duration such as 30 days"
            kind = known[dates[0]].kind
            raise self.source.error(
                f"column {_quoted(dates[0])} is a {kind}: expected {wanted}, got a number", position
            )

    def variable(self, name: str) -> Variable:
        return Variable(name, (self.kinds or {}).get(name, Kind.NUMBER))

    def imply(self, column: Variable, kind: Kind, position: int) -> Variable:
        """A column that must be of a kind; an error if another one was given."""
        if column.name in (self.kinds or {}) and column.kind != kind:
            raise self.source.error(f"column {_quoted(column.name)} is a {column.kind}, not a {kind},", position)
        if self.implied.setdefault(column.name, kind) != kind:
            before, hint = self.implied[column.name], f"kinds={{{column.name!r}: ...}} says what it is"
            raise self.source.error(f"column {_quoted(column.name)} cannot be a {before} and a {kind} ({hint})")
        return Variable(column.name, kind)

    def expected(self, what: str) -> InputError:
        return self.source.error(f"expected {what}", self.token.start)

    def not_too_deep(self, expression: Expression) -> Expression:
        if _depth(expression) > NESTING:
            raise self.too_deep()
        return expression

    def too_deep(self) -> InputError:
        return self.source.error(f"expected at most {NESTING} levels of nesting")

    def take(self, *symbols: str) -> str | None:
        """Move past the token if it is one of these symbols."""
        if self.token.kind != "symbol" or self.token.value not in symbols:
            return None
        self.position += 1
        return self.tokens[self.position - 1].value

    def expression(self, level: int) -> _Operand:
        """Read operands joined by operators that bind at least as tightly as ``level``."""
        self.depth += 1
        if self.depth > NESTING:
            raise self.too_deep()
        left = self.operand()
        while (found := self.level_of_operator()) >= level:
            start, read = left.start, self.read_level[found]
            left = _Operand(read(left), start, self.tokens[self.position - 1].end)
        self.depth -= 1
        return left

    def level_of_operator(self) -> int:
        if self.token.kind != "symbol":
            return -1
        if self.token.value == "not" and self.tokens[self.position + 1].value == "in":
            return COMPARE
        return LEVELS.get(self.token.value, -1)

    def operand(self) -> _Operand:
        token = self.token
        self.position += token.kind != "end"
        expression = self.operand_at(token)
        if (unit := WORDS.get(self.word(self.token) or "")) is not None and not expression.is_boolean:
            self.position += 1
            self.has_units = True
            self.timed.add(token.start)
            expression = self.scaled(Fraction(unit), expression, token.start)
        return _Operand(expression, token.start, self.tokens[self.position - 1].end)

    def operand_at(self, token: _Token) -> Expression:
        match token.kind, token.value:
            case "number", digits:
                return Constant(self.limited(Fraction(Decimal(digits)), token.start))
            case "name", name:
                if (count := self.count_comparison(token)) is not None:
                    return count
                return self.call(token) if self.take("(") else self.variable(self.known(name, token))
            case "time", written:
                return Constant(self.point(written, token))
            case "symbol", ("true" | "false") as truth:
                return Truth(truth == "true")
            case "symbol", "(":
                inner = self.expression(OR)
                self.close("an operator or ')'")
                self.copy_time(inner, token.start)
                return inner.expression
            case "symbol", "not":
                return Not(self.formula(self.expression(COMPARE), "not"))
            case "symbol", ("-" | "+") as sign:
                inner = self.expression(POWER)
                self.copy_time(inner, token.start)
                return self.scaled(Fraction(f"{sign}1"), self.number(inner, sign), token.start)
        raise self.source.error("expected a number, a name or '('", token.start)

    def copy_time(self, inner: _Operand, start: int) -> None:
        """What begins with a date or a duration in it is one."""
        if inner.start in self.timed:
            self.timed.add(start)

    def point(self, written: str, token: _Token) -> int:
        value = parse_point(written)
        if value is None:
            raise self.source.error(f"expected a date that exists, got {_quoted(written)}", token.start)
        self.timed.add(token.start)
        self.times = Kind.DATE if len(written) == 10 and self.times != Kind.TIMESTAMP else Kind.TIMESTAMP
        return value

    def close(self, expected: str, symbol: str = ")") -> None:
        if not self.take(symbol):
            raise self.expected(expected)

    def call(self, token: _Token) -> Expression:
        """Read what follows a name and ``(``."""
        if token.value not in self.functions:
            problem = f"expected a function, one of {', '.join(self.functions)}, got {_quoted(token.value)}"
            raise self.source.error(problem, token.start)
        read = self.arguments()
        if any(operand.start in self.timed and not operand.expression.is_boolean for operand in read):
            self.timed.add(token.start)
        return self.not_too_deep(self.functions[token.value](token, read))

    def arguments(self) -> list[_Operand]:
        """Read operands separated by commas, and the closing parenthesis."""
        read = [self.expression(OR)]
        while self.take(","):
            read.append(self.expression(OR))
        self.close("an operator, ',' or ')'")
        return read

    def numbers(self, token: _Token, read: list[_Operand]) -> list[Expression]:
        return [self.number(operand, token.value) for operand in read]

    def formulas(self, token: _Token, read: list[_Operand]) -> list[Expression]:
        return [self.formula(operand, token.value) for operand in read]

    def choice(self, token: _Token, read: list[_Operand]) -> Expression:
        if len(read) != 3:
            raise self.source.error(f"expected where(condition, a, b), got {len(read)} of these", token.start)
        return Where(self.formula(read[0], "where"), *self.numbers(token, read[1:]))

    def median(self, token: _Token, read: list[_Operand]) -> Expression:
        if len(read) % 2 == 0:
            raise self.source.error(f"expected an odd number of numbers for 'median', got {len(read)}", token.start)
        return Order(len(read) // 2 + 1, *self.numbers(token, read))

    def absolute(self, token: _Token, read: list[_Operand]) -> Expression:
        if len(read) != 1:
            raise self.source.error(f"expected one number for 'abs', got {len(read)}", token.start)
        (number,) = self.numbers(token, read)
        self.copy(number, 1, token.start)
        return Order(2, number, -number)

    def clip(self, token: _Token, read: list[_Operand]) -> Expression:
        match self.numbers(token, read):
            case [number, Constant(low), Constant(high)] if low < high:
                return Order(2, number, low, high)
        raise self.source.error("expected clip(a, low, high) with two constants, low less than high,", token.start)

    def smallest(self, token: _Token, read: list[_Operand]) -> Expression:
        match self.numbers(token, read):
            case [Constant(rank), *parts] if rank in range(1, len(parts) + 1):
                return Order(int(rank), *parts)
        problem = f"expected smallest(k, a, b, ...) with k an integer from 1 to {max(1, len(read) - 1)},"
        raise self.source.error(problem, token.start)

    def count_comparison(self, token: _Token) -> Expression | None:
        """Read what follows ``exactly`` in ``exactly 2 of (p, q, r)``, if that is what stands here."""
        words = (self.word(token),) if self.word(token) == "exactly" else (self.word(token), self.word(self.token))
        number = self.position + len(words) - 1
        if words not in COUNTED:
            return None
        written = self.tokens[number]
        if written.kind != "number" and (len(words) == 2 or self.word(written) == "of"):
            raise self.source.error(f"expected an integer after '{' '.join(filter(None, words))}'", written.start)
        if written.kind != "number":
            return None
        self.position = number + 1
        value = self.limited(Fraction(Decimal(written.value)), written.start)
        if value.denominator > 1:
            raise self.source.error(f"expected an integer before 'of', got {written.value},", written.start)
        if self.word(self.token) != "of":
            raise self.expected("'of' and formulas in parentheses")
        self.position += 1
        self.close("'(' and formulas", "(")
        formulas = self.formulas(self.tokens[number + 1], self.arguments())
        return self.not_too_deep(Compare(COUNTED[words], Count(*formulas), value))

    def word(self, token: _Token) -> str | None:
        """A name that is not quoted, in small letters."""
        return token.value.lower() if token.kind == "name" and self.source.text[token.start] not in '`"' else None

    def disjunction(self, first: _Operand) -> Expression:
        return Or(*self.joined(first, "or", AND))

    def conjunction(self, first: _Operand) -> Expression:
        return And(*self.joined(first, "and", COMPARE))

    def joined(self, first: _Operand, word: str, tighter: int) -> list[Expression]:
        parts = [self.formula(first, word)]
        while self.take(word):
            parts.append(self.formula(self.expression(tighter), word))
        return parts

    def comparison(self, left: _Operand) -> Expression:
        """Read one comparison, or a chain of them: ``a < b < c`` is ``a < b and b < c``."""
        if self.token.value in ("is", "in", "not"):
            return self.condition(left)
        parts: list[Expression] = []
        while symbol := self.take(">", "<", ">=", "<=", "=", "!="):
            one = self.number(left, symbol)
            if parts and any(node.is_boolean for node in one.walk()):  # nested, these would double again and again
                problem = "expected 'and' between two comparisons of where(...) or count(...)"
                raise self.source.error(problem, left.start)
            if self.token.kind == "text":
                parts.append(self.text_comparison(left, symbol))
                break
            right = self.expression(SUM)
            parts.append(self.compared(symbol, one, left, right))
            left = right
        return parts[0] if len(parts) == 1 else And(*parts)

    def compared(self, symbol: str, one: Expression, left: _Operand, right: _Operand) -> Expression:
        """A comparison; dates and durations in it imply what its columns are."""
        other = self.number(right, symbol)
        for side in (one, other):
            if isinstance(side, Variable) and side.kind == Kind.BOOLEAN:
                hint = f"write {_quoted(side.name)[1:-1]} or not {_quoted(side.name)[1:-1]}"
                raise self.source.error(f"column {_quoted(side.name)} is true or false ({hint}),", right.start)
        has_times = self.times is not None or self.has_units
        timed = [operand.start in self.timed for operand in (left, right)]
        if any(timed) and not all(timed):
            self.check_not_plain((left, right)[timed.index(False)])
        if has_times:
            self.imply_times(total([(Fraction(1), one), (Fraction(-1), other)]))
        self.times, self.has_units = None, False
        try:
            comparison = Compare(symbol, one, other)
            if not has_times:
                self.plain.append((comparison, right.start))
            return comparison
        except ValueError:
            raise self.source.error("expected columns of the same kind on both sides", right.start) from None

    def check_not_plain(self, operand: _Operand) -> None:
        """Raise an error for columns that are known to be numbers beside a date or a duration."""
        used = operand.expression.variables
        if used and all((self.kinds or {}).get(name) == Kind.NUMBER for name in used):
            wanted = "expected no date or duration beside it (or a unit such as days after it),"
            raise self.source.error(f"column {_quoted(used[0])} is a number: {wanted}", operand.start)

    def imply_times(self, difference: Expression) -> None:
        """What columns hold that are compared with dates or durations: one that is with a duration only is one."""
        terms = difference.terms if isinstance(difference, Linear) else ((Fraction(1), difference),)
        columns = {atom.name: weight for weight, atom in terms if isinstance(atom, Variable) and abs(weight) == 1}
        kind = self.times or (Kind.DURATION if abs(sum(columns.values())) == len(columns) else Kind.DATE)
        for name in columns.keys() - (self.kinds or {}).keys():
            known = self.implied.get(name)
            self.implied[name] = known if known in (Kind.TIMESTAMP, Kind.TEXT, Kind.BOOLEAN) else kind

    def text_comparison(self, left: _Operand, symbol: str) -> Expression:
        """Read a text that a column is compared with: a date where the column holds dates."""
        token = self.token
        column = self.column(left, symbol)
        self.position += 1
        if column.kind in POINTS:
            return Compare(symbol, column, self.point(token.value, token))
        if symbol not in ("=", "!="):
            raise self.source.error("texts can only be compared by = and !=,", token.start)
        return OneOf(self.imply(column, Kind.TEXT, token.start), [token.value], symbol == "=")

    def column(self, operand: _Operand, place: str) -> Variable:
        if not isinstance(operand.expression, Variable):
            self.mistaken(operand, f"expected a column for {place!r}, got")
        return operand.expression

    def condition(self, left: _Operand) -> Expression:
        """Read what follows a column: ``is missing``, ``is not null``, ``in ('a', 'b')`` or ``not in ('a', 'b')``."""
        token, column = self.token, self.column(left, self.token.value)
        if self.take("is"):
            holds = not self.take("not")
            word = self.word(self.token)
            if word not in ("missing", "null", "present"):
                raise self.expected("'missing' or 'present'")
            self.position += 1
            return Missing(column, holds == (word != "present"))
        holds = not self.take("not")
        self.close("'in'", "in")
        self.close("'(' and texts", "(")
        texts = [self.text()]
        while self.take(","):
            texts.append(self.text())
        self.close("',' or ')'")
        return OneOf(self.imply(column, Kind.TEXT, token.start), texts, holds)

    def text(self) -> str:
        if self.token.kind != "text":
            raise self.expected("a text in single quotes")
        self.position += 1
        return self.tokens[self.position - 1].value

    def sum(self, first: _Operand) -> Expression:
        parts, operands = [(Fraction(1), self.number(first, self.token.value))], [first]
        while sign := self.take("+", "-"):
            operands.append(self.expression(PRODUCT))
            parts.append((Fraction(f"{sign}1"), self.number(operands[-1], sign)))
        timed = [operand.start in self.timed for operand in operands]
        for operand, has_unit in zip(operands, timed, strict=True):
            if any(timed) and not has_unit and isinstance(operand.expression, Constant) and operand.expression.value:
                self.mistaken(operand, "expected a duration such as 3 days beside dates and durations, got the number")
            if any(timed) and not has_unit:
                self.check_not_plain(operand)
        if any(timed):
            self.timed.add(first.start)
        return total(parts)

    def product(self, first: _Operand) -> Expression:
        coefficient, factors = Fraction(1), list[Expression]()
        operand, symbol = first, "*"
        while True:
            self.copy_time(operand, first.start)
            further, inner = coefficient_and_factors(self.number(operand, symbol))
            if symbol == "/" and inner:
                raise self.source.error(
                    "expected a number after '/' (multiply both sides by the column instead), got a column",
                    operand.start,
                )
            coefficient = self.limited(coefficient * self.multiplier(symbol, further, operand.start), operand.start)
            factors += inner
            if not (next_symbol := self.take("*", "/")):
                return self.multiplied(coefficient, factors, first.start)
            operand, symbol = self.expression(POWER), next_symbol

    def multiplied(self, coefficient: Fraction, factors: list[Expression], position: int) -> Expression:
        if not factors:
            return Constant(coefficient)
        return self.scaled(coefficient, factors[0] if len(factors) == 1 else Product(*factors), position)

    def power(self, base: _Operand) -> Expression:
        """Read ``**`` and a positive integer."""
        number = self.number(base, "**")
        self.take("**")
        token = self.token
        if token.kind == "number" and token.value.isdecimal() and len(token.value.lstrip("0")) > 4:
            raise self.expected("an exponent of at most 9,999 after '**'")
        if token.kind != "number" or not token.value.isdecimal() or len(token.value) > 4 or not int(token.value):
            raise self.expected("a positive integer after '**'")
        self.position += 1
        if self.token.value == "**" and self.token.kind == "symbol":
            raise self.expected("parentheses around one of two powers")
        times = int(token.value)
        coefficient, factors = coefficient_and_factors(number)
        self.copy(number, times - 1, token.start)
        if (abs(coefficient.numerator) * coefficient.denominator).bit_length() * times > 8 * DIGITS:
            raise self.too_long(token.start)
        return self.multiplied(self.limited(coefficient**times, token.start), [*factors] * times, token.start)

    def copy(self, number: Expression, times: int, position: int) -> None:
        """Check that powers and absolute values do not make the tree too large."""
        self.copies += sum(1 for _ in number.walk()) * times
        if self.copies > COPIES:
            raise self.source.error(f"expected powers and abs(...) of at most {COPIES:,} nodes", position)

    def multiplier(self, symbol: str, value: Fraction, position: int) -> Fraction:
        if symbol == "*":
            return value
        if value == 0:
            raise self.source.error("expected a number other than 0 after '/'", position)
        return 1 / value

    def scaled(self, factor: Fraction, number: Expression, position: int) -> Expression:
        product = total([(factor, number)])
        for coefficient, _ in product.parts() if isinstance(product, Linear) else ():
            self.limited(coefficient, position)
        return product

    def limited(self, value: Fraction, position: int) -> Fraction:
        """Check that a number, and the common denominator of all numbers, is not too long."""
        self.denominator = lcm(self.denominator, value.denominator)
        if max(abs(value.numerator), self.denominator) >= TOO_LARGE:
            raise self.too_long(position)
        return value

    def too_long(self, position: int) -> InputError:
        return self.source.error(f"expected numbers and denominators of at most {DIGITS:,} digits", position)

    def known(self, name: str, token: _Token) -> str:
        position = token.start
        if (self.word(token) or "") in NOT_NAMES and name not in (self.names or ()):
            raise self.source.error(
                f"expected a column or a number (missing cells: a is missing), got {name}", position
            )
        if self.names is None:
            return name
        try:
            return one_of("name", name, self.names)
        except InputError as unknown:
            raise self.source.error(f"at position {position + 1}, {unknown}") from None

    def formula(self, operand: _Operand, place: str) -> Expression:
        column = operand.expression
        if isinstance(column, Variable) and (column.kind == Kind.BOOLEAN or column.name not in (self.kinds or {})):
            return Flag(self.imply(column, Kind.BOOLEAN, operand.start))
        if not column.is_boolean:
            given = isinstance(column, Variable) and column.kind != Kind.BOOLEAN
            what = f"the column of kind {column.kind}" if given else "the number"  # type: ignore[attr-defined]
            self.mistaken(operand, f"expected a formula such as a > b for {place!r}, got {what}")
        return column

    def number(self, operand: _Operand, place: str) -> Expression:
        if operand.expression.is_boolean:
            self.mistaken(operand, f"expected a number for {place!r}, got the formula")
        return operand.expression

    def mistaken(self, operand: _Operand, problem: str) -> NoReturn:
        written = self.source.text[operand.start : operand.end]
        raise self.source.error(f"{problem} {written if len(written) <= 30 else written[:27] + '...'!r}", operand.start)


def _depth(expression: Expression) -> int:
    deepest, pending = 0, [(expression, 1)]
    while pending:
        node, depth = pending.pop()
        deepest = max(deepest, depth)
        pending += [(child, depth + 1) for child in node.children]
    return deepest
