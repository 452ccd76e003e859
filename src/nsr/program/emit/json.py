"""JSON: a program as data, to be saved and loaded; ``program.schema.json`` describes the format.

Exact everywhere: numbers are integers, or strings such as "1/3" for fractions and for integers beyond 2^53, which many
JSON parsers would round. Files from untrusted sources can be loaded: everything is checked, nothing is executed, and
the size is limited.
"""

import json
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import lcm
from typing import Any

from nsr.data import COMPARISONS
from nsr.errors import InputError
from nsr.program.conditions import Condition, Flag, Missing, OneOf
from nsr.program.emit.exactness import FLOAT_INTEGERS, short
from nsr.program.emit.names import unwritable
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
from nsr.program.kinds import Kind
from nsr.program.program import Program

FORMAT, WITH_KINDS = "nsr-program/1", "nsr-program/2"
"""Programs that only have numbers are written in the older format, which older versions can load."""
CHARACTERS, NODES, DEPTH, DIGITS = 200_000, 5_000, 50, 1_000
RATIONAL = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?")


@target("json")
def json_text(program: Program, *, indent: int | None = None) -> str:
    """Write the program as JSON, on one line unless an ``indent`` is given; ``load`` reads it."""
    expression = _node(program.expression)
    _Reader(program.names).read(expression)  # raises an error if the program could not be loaded again
    has_conditions = any(isinstance(node, Condition) for node in program.expression.walk())
    new = has_conditions or not set(program.expression.kinds.values()) <= {Kind.NUMBER}
    text = json.dumps(
        {"format": WITH_KINDS if new else FORMAT, "names": program.names, "expression": expression}, indent=indent
    )
    return _within(text)


def _node(node: Expression) -> dict[str, Any]:
    match node:
        case Variable(name, kind):
            return {"variable": name} if kind == Kind.NUMBER else {"variable": name, "kind": str(kind)}
        case OneOf():
            return {"in" if node.holds else "not in": list(node.texts), "column": _node(node.column)}
        case Flag() | Missing():
            return {type(node).__name__.lower(): node.holds, "column": _node(node.column)}
        case Constant(value):
            return {"constant": _number(value)}
        case Truth(value):
            return {"truth": value}
        case Linear(terms, constant):
            added = {"sum": [[_number(coefficient), _node(atom)] for coefficient, atom in terms]}
            return {**added, "plus": _number(constant)} if constant else added
        case Compare(operator, left, right):
            return {"compare": operator, "left": _node(left), "right": _node(right)}
        case And() | Or():
            return {type(node).__name__.lower(): [_node(part) for part in node.parts]}
        case Where(condition, then, otherwise):
            return {"where": _node(condition), "then": _node(then), "else": _node(otherwise)}
        case Product(parts) | Count(parts):
            return {type(node).__name__.lower(): [_node(part) for part in parts]}
        case Order(rank, parts):
            return {"order": rank, "of": [_node(part) for part in parts]}
    raise TypeError(f"cannot write {node!r} as JSON")


def _number(value: Fraction) -> int | str:
    if max(abs(value.numerator), value.denominator) >= 10**DIGITS:
        raise InputError(f"target 'json' holds numbers of at most {DIGITS:,} digits, got {short(value)}")
    return int(value) if value.denominator == 1 and abs(value) < FLOAT_INTEGERS else str(value)


def load(text: str | bytes) -> Program:
    """Load a program from JSON; an ``InputError`` explains what is wrong with the text.

    >>> from nsr.program import Program, Variable, load
    >>> text = Program(Variable("a") > 3).emit("json")
    >>> print(load(text))
    a > 3
    """
    if not isinstance(text, str | bytes):
        raise InputError(f"a program must be a string or bytes, got {type(text).__name__}")
    try:
        written = _within(text.decode("utf-8") if isinstance(text, bytes) else text)
        data = json.loads(
            written, object_pairs_hook=_object, parse_int=_integer, parse_float=_no_float, parse_constant=_no_float
        )
    except UnicodeDecodeError:
        raise InputError("a program must be UTF-8 text, got bytes that are not") from None
    except json.JSONDecodeError as error:
        wrong = error.msg.removesuffix(" at")
        raise InputError(f"a program must be JSON: {wrong} at character {error.pos + 1}") from None
    except RecursionError:
        raise InputError(_TOO_DEEP) from None
    return _program(data)


def _within(text: str) -> str:
    if len(text) > CHARACTERS:
        raise InputError(f"a program must have at most {CHARACTERS:,} characters, got {len(text):,}")
    return text


_TOO_DEEP = f"a program must be nested at most {DEPTH} deep"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(f"a key must not occur twice, got {_shown(key)}")
        found[key] = value
    return found


def _integer(digits: str) -> int:
    length = len(digits.removeprefix("-"))
    if length > DIGITS:
        raise InputError(f"a number must have at most {DIGITS:,} digits, got {length:,}")
    return int(digits)


def _no_float(digits: str) -> Any:
    raise InputError(f'a number must be an integer or a string such as "1/3", got {digits[:24]}')


def _shown(value: Any) -> str:
    """Describe a value in a few characters."""
    if isinstance(value, dict):
        return f"an object with the keys {', '.join(map(_shown, list(value)[:4]))}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, int) and not isinstance(value, bool):
        return short(value)
    shown = json.dumps(value)
    return shown if len(shown) <= 40 else f"{shown[:36]}..."


def _program(data: Any) -> Program:
    if not isinstance(data, dict) or set(data) != {"format", "names", "expression"}:
        raise InputError(f"a program must be an object of format, names and expression, got {_shown(data)}")
    if data["format"] not in (FORMAT, WITH_KINDS):
        wanted = " or ".join(map(repr, (FORMAT, WITH_KINDS)))
        raise InputError(f"the format of a program must be {wanted}, got {_shown(data['format'])}")
    names = data["names"]
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise InputError(f"names must be a list of non-empty strings, got {_shown(names)}")
    if unwritable(names) is not None:
        raise InputError("a name must be valid Unicode, got half of a surrogate pair")
    if len(set(names)) < len(names):
        raise InputError("names must be unique")
    try:
        return Program(_Reader(names).read(data["expression"]), tuple(names))
    except InputError:
        raise
    except ValueError as problem:  # kinds that do not go together
        raise InputError(str(problem)) from None


