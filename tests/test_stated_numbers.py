"""Every number of README, CHANGELOG and docs is in a generated block, or in a table that says where it comes from."""

import re
from collections.abc import Iterator

import pytest

from tests import stated_numbers
from tests.test_measured import ROOT, measured

PROSE = ["README.md", "CHANGELOG.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]

FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2[^\n]*$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"``.*?``|`[^`]*`", re.DOTALL)
HEADING = re.compile(r"^#.*$", re.MULTILINE)
ADDRESS = re.compile(r"(?<=\])\([^)]*\)|https?://\S+|</?[a-z]+>|&#\d+;")
NUMBER_OF_AN_ITEM = re.compile(r"^\d+\. ", re.MULTILINE)
SECTION = r"(?:App\. )?\d\.\d(?:\.\d)?"
NAMES = re.compile(
    rf"\bSections? {SECTION}(?:(?:, | and | to ){SECTION})*|\({SECTION}(?:, {SECTION})*\)"
    r"|\b(?:Table|Figure|Python|version|formats?|schema|revision|SMT-LIB|ICML|mutmut|UTF|AVX|arXiv:?) ?-?\d[\d.]*"
    r"(?: and \d)?(?: \(\d{4}\))?|\[[a-z-]+ \d+\]|\b\d{4}-\d\d-\d\d\b|\b\d\d?/\d\d/\d{4}\b"
)
"""Sections, versions and dates; issues of other projects."""
WORDS = "four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|sixteen|twenty|thirty|forty|fifty|sixty|hundred"
WORDS += "|thousand|million|billion|dozen|half|third|quarter|fifth|sixth|eighth|tenth|hundredth|thirtieth|percent"
COUNTED = "times|seeds|trainings|tables|rules|candidates|kills|settings|rounds|rows|false|wrong|of (?:two|three)"
NUMERAL = re.compile(
    r"(?<![\w.^])[-+]?\d[\d,]*(?:\.\d+)?(?:x\d+)?(?:\^[\w(+)-]+|e-?\d+)?(?: %)?"
    rf"|\b(?:{WORDS})\b|\b(?:one|two|three) (?:{COUNTED})\b|\bone (?:\w+ )?in (?:two|three)\b",
    re.IGNORECASE,
)
"""Numbers in digits, words from four on, parts, and one to three where they count what may have been measured."""


def prose(page: str) -> str:
    """A page without generated blocks, code that stands alone, headings and addresses, on one line."""
    text = measured.MARKERS.sub(" ", page)
    for pattern in (FENCED, HEADING):
        text = pattern.sub(" ", text)
    text = NUMBER_OF_AN_ITEM.sub("", ADDRESS.sub("", text))
    return " ".join(text.split())


def statements(name: str, committed) -> Iterator[str]:
    """Pieces of a page whose numbers are known to be right."""
    for table in (stated_numbers.SETTINGS, stated_numbers.QUOTES, stated_numbers.FACTS):
        yield from table.get(name, ())
    for statement in stated_numbers.MEASURED.get(name, ()):
        yield statement(committed)


def unexplained(text: str, known: list[str]) -> list[str]:
    """Numbers in no statement, with what stands around them."""
    for statement in sorted(known, key=len, reverse=True):
        text = text.replace(statement, " ~ ")
    text = NAMES.sub(" ~ ", CODE.sub(" ~ ", text))
    return [f"{found[0]}: {text[max(0, found.start() - 40) : found.end() + 40]}" for found in NUMERAL.finditer(text)]


@pytest.fixture(scope="module")
def committed():
    return measured.Measured(ROOT / "results")


@pytest.mark.parametrize("name", PROSE)
def test_every_number_is_stated_somewhere(name, committed):
    text, known = prose((ROOT / name).read_text()), list(statements(name, committed))
    assert [statement for statement in known if statement not in text] == []
    assert unexplained(text, known) == []


def test_the_tables_name_pages_only():
    for table in (stated_numbers.SETTINGS, stated_numbers.QUOTES, stated_numbers.FACTS, stated_numbers.MEASURED):
        assert set(table) <= set(PROSE)


@pytest.mark.parametrize(
    "text",
    [
        *("at 10^13", "0.03 of it", "18 % of the pairs", "of 1e-12", "one seed of ten", "nine of ten rows", "-0.160"),
        *("two false rules", "ten times faster", "half of that", "a tenth of", "ten candidates", "[-10, 9]", "8x8"),
    ],
)
def test_numbers_are_noticed(text):
    assert unexplained(text, [])


def test_names_and_what_is_stated_are_not():
    assert (
        unexplained("Section 4.3, Sections 4.1 to 4.7, (4.5, 4.6), Python 3.11, int64, `a > 3`, x1, 2024-01-31", [])
        == []
    )
    assert unexplained("after 300 epochs", ["after 300 epochs"]) == []
    assert unexplained("after 3000 epochs", ["after 300 epochs"])


@pytest.mark.parametrize("name", PROSE)
def test_a_number_that_is_changed_is_noticed(name, committed):
    text, known = prose((ROOT / name).read_text()), list(statements(name, committed))
    shown = CODE.sub(lambda found: " " * len(found[0]), text)
    shown = NAMES.sub(lambda found: " " * len(found[0]), shown)
    for found in NUMERAL.finditer(shown):
        for other in ("7 of 9", f"1{found[0]}", "fourteen hundred"):
            changed = text[: found.start()] + other + text[found.end() :]
            assert not all(each in changed for each in known) or unexplained(changed, known), found[0]
