"""An independent parser for the LaTeX of programs, which shows that nothing in it is lost or ambiguous."""

import re
from fractions import Fraction

from nsr.program import And, Compare, Constant, Count, Expression, Or, Order, Truth, Variable, Where

TOKEN = re.compile(
    r"\\text\{if \}|\\text\{otherwise\}"
    r"|(?:\\text\{(?:\\[{}]|\{[^}]\}|[^{}]|\{\})*\}|\\mathrm\{\w+\}|[A-Za-z])(?:_\{\d+\})?"
    r"|\\operatorname\{\w+\}(?:_\{\d+\})?|\\left\||\\right\||\^\{\d+\}|,"
    r"|\\frac\{\d+\}\{\d+\}|\d+(?:\.\d+)?|\\(?:begin|end)\{cases\}|\\left\(|\\right\)|\\\\|\\[a-z]+|[-+<>=&]"
)
CALL = re.compile(r"\\(?:max|min|operatorname)")
NAME = re.compile(r"\\text\{(?!if \}|otherwise\})|\\mathrm|[A-Za-z]")
RELATIONS = {">": ">", "<": "<", r"\geq": ">=", r"\leq": "<=", "=": "=", r"\neq": "!="}
LETTERS = {"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textless": "<", "textgreater": ">"}
LETTERS |= {"textquotedbl": '"', "textbar": "|"}


def read(text: str) -> Expression:
    """Parse the expression."""
    reader = Reader(text)
    expression = reader.disjunction()
    assert not reader.tokens, reader.tokens
    return expression


class Reader:
    def __init__(self, text: str) -> None:
        self.tokens = TOKEN.findall(text)
        assert re.sub(r"\s", "", "".join(self.tokens)) == re.sub(r"\s", "", text)

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def take(self, expected: str | None = None) -> str:
        token = self.tokens.pop(0)
        assert expected in (None, token), (expected, token)
        return token

    def disjunction(self) -> Expression:
        return self.joined(Or, r"\lor", lambda: self.joined(And, r"\land", self.comparison))

    def joined(self, kind, symbol, part) -> Expression:
        parts = [part()]
        while self.peek() == symbol:
            self.take()
            parts.append(part())
        return kind(*parts) if len(parts) > 1 else parts[0]

    def comparison(self) -> Expression:
        left = self.sum()
        return Compare(RELATIONS[self.take()], left, self.sum()) if self.peek() in RELATIONS else left

    def sum(self) -> Expression:
        if self.peek() in (r"\top", r"\bot"):
            return Truth(self.take() == r"\top")
        added = -self.product() if self.peek() == "-" and self.take() else self.product()
        while self.peek() in ("+", "-"):
            added = added + self.product() if self.take() == "+" else added - self.product()
        return added

    def product(self) -> Expression:
        number = re.fullmatch(r"\\frac\{(\d+)\}\{(\d+)\}|(\d.*)", self.peek())
        if not number:
            return self.factors()
        self.take()
        value = Fraction(number[3]) if number[3] else Fraction(int(number[1]), int(number[2]))
        follows = self.peek() in (r"\left(", r"\begin{cases}", r"\left|") or NAME.match(self.peek())
        return value * self.factors() if follows or CALL.match(self.peek()) else Constant(value)

    def factors(self) -> Expression:
        product = self.power()
        while self.peek() == r"\cdot":
            self.take()
            product = product * self.power()
        return product

    def power(self) -> Expression:
        base = self.atom()
        return base ** int(self.take()[2:-1]) if self.peek().startswith("^") else base

    def atom(self) -> Expression:
        if self.peek() == r"\left(":
            self.take()
            inside = self.disjunction()
            self.take(r"\right)")
            return inside
        if self.peek() == r"\begin{cases}":
            return self.cases()
        if self.peek() == r"\left|":
            self.take()
            inside = self.sum()
            self.take(r"\right|")
            return Order(2, inside, -inside)
        if CALL.match(self.peek()):
            return self.call()
        return Variable(name(self.take()))

    def call(self) -> Expression:
        function, rank = re.fullmatch(r"\\(?:operatorname\{)?(\w+?)\}?(?:_\{(\d+)\})?", self.take()).groups()
        self.take(r"\left(")
        parts = [self.disjunction()]
        while self.peek() == ",":
            self.take()
            parts.append(self.disjunction())
        self.take(r"\right)")
        ranks = {"min": 1, "max": len(parts), "median": (len(parts) + 1) // 2, "clip": 2, "smallest": int(rank or 0)}
        return Count(*parts) if function == "count" else Order(ranks[function], *parts)

    def cases(self) -> Expression:
        parts = []
        for after in (r"\begin{cases}", "&"):
            self.take(after)
            if after == "&":
                self.take(r"\text{if }")
            parts.append(self.disjunction())
        self.take(r"\\")
        otherwise = self.disjunction()
        for after in ("&", r"\text{otherwise}", r"\end{cases}"):
            self.take(after)
        return Where(parts[1], parts[0], otherwise)


def name(token: str) -> str:
    written = re.fullmatch(r"(?:\\(text|mathrm)\{(.*)\}|([A-Za-z]))(?:_\{(\d+)\})?", token)
    kind, inside, letter, index = written.groups()
    if kind == "text":
        inside = re.sub(r"\\([a-z]+)\{\}|\\(.)|\{(.)\}", lambda m: LETTERS[m[1]] if m[1] else m[2] or m[3], inside)
    return (letter or inside) + (index or "")
