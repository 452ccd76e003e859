"""ONNX: the models are run in onnxruntime, with the optimisations that it makes by default."""

import json
import warnings

import numpy as np
import onnx
import onnxruntime
import pytest

from nsr.program import Compare, Constant, Program, Truth, Variable, Where
from nsr.program.emit import InexactWarning, emit
from nsr.program.emit.json import load
from tests.program.emit.samples import agrees, float_rows, programs

a, b = Variable("a"), Variable("b")


def session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


@pytest.mark.usefixtures("unchecked")
def test_models_give_the_same_bits_as_the_tree():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactWarning)
        models = [(program, emit(program, "onnx")) for program in programs() + programs(100, rounded=True)]
    for program, model in models:
        (answer,) = session(model).run(["answer"], {name: float_rows()[name] for name in program.inputs})
        assert answer.dtype == (bool if program.expression.is_boolean else np.float64)
        assert agrees(answer, program), program


def test_a_model_documents_itself():
    program = Program(Where(Compare(">", a, b), a + 4, b), ("b", "unused", "a"))
    model = emit(program, "onnx")
    assert model.graph.doc_string == "where(a > b, a + 4, b)"
    assert [value.name for value in model.graph.input] == ["b", "a"]
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert load(metadata["program"]) == program
    assert json.loads(metadata["inputs"]) == {"b": "b", "a": "a"}
    onnx.checker.check_model(model, full_check=True)


def test_equal_subtrees_are_computed_once():
    common = Where(Compare(">", a, b), a, b)
    operations = [node.op_type for node in emit(Program(Compare(">", common + a, common * 2)), "onnx").graph.node]
    assert operations.count("Where") == 1


@pytest.mark.parametrize("expression", [Truth(True), Constant(2.5)])
def test_a_program_without_inputs_is_a_model_without_inputs(expression):
    (answer,) = session(emit(Program(expression), "onnx")).run(None, {})
    assert answer.shape == ()
    assert answer == expression.value


NASTY = (
    "answer",
    "\ud800",
    "\0",
    "a/b:0",
    " ",
    "größe",
    "constant_1",
    "mul_1",
    "sub_2",
    "a\nb",
    'a"; drop table t; --',
)


def test_names_never_become_code():
    total = Constant(1) * 1
    for index, name in enumerate(NASTY):
        total = total + Variable(name) * (2 * index + 3)
    model = emit(Program(total, NASTY), "onnx")
    names = json.loads(next(entry.value for entry in model.metadata_props if entry.key == "inputs"))
    assert list(names.values()) == list(NASTY)
    assert [written for written, name in names.items() if written != name] == ["answer_1", "x"]
    rows = {written: np.array([1.0, 0.0]) for written in names}
    assert session(model).run(None, rows)[0].tolist() == [1 + sum(2 * i + 3 for i in range(len(NASTY))), 1]


def test_numbers_that_do_not_fit_give_a_warning():
    with pytest.warns(InexactWarning, match="^9007199254740993 is not a float64: the model uses the nearest$"):
        emit(Program(a + (2**53 + 1)), "onnx")
    with pytest.raises(ValueError, match="^target 'onnx' computes in float64, which cannot represent 1000"):
        emit(Program(a + 10**400), "onnx")