class _Reader:
    """Builds the tree from parsed JSON, and limits its nodes and denominators."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names, self.nodes, self.denominator = frozenset(names), 0, 1
        self.numbers: dict[str, tuple[set[str], Callable[[Any, int], Expression]]] = {
            "variable": ({"variable", "kind"}, self.variable),
            "constant": ({"constant"}, lambda data, _: Constant(self.rational(data["constant"]))),
            "sum": ({"sum", "plus"}, self.sum),
            "where": ({"where", "then", "else"}, self.where),
            "product": ({"product"}, self.product),
            "count": ({"count"}, lambda data, depth: Count(*self.parts(data["count"], depth))),
            "order": ({"order", "of"}, self.order),
        }
        self.formulas: dict[str, tuple[set[str], Callable[[Any, int], Expression]]] = {
            "truth": ({"truth"}, self.truth),
            "compare": ({"compare", "left", "right"}, self.compare),
            "and": ({"and"}, lambda data, depth: And(*self.parts(data["and"], depth))),
            "or": ({"or"}, lambda data, depth: Or(*self.parts(data["or"], depth))),
            "not": ({"not"}, lambda data, depth: Not(self.node(data["not"], depth, self.formulas))),
            "in": ({"in", "column"}, lambda data, _: self.one_of(data, "in")),
            "not in": ({"not in", "column"}, lambda data, _: self.one_of(data, "not in")),
            "flag": ({"flag", "column"}, lambda data, _: Flag(self.column(data), self.holds(data["flag"]))),
            "missing": ({"missing", "column"}, lambda data, _: Missing(self.column(data), self.holds(data["missing"]))),
        }

    def read(self, data: Any) -> Expression:
        return self.node(data, 1, {**self.numbers, **self.formulas})

    def node(
        self, data: Any, depth: int, kinds: dict[str, tuple[set[str], Callable[[Any, int], Expression]]]
    ) -> Expression:
        self.nodes += 1
        if self.nodes > NODES:
            raise InputError(f"a program must have at most {NODES:,} nodes")
        if depth > DEPTH:
            raise InputError(_TOO_DEEP)
        kind = next((kind for kind in kinds if kind in data), None) if isinstance(data, dict) else None
        if kind is None:
            raise InputError(f"a node here must be an object with one of {', '.join(kinds)}, got {_shown(data)}")
        keys, build = kinds[kind]
        if not set(data) <= keys or keys - set(data) - {"plus", "kind"}:
            raise InputError(f"a node {kind!r} must have the keys {', '.join(sorted(keys))}, got {_shown(data)}")
        return build(data, depth + 1)

    def variable(self, data: Any, _depth: int) -> Variable:
        name = data["variable"]
        if not isinstance(name, str) or name not in self.names:
            raise InputError(f"a variable must be one of the names, got {_shown(name)}")
        kind = data.get("kind", Kind.NUMBER)
        if not isinstance(kind, str) or kind not in list(Kind):
            raise InputError(f"the kind of a variable must be one of {', '.join(Kind)}, got {_shown(kind)}")
        return Variable(name, Kind(kind))

    def column(self, data: Any) -> Variable:
        column = data["column"]
        if not isinstance(column, dict) or "variable" not in column or not set(column) <= {"variable", "kind"}:
            raise InputError(f"the column of a condition must be a variable, got {_shown(column)}")
        return self.variable(column, 0)

    def one_of(self, data: Any, key: str) -> OneOf:
        texts = self.several(data[key], "list of texts")
        if not all(isinstance(text, str) for text in texts) or unwritable(texts) is not None:
            raise InputError("texts must be strings of valid Unicode")
        return OneOf(self.column(data), texts, key == "in")

    def holds(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise InputError(f"a condition must be true or false, got {_shown(data)}")
        return data

    def sum(self, data: Any, depth: int) -> Expression:
        terms = self.several(data["sum"], "sum")
        if not all(isinstance(term, list) and len(term) == 2 for term in terms):
            raise InputError("a term of a sum must be a list of a coefficient and a node")
        pairs = tuple((self.rational(term[0]), self.node(term[1], depth, self.numbers)) for term in terms)
        if not all(coefficient for coefficient, _ in pairs):
            raise InputError("a coefficient of a sum must not be 0")
        return Linear(pairs, self.rational(data.get("plus", 0)))

    def where(self, data: Any, depth: int) -> Expression:
        condition = self.node(data["where"], depth, self.formulas)
        return Where(condition, *(self.node(data[key], depth, self.numbers) for key in ("then", "else")))

    def product(self, data: Any, depth: int) -> Expression:
        factors = self.several(data["product"], "product")
        if len(factors) < 2:
            raise InputError("a product must have at least two factors, got one")
        return Product(*(self.node(factor, depth, self.numbers) for factor in factors))

    def order(self, data: Any, depth: int) -> Expression:
        rank, parts = data["order"], self.several(data["of"], "order")
        if not isinstance(rank, int) or isinstance(rank, bool) or not 1 <= rank <= len(parts):
            raise InputError(f"the rank of an order must be an integer from 1 to {len(parts)}, got {_shown(rank)}")
        return Order(rank, *(self.node(part, depth, self.numbers) for part in parts))

    def truth(self, data: Any, _depth: int) -> Expression:
        if not isinstance(data["truth"], bool):
            raise InputError(f"the value of truth must be true or false, got {_shown(data['truth'])}")
        return Truth(data["truth"])

    def compare(self, data: Any, depth: int) -> Expression:
        operator = data["compare"]
        if not isinstance(operator, str) or operator not in COMPARISONS:
            raise InputError(f"a comparison must be one of {' '.join(COMPARISONS)}, got {_shown(operator)}")
        return Compare(operator, *(self.node(data[side], depth, self.numbers) for side in ("left", "right")))

    def parts(self, data: Any, depth: int) -> list[Expression]:
        return [self.node(part, depth, self.formulas) for part in self.several(data, "formula")]

    def several(self, data: Any, what: str) -> list[Any]:
        if not isinstance(data, list) or not data:
            raise InputError(f"the parts of a {what} must be a non-empty list, got {_shown(data)}")
        return data

    def rational(self, data: Any) -> Fraction:
        if isinstance(data, str) and len(data) <= 2 * DIGITS + 2 and RATIONAL.fullmatch(data):
            above, _, below = data.partition("/")
            value = Fraction(_integer(above), _integer(below or "1"))
        elif isinstance(data, int) and not isinstance(data, bool):
            value = Fraction(data)
        else:
            raise InputError(f'a number must be an integer or a string such as "1/3", got {_shown(data)}')
        self.denominator = lcm(self.denominator, value.denominator)
        if self.denominator >= 10**DIGITS:
            raise InputError(f"the denominators of a program must have a common multiple of at most {DIGITS:,} digits")
        return value
