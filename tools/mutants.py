"""Single changes of a source file: what ``tools/mutate.py`` tries one at a time."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
COMPARED |= {ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
COMPUTED |= {ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}


@dataclass(frozen=True)
class Mutant:
    """A changed expression or statement."""

    file: str
    """Below src/nsr."""
    line: int
    before: str
    after: str
    start: int
    end: int
    """Where it stands, in bytes."""
    first: int
    last: int
    """Lines of the statement around it, without what is indented below it."""
    in_function: bool
    """Whether calls run it; otherwise the import does."""

    def applied(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants(path: Path, root: Path) -> Iterator[Mutant]:
    """Every mutant of a file; ``root`` is the folder of the package."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    ignored, conditions = set(_ignored(tree)), set(_conditions(tree))
    for node, statement, in_function in _placed(tree):
        if id(node) in ignored:
            continue
        negated = [f"(not {ast.unparse(node)})"] if id(node) in conditions else []
        for after in [*_changes(node), *negated]:
            yield Mutant(
                file=str(path.relative_to(root)),
                line=node.lineno,
                before=ast.unparse(node),
                after=after,
                start=starts[node.lineno - 1] + node.col_offset,
                end=starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0),
                first=statement.lineno,
                last=_last_line(statement),
                in_function=in_function,
            )


def _placed(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, ast.stmt, bool]]:
    """Every expression and statement, the statement that it is part of, and whether that is inside a function."""

    def inside(node: ast.AST, statement: ast.stmt, in_function: bool) -> Iterator[tuple[ast.AST, ast.stmt, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                called = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                yield child, child, called
                yield from inside(child, child, called)
            else:
                yield child, statement, in_function or isinstance(child, ast.Lambda)
                yield from inside(child, statement, in_function or isinstance(child, ast.Lambda))

    for statement in tree.body:
        yield statement, statement, False
        for node, around, called in inside(statement, statement, False):
            if isinstance(node, ast.expr | ast.stmt):
                yield node, around, called


def _last_line(statement: ast.stmt) -> int:
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    if not body:
        return statement.end_lineno or statement.lineno
    first = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
    return max(statement.lineno, first.lineno - 1)


def _ignored(tree: ast.AST) -> Iterator[int]:
    """Annotations, texts and what is inside them, decorators and assertions: no behaviour that a test should pin."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts += [node.returns, *node.decorator_list]
        if isinstance(node, ast.ClassDef):
            parts += [*node.decorator_list, *node.bases]
        if isinstance(node, ast.JoinedStr | ast.Assert | ast.Raise):
            parts.append(node)
        for part in parts:
            yield from (id(inner) for inner in ast.walk(part)) if part is not None else ()


def _conditions(tree: ast.AST) -> Iterator[int]:
    """Names, calls and the like that decide what runs; a comparison there is changed as such."""
    for node in ast.walk(tree):
        tests = [node.test] if isinstance(node, ast.If | ast.While) else []
        tests += node.ifs if isinstance(node, ast.comprehension) else []
        yield from (id(test) for test in tests if isinstance(test, ast.Name | ast.Call | ast.Attribute | ast.Subscript))


def _changes(node: ast.expr | ast.stmt) -> Iterator[str]:
    """What may stand in the place of a node."""
    if isinstance(node, ast.stmt):
        yield from _changed_statement(node)
    elif isinstance(node, ast.Constant):
        yield from _changed_constant(node)
    else:
        for changed in _changed_expression(node):
            yield f"({ast.unparse(changed)})"


def _changed_expression(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        yield _with(node, ops=[COMPARED[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        yield _with(node, op=COMPUTED[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield _with(node, body=node.orelse, orelse=node.body)


def _changed_constant(node: ast.Constant) -> Iterator[str]:
    if isinstance(node.value, bool):
        yield repr(not node.value)
    elif isinstance(node.value, int):
        yield f"({node.value + 1})"
    elif isinstance(node.value, float):
        yield f"({2 * node.value + 1!r})"


def _changed_statement(node: ast.stmt) -> Iterator[str]:
    """Calls that are left out, loops that end another way, sums that become differences."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "pass"
    elif isinstance(node, ast.Break):
        yield "continue"
    elif isinstance(node, ast.Continue):
        yield "break"
    elif isinstance(node, ast.AugAssign) and type(node.op) in COMPUTED:
        yield ast.unparse(_with(node, op=COMPUTED[type(node.op)]()))


def _with(node: ast.AST, **changes: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed
