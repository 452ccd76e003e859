"""ONNX: a model over columns of float64, one input of shape [rows] for each, with the output ``answer``.

Exact: the same bits as the program on floats, if the runtime follows IEEE arithmetic, except for a minimum, maximum or
median of a NaN, such as inf - inf. Integers are exact up to 2^53.
An input is named after its column, unless protobuf cannot store the name or it is that of the output. The metadata of
the model hold the names of the columns (``inputs``) and the program (``program``), both as JSON.
"""

import json
from fractions import Fraction
from itertools import count
from typing import Any

from nsr.errors import needs_extra
from nsr.program.emit.exactness import reject_cells, reject_overflow, rounded_integer, short, warn_inexact
from nsr.program.emit.json import json_text
from nsr.program.emit.names import identifiers, printable, unwritable
from nsr.program.emit.targets import target
from nsr.program.expressions import (
    And,
    Compare,
    Constant,
    Count,
    Expression,
    Linear,
    Or,
    Order,
    Product,
    Truth,
    Variable,
    Where,
)
from nsr.program.lowering import as_choices
from nsr.program.program import Program

OPSET, IR_VERSION = 17, 8
"""Old enough for all current runtimes; onnxruntime has float64 kernels for every operation used here."""
RELATIONS = {">": "Greater", "<": "Less", ">=": "GreaterOrEqual", "<=": "LessOrEqual", "=": "Equal", "!=": "Equal"}
ANSWER = "answer"


@target("onnx")
def onnx_model(program: Program) -> Any:
    """Write the program as an ``onnx.ModelProto``, which is checked."""
    with needs_extra("export"):
        import onnx
        from onnx import TensorProto, helper

    reject_cells(program.expression, "onnx")
    reject_overflow(program.expression, "onnx")
    if (value := rounded_integer(program.expression)) is not None:
        warn_inexact(f"{short(value)} is not a float64: the model uses the nearest")
    names = identifiers(program.inputs, valid=lambda name: unwritable([name]) is None, taken=(ANSWER,))
    graph = _Graph(helper, TensorProto, names)
    graph.node("Identity", [graph.build(program.expression)], ANSWER)
    shape = ["rows"] if names else []
    kind = TensorProto.BOOL if program.expression.is_boolean else TensorProto.DOUBLE
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "program",
            [helper.make_tensor_value_info(name, TensorProto.DOUBLE, shape) for name in names.values()],
            [helper.make_tensor_value_info(ANSWER, kind, shape)],
            initializer=graph.constants,
            doc_string=printable(str(program)),
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="nsr",
    )
    columns = json.dumps({written: name for name, written in names.items()})
    helper.set_model_props(model, {"program": json_text(program), "inputs": columns})
    onnx.checker.check_model(model, full_check=True)
    return model


class _Graph:
    """Collects nodes in the order of computation; equal subtrees are computed once."""

    def __init__(self, helper: Any, types: Any, names: dict[str, str]) -> None:
        self.helper, self.types, self.names = helper, types, names
        self.used, self.numbers = {ANSWER, *names.values()}, count(1)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.built: dict[Expression, str] = {}

    def build(self, node: Expression) -> str:
        """Name of the value of a node of the tree."""
        if node not in self.built:
            self.built[node] = self.computed(node)
        return self.built[node]

    def computed(self, node: Expression) -> str:
        match node:
            case Variable(name):
                return self.names[name]
            case Truth(value):
                return self.constant(self.types.BOOL, value)
            case Constant(value):
                return self.number(value)
            case Linear():
                return self.sum(node)
            case Compare(operator, left, right):
                held = self.node(RELATIONS[operator], [self.build(left), self.build(right)])
                return self.node("Not", [held]) if operator == "!=" else held
            case And() | Or():
                first, *rest = map(self.build, node.parts)
                for part in rest:
                    first = self.node(type(node).__name__, [first, part])
                return first
            case Where():
                return self.node("Where", [self.build(child) for child in node.children])
        return self.computed_number(node)

    def computed_number(self, node: Expression) -> str:
        match node:
            case Product():
                return self.part(Fraction(1), node)
            case Order() if (absolute := node.absolute) is not None:
                return self.node("Abs", [self.build(absolute)])
            case Order(_, parts) if node.is_minimum or node.is_maximum:
                return self.node("Min" if node.is_minimum else "Max", [self.build(part) for part in parts])
            case Count() | Order():
                return self.build(as_choices(node))
        raise TypeError(f"cannot write {node!r} as ONNX")

    def sum(self, node: Linear) -> str:
        """Add from left to right; ``a - b`` has the same bits as ``a + (-b)``."""
        (coefficient, atom), *rest = node.parts()
        added = self.part(coefficient, atom)
        for coefficient, atom in rest:
            added = self.node("Sub" if coefficient < 0 else "Add", [added, self.part(abs(coefficient), atom)])
        return added

    def part(self, coefficient: Fraction, atom: Expression | None) -> str:
        """``n * x / d``, or ``n * x * y / d``: first multiply, from left to right, then divide."""
        if atom is None:
            return self.number(coefficient)
        value, *rest = map(self.build, atom.factors if isinstance(atom, Product) else (atom,))
        factor, divisor = coefficient.numerator, coefficient.denominator
        if factor == -1:
            value = self.node("Neg", [value])
        elif factor != 1:
            value = self.node("Mul", [self.number(Fraction(factor)), value])
        for further in rest:
            value = self.node("Mul", [value, further])
        return value if divisor == 1 else self.node("Div", [value, self.number(Fraction(divisor))])

    def number(self, value: Fraction) -> str:
        return self.constant(self.types.DOUBLE, float(value))

    def constant(self, kind: int, value: float | bool) -> str:
        name = self.fresh("constant")
        self.constants.append(self.helper.make_tensor(name, kind, [], [value]))
        return name

    def node(self, operation: str, inputs: list[str], output: str | None = None) -> str:
        output = output or self.fresh(operation.lower())
        self.nodes.append(self.helper.make_node(operation, inputs, [output]))
        return output

    def fresh(self, stem: str) -> str:
        """A name that no column and no other value has."""
        return next(name for number in self.numbers if (name := f"{stem}_{number}") not in self.used)
