"""First steps of a new user: the public names, and how programs look in a shell and in a notebook."""

import re
from pathlib import Path

import nsr.program
from nsr.program import Fold, Paths, Program, Variable, Where, load
from nsr.program.folds import MINIMA

a, b = Variable("a"), Variable("b")
PUBLIC = {name: getattr(nsr.program, name) for name in nsr.program.__all__}


def test_a_rule_is_written_with_operators_saved_and_loaded():
    program = Program(Where((a > b) & (a >= 3) | b.eq(0), a + 1, 0))
    assert str(program) == "where(b == 0 or a > b and a >= 3, a + 1, 0)"
    assert program({"a": 4, "b": 3}) == 5
    assert load(program.emit("json")) == program


def test_the_public_names_are_those_a_user_needs():
    assert "load" in PUBLIC
    assert not {"FIRST", "ITEM", "MINIMA"} & set(dir(nsr.program))
    assert len(PUBLIC) <= 24


def test_loops_evaluate_from_their_repr():
    minimum = MINIMA[0]
    assert repr(minimum) == (
        "Fold(state='best', start=Variable('first'), step=Where(Compare('>', Variable('best'), Variable('x')),"
        " Variable('x'), Variable('best')))"
    )
    assert eval(repr(minimum), dict(PUBLIC)) == minimum
    assert eval(repr(Paths()), dict(PUBLIC)) == Paths()


def test_a_program_is_a_formula_in_a_notebook():
    assert Program(Where(a > b, a, 0.5))._repr_latex_() == (
        r"$\begin{cases} a & \text{if } a > b \\ 0.5 & \text{otherwise} \end{cases}$"
    )


def test_loops_are_preformatted_text_in_a_notebook():
    fold = Fold("best", Variable("first"), Where(Variable("best") < Variable("x"), Variable("x"), Variable("best")))
    assert fold._repr_html_() == ("<pre>best = first\nfor x in rest:\n    best = best if best &gt; x else x</pre>")
    assert Paths()._repr_html_().startswith("<pre>until no distance changes, at every node:\n    first, rest = ")
    assert Paths()._repr_html_().endswith("    its distance = best</pre>")


def test_the_example_in_the_documentation_prints_what_the_page_shows(capsys):
    page = (Path(__file__).parents[2] / "docs" / "programs.md").read_text()
    section = page[page.index("## Writing a program") :]
    code, printed = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", section, re.DOTALL).groups()
    exec(code, {})
    assert capsys.readouterr().out == printed
