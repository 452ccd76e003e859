"""JSON: saved programs load again, and nothing else does."""

import json
import time
import tracemalloc
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nsr.program.emit
from nsr.errors import InputError
from nsr.program import Compare, Constant, Count, Linear, Order, Program, Truth, Variable, Where
from nsr.program.emit import emit
from nsr.program.emit.json import CHARACTERS, FORMAT, load
from tests.program.emit.samples import programs
from tests.program.strategies import INTEGRAL
from tests.program.strategies import programs as drawn

SCHEMA = json.loads((Path(nsr.program.emit.__file__).parent / "program.schema.json").read_text())
VALID = jsonschema.Draft202012Validator(SCHEMA)
a, b = Variable("a"), Variable("b")


def test_the_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_format_is_as_documented():
    program = Program(Where(Compare(">", a, b), a * Fraction(1, 3) + 4, Constant(2**53)), ("b", "a"))
    assert json.loads(emit(program, "json")) == {
        "format": "nsr-program/1",
        "names": ["b", "a"],
        "expression": {
            "where": {"compare": ">", "left": {"variable": "a"}, "right": {"variable": "b"}},
            "then": {"sum": [["1/3", {"variable": "a"}]], "plus": 4},
            "else": {"constant": "9007199254740992"},
        },
    }
    assert emit(program, "json", indent=1).startswith('{\n "format"')


@pytest.mark.usefixtures("unchecked")
def test_every_program_loads_again():
    for index, program in enumerate(programs()):
        text = emit(program, "json")
        loaded = load(text)
        assert (loaded.expression, loaded.names) == (program.expression, program.names)
        if index % 10 == 0:
            VALID.validate(json.loads(text))


@given(st.one_of(drawn(), drawn(coefficients=INTEGRAL)))
def test_any_program_loads_again_and_satisfies_the_schema(program):
    text = emit(program, "json")
    assert load(text.encode()).expression == program.expression
    VALID.validate(json.loads(text))


def test_the_format_of_products_counts_and_order_statistics():
    program = Program(Where(Count(a > b, a > 1, b > 2) >= 2, 3 * a * a, Order(1, a, b)))
    data = json.loads(emit(program, "json"))
    VALID.validate(data)
    one, other = {"variable": "a"}, {"variable": "b"}
    assert data["expression"]["then"] == {"sum": [[3, {"product": [one, one]}]]}
    assert data["expression"]["else"] == {"order": 1, "of": [one, other]}
    assert list(data["expression"]["where"]["left"]) == ["count"]
    assert load(emit(program, "json")) == program


OLD = """{"format": "nsr-program/1", "names": ["b", "a"], "expression": {"where": {"and": [{"compare": ">", "left":
{"variable": "a"}, "right": {"variable": "b"}}, {"not": {"compare": "=", "left": {"variable": "a"}, "right":
{"constant": "1/3"}}}]}, "then": {"sum": [["1/3", {"variable": "a"}]], "plus": 4}, "else": {"constant": 2}}}"""


def test_programs_saved_before_there_were_products_load():
    assert str(load(OLD)) == "where(a != 1/3 and a > b, a/3 + 4, 2)"


def accepted(text: str) -> bool:
    """Whether a text loads; the only other outcome allowed is an InputError."""
    try:
        load(text)
    except InputError:
        return False
    return True


DATA = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from(["1/3", "0/2", "-1", "a", ">", "x", ""])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.fixed_dictionaries({"variable": st.sampled_from(["a", "b"])}),
        st.fixed_dictionaries({"constant": inner}),
        st.fixed_dictionaries({"sum": st.lists(st.tuples(inner, inner), max_size=2)}, optional={"plus": inner}),
        st.fixed_dictionaries({"where": inner, "then": inner, "else": inner}),
        st.fixed_dictionaries({"truth": inner}),
        st.fixed_dictionaries({"compare": st.sampled_from([">", "=", "=="]), "left": inner, "right": inner}),
        st.fixed_dictionaries({"and": st.lists(inner, max_size=2)}),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"product": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"count": st.lists(inner, max_size=2)}),
        st.fixed_dictionaries({"order": inner, "of": st.lists(inner, max_size=3)}),
        st.dictionaries(st.sampled_from(["variable", "or", "$ref", "truth"]), inner, max_size=2),
    ),
    max_leaves=12,
)


@given(DATA)
def test_whatever_loads_satisfies_the_schema(expression):
    data = {"format": FORMAT, "names": ["a", "b"], "expression": expression}
    if accepted(json.dumps(data)):
        VALID.validate(json.loads(json.dumps(data)))


def test_loaded_programs_are_canonical():
    nested = {"not": {"compare": ">", "left": {"sum": [["2/4", {"variable": "a"}]]}, "right": {"constant": "-3/1"}}}
    loaded = load(json.dumps({"format": FORMAT, "names": ["a"], "expression": nested}))
    assert str(loaded) == "a <= -6"


def wrapped(expression: str, names: str = '["a", "b"]') -> str:
    return f'{{"format": "{FORMAT}", "names": {names}, "expression": {expression}}}'


A = '{"variable": "a"}'
DEEP = '{"not": ' * 60 + '{"truth": true}' + "}" * 60
REFUSED = {
    "not UTF-8": (b"\xff\xfe", "a program must be UTF-8 text, got bytes that are not"),
    "empty": ("", "a program must be JSON: Expecting value at character 1"),
    "truncated": (wrapped(A)[:-9], "a program must be JSON: Unterminated string starting at character "),
    "not an object": ("[]", "a program must be an object of format, names and expression, got a list of 0"),
    "another format": (
        wrapped(A).replace(FORMAT, "nsr-program/9"),
        "the format of a program must be 'nsr-program/1' or 'nsr-program/2', got ",
    ),
    "an unknown key": (
        wrapped(A)[:-1] + ', "run": "os"}',
        "a program must be an object of format, names and expression, ",
    ),
    "a repeated key": (wrapped('{"truth": true, "truth": false}'), 'a key must not occur twice, got "truth"'),
    "an unknown node": (
        wrapped('{"eval": "1"}'),
        "a node here must be an object with one of variable, constant, sum, ",
    ),
    "a reference": (wrapped('{"$ref": "#/expression"}'), "a node here must be an object with one of variable, "),
    "two kinds at once": (
        wrapped('{"variable": "a", "truth": true}'),
        "a node 'variable' must have the keys kind, variable, got ",
    ),
    "a missing key": (
        wrapped(f'{{"where": {{"truth": true}}, "then": {A}}}'),
        "a node 'where' must have the keys else, then",
    ),
    "a formula for a number": (
        wrapped('{"sum": [[1, {"truth": true}]]}'),
        "a node here must be an object with one of variable",
    ),
    "a number for a formula": (
        wrapped(f'{{"not": {A}}}'),
        "a node here must be an object with one of truth, compare, ",
    ),
    "a truth that is a number": (wrapped('{"truth": 1}'), "the value of truth must be true or false, got 1"),
    "a number that is a truth": (
        wrapped('{"constant": true}'),
        'a number must be an integer or a string such as "1/3", got true',
    ),
    "a float": (wrapped('{"constant": 0.5}'), 'a number must be an integer or a string such as "1/3", got 0.5'),
    "NaN": (wrapped('{"constant": NaN}'), 'a number must be an integer or a string such as "1/3", got NaN'),
    "Infinity": (
        wrapped('{"constant": -Infinity}'),
        'a number must be an integer or a string such as "1/3", got -Infinity',
    ),
    "an exponent": (
        wrapped('{"constant": 1e999999999}'),
        'a number must be an integer or a string such as "1/3", got 1e999',
    ),
    "a denominator of 0": (
        wrapped('{"constant": "1/0"}'),
        'a number must be an integer or a string such as "1/3", got "1/0"',
    ),
    "digits of another script": (
        wrapped('{"constant": "\\u0661"}'),
        "a number must be an integer or a string such as ",
    ),
    "a number with a line end": (wrapped('{"constant": "1\\n"}'), "a number must be an integer or a string such as "),
    "a long number": (wrapped(f'{{"constant": {"9" * 5000}}}'), "a number must have at most 1,000 digits, got 5,000"),
    "a long fraction": (
        wrapped(f'{{"constant": "{"9" * 1500}/7"}}'),
        "a number must have at most 1,000 digits, got 1,500",
    ),
    "a coefficient of 0": (wrapped(f'{{"sum": [["0/3", {A}]]}}'), "a coefficient of a sum must not be 0"),
    "an empty sum": (wrapped('{"sum": []}'), "the parts of a sum must be a non-empty list, got a list of 0"),
    "an empty formula": (
        wrapped('{"and": []}'),
        "the parts of a formula must be a non-empty list, got a list of 0",
    ),
    "a term of three": (
        wrapped(f'{{"sum": [[1, {A}, 2]]}}'),
        "a term of a sum must be a list of a coefficient and a node",
    ),
    "a product of one": (wrapped(f'{{"product": [{A}]}}'), "a product must have at least two factors, got one"),
    "a product of formulas": (
        wrapped('{"product": [{"truth": true}, {"truth": true}]}'),
        "a node here must be an object with one of variable",
    ),
    "a count of numbers": (
        wrapped(f'{{"count": [{A}]}}'),
        "a node here must be an object with one of truth, compare, ",
    ),
    "an empty count": (wrapped('{"count": []}'), "the parts of a formula must be a non-empty list, got a list of 0"),
    "an order without numbers": (wrapped('{"order": 1, "of": []}'), "the parts of a order must be a non-empty list"),
    "a rank of 0": (
        wrapped(f'{{"order": 0, "of": [{A}]}}'),
        "the rank of an order must be an integer from 1 to 1, got 0",
    ),
    "a rank that is true": (
        wrapped(f'{{"order": true, "of": [{A}]}}'),
        "the rank of an order must be an integer from 1 to 1, got true",
    ),
    "a rank without numbers": (wrapped('{"order": 1}'), "a node 'order' must have the keys of, order, got "),
    "an unknown comparison": (
        wrapped(f'{{"compare": "==", "left": {A}, "right": {A}}}'),
        "a comparison must be one of > < >= ",
    ),
    "a comparison that is a list": (
        wrapped(f'{{"compare": [], "left": {A}, "right": {A}}}'),
        "a comparison must be one of > <",
    ),
    "an unknown variable": (
        wrapped('{"variable": "c"}'),
        'a variable must be one of the names, got "c"',
    ),
    "a variable that is a list": (
        wrapped('{"variable": ["a"]}'),
        "a variable must be one of the names, got ",
    ),
    "names that are one text": (wrapped(A, '"ab"'), 'names must be a list of non-empty strings, got "ab"'),
    "an empty name": (wrapped(A, '["a", ""]'), "names must be a list of non-empty strings, got a list of 2"),
    "equal names": (wrapped(A, '["a", "a"]'), "names must be unique"),
    "half a character": (
        wrapped(A, '["a", "\\ud800"]'),
        "a name must be valid Unicode, got half of a surrogate pair",
    ),
    "deep lists": ("[" * 100_000, "a program must be nested at most 50 deep"),
    "deep nodes": (wrapped(DEEP), "a program must be nested at most 50 deep"),
    "too long": (" " * (CHARACTERS + 1), "a program must have at most 200,000 characters, got 200,001"),
    "too many nodes": (
        wrapped(f'{{"sum": [{", ".join([f"[1, {A}]"] * 5001)}]}}'),
        "a program must have at most 5,000 nodes",
    ),
    "denominators without a common multiple": (
        wrapped(f'{{"sum": [{", ".join(f"""["1/{10**400 + k}", {A}]""" for k in range(9))}]}}'),
        "the denominators of a program must have a common multiple of at most 1,000 digits",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_errors_explain_what_is_wrong(why):
    text, sentence = REFUSED[why]
    with pytest.raises(InputError) as error:
        load(text)
    assert str(error.value).startswith(sentence)
    assert len(str(error.value)) < 200
    assert "\n" not in str(error.value)


ABOVE = f'{{"compare": ">", "left": {A}, "right": {{"constant": %s}}}}'
HARD = {
    "a wide sum": f'{{"sum": [{", ".join(f"[{k + 1}, {A}]" for k in range(4900))}]}}',
    "wide formulas": f'{{"or": [{", ".join(ABOVE % k for k in range(1200))}]}}',
    "a chain of choices": f'{{"where": {ABOVE % 0}, "then": {A}, "else": ' * 45 + '{"constant": 1}' + "}" * 45,
    "numbers that grow": f'{{"sum": [["{"9" * 900}", ' * 49 + A + "]]}" * 49,
    "powers of two below": ", ".join(
        f'["{k}/{2**3000}", {{"where": {ABOVE % k}, "then": {A}, "else": {{"constant": 1}}}}]' for k in range(1, 150)
    ).join(('{"sum": [', "]}")),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("why", HARD)
def test_the_largest_inputs_take_bounded_time_and_memory(why):
    tracemalloc.start()
    began = time.process_time()
    accepted(wrapped(HARD[why]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6
    assert time.process_time() - began < 60


def test_numbers_too_long_to_load_are_not_saved():
    with pytest.raises(InputError, match="^target 'json' holds numbers of at most 1,000 digits, got 1000"):
        emit(Program(a + 10**1000), "json")
    assert load(emit(Program(a + (10**1000 - 1)), "json")) == Program(a + (10**1000 - 1))


def test_names_never_become_code():
    nasty = ("__proto__", '"', "\\", "\0", "\u2028", "</script>", "$ref", "größe", "\U0001f600")
    program = Program(Linear(tuple((Fraction(1), Variable(name)) for name in nasty)), nasty)
    assert load(emit(program, "json")).names == nasty
    assert emit(program, "json").isascii()
    assert load(emit(Program(Truth(True)), "json")) == Truth(True)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("given", [None, {}, 3])
def test_only_strings_and_bytes_can_be_loaded(given):
    with pytest.raises(InputError, match=f"^a program must be a string or bytes, got {type(given).__name__}$"):
        load(given)


def constant(value):
    return wrapped(f'{{"constant": {value}}}')


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2**53 - 1, f"{2**53 - 1}"),
        (2**53, f'"{2**53}"'),
        (1 - 2**53, f"{1 - 2**53}"),
        (-(2**53), f'"-{2**53}"'),
        (Fraction(-1, 3), '"-1/3"'),
    ],
)
def test_integers_that_parsers_would_round_are_strings(value, written):
    assert f'{{"constant": {written}}}' in Program(Constant(value)).emit("json")


def test_a_thousand_digits_are_read_and_written():
    longest = 10**1000 - 1
    assert load(constant(longest)) == Program(Constant(longest))
    assert load(constant(f'"-{longest}/7"')) == Program(Constant(Fraction(-longest, 7)))
    assert load(Program(Constant(longest)).emit("json")) == Program(Constant(longest))
    with pytest.raises(InputError, match="^a number must have at most 1,000 digits, got 1,001$"):
        load(constant(longest + 1))
    with pytest.raises(InputError, match="^target 'json' holds numbers of at most 1,000 digits, got "):
        Program(Constant(longest + 1)).emit("json")
    with pytest.raises(InputError, match="^target 'json' holds numbers of at most 1,000 digits, got "):
        Program(Constant(Fraction(1, longest + 1))).emit("json")


def test_fifty_levels_and_five_thousand_nodes_are_read():
    def nested(levels):
        return wrapped('{"not": ' * (levels - 1) + '{"truth": true}' + "}" * (levels - 1))

    def joined(nodes):
        return wrapped('{"or": [' + ", ".join(['{"truth": true}'] * (nodes - 1)) + "]}")

    assert load(nested(50)) == Program(Truth(False))
    with pytest.raises(InputError, match="^a program must be nested at most 50 deep$"):
        load(nested(51))
    assert load(joined(5000)) == Program(Truth(True))
    with pytest.raises(InputError, match="^a program must have at most 5,000 nodes$"):
        load(joined(5001))


def test_two_hundred_thousand_characters_are_read():
    text = constant(3)
    assert load(text + " " * (CHARACTERS - len(text))) == Program(Constant(3))


def test_a_value_of_forty_characters_is_shown_and_a_longer_one_is_cut():
    for text, shown in (("x" * 38, "x" * 38 + '"'), ("x" * 39, "x" * 35 + "...")):
        with pytest.raises(InputError) as caught:
            load(f'"{text}"')
        assert str(caught.value).endswith(f'got "{shown}')
