"""What is written from hostile files: rules in other languages, statements about tables, pages."""

import ast
import json
import random
import subprocess
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from zlib import crc32

NAMES = (
    *("__import__('os').system('exit 7')", "E", "lambda", "DBL_DIG", "INFINITY", "complex", "a\"b'c`d", "a]b[c"),
    "%s%n",
    *('a"; DROP TABLE t; --', "a'; DROP TABLE t; --", "*/ int x; /*", "\\", "\\\n#include <x.h>", "??/", "{{ 7 * 7 }}"),
    *("{% raw %}", "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;", "constructor", "row"),
    *("\x1b[31mred", "\u202egnp", "\r\nx", "größe", "ﬁ", "名前", "a b", "1", "", " ", "'''", '"""', "n" * 300, "x:9"),
    *("__proto__", "toString", "select", "order", "nan", "NULL", "true", "self", "df", "pl", "pd", "math", "abs", "A"),
    "a",
)
"""Names of columns that mean something to some language."""
FORMULAS = (
    "{0} > {1}",
    "where({0} + 2 * {1} > 3 and not {0} = 1, 2, where({1} <= 1/3, 1, 0))",
    "at least 1 of ({0} > 1, {1} < {0}, {0} * {1} = 12)",
    "{0} in ('AT', 'x''y') and {1} is missing",
    "max({0}, {1}) - min({0}, 3)",
)


def rules() -> list[bytes]:
    """Saved rules whose columns, target and classes have hostile names."""
    from nsr.errors import InputError
    from nsr.program import Program
    from nsr.program.parser import parse

    rng, made = random.Random(3), []
    for number, name in enumerate(NAMES):
        other = rng.choice([each for each in NAMES if each.lower() != name.lower()])
        for formula in (FORMULAS[number % len(FORMULAS)], FORMULAS[0]):
            written = json.loads(Program(parse(formula.format("one", "two"))).emit("json"))
            content = {"target": rng.choice(NAMES), "classes": None, "format": "nsr-rule/1"}
            if formula == FORMULAS[0]:
                content["classes"] = [rng.choice(NAMES), "other"]
            try:
                content["program"] = renamed(written, {"one": name, "two": other})
                made.append(json.dumps(content).encode())
            except InputError:
                continue
    return made


def renamed(tree: Any, names: dict[str, str]) -> Any:
    """The JSON of a program with other names of its columns."""
    if isinstance(tree, dict):
        return {
            key: [names[name] for name in each] if key == "names" else _renamed(key, each, names)
            for key, each in tree.items()
        }
    return [renamed(each, names) for each in tree] if isinstance(tree, list) else tree


def _renamed(key: str, value: Any, names: dict[str, str]) -> Any:
    return names[value] if key == "variable" else renamed(value, names)


def load_rule(folder: Path, content: bytes) -> None:
    """Write a rule in every language; what is written has the structure that it has with plain names."""
    from nsr.errors import InputError
    from nsr.learn.saved import SavedRule, load_saved

    (folder / "rule.json").write_bytes(content)
    saved = load_saved(folder / "rule.json")
    if not isinstance(saved, SavedRule):
        return
    written = json.loads(saved.program.emit("json"))
    plain = {name: f"c{place:04}" for place, name in enumerate(sorted(saved.program.names))}
    (folder / "plain.json").write_text(
        json.dumps(
            {
                **json.loads(content),
                "program": renamed(written, plain),
                "target": "goal",
                "classes": saved.classes and _plain_classes(saved.classes),
            }
        )
    )
    refused = None
    for language, options in _languages(content):
        try:
            text = _emitted(folder / "rule.json", language, options)
        except InputError as error:
            refused = error
            continue
        other = _emitted(folder / "plain.json", language, {**options, "table": options["table"] and "t"})
        one, two = (_structure(each, language, options["dialect"]) for each in (text, other))
        assert one == two, f"{language} {options}: a name has become code\n{text}"
        if language == "c" and crc32(content) % 8 == 0:
            _compile(folder, text)
    if refused is not None:
        raise refused


def _plain_classes(classes: Sequence[Any]) -> list[Any]:
    return [f"k{place}" if isinstance(each, str) else each for place, each in enumerate(classes)]


def _languages(content: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every language, with some of the dialects and a hostile name of the table where it has one."""
    from nsr.learn.emission import NOT_TEXT
    from nsr.program.emit import TARGETS, options_of
    from nsr.program.emit.dialects import DIALECTS

    draw = random.Random(crc32(content))
    for language in TARGETS:
        if language in NOT_TEXT:
            continue
        accepted = options_of(language)
        yield (
            language,
            {
                "dialect": draw.choice(list(DIALECTS)) if "dialect" in accepted else None,
                "table": draw.choice([name for name in NAMES if name]) if "table" in accepted else None,
                "missing": draw.random() < 0.3,
            },
        )


def _emitted(path: Path, language: str, options: dict[str, Any]) -> str:
    from nsr.learn.commands import emit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return emit(path, language, **options).text


def _structure(text: str, language: str, dialect: str | None) -> Any:
    """How often a text has each construct; which names and texts there are, and their order, does not count."""
    if language in ("python", "pandas", "polars", "pandera", "sympy"):
        return Counter(_shape(node) for node in ast.walk(ast.parse(text)))
    if language in ("sql", "check-sql", "check-constraint"):
        return _tokens(text, dialect or "duckdb")
    if language == "json":
        return json.loads(text)["format"]
    return None


def _shape(node: ast.AST) -> tuple[Any, ...]:
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
    attribute = node.attr if isinstance(node, ast.Attribute) else None
    return type(node).__name__, called, attribute


def _tokens(text: str, dialect: str) -> Counter[str]:
    import sqlglot
    from sqlglot.tokens import TokenType

    blank = {TokenType.VAR: "name", TokenType.IDENTIFIER: "name"}
    blank |= {TokenType.STRING: "text", TokenType.NATIONAL_STRING: "text"}
    kinds = [token.token_type for token in sqlglot.tokenize(text, read=dialect)]
    return Counter(blank.get(kind, kind.name) for kind in kinds)


def _compile(folder: Path, text: str) -> None:
    (folder / "rule.c").write_text(text)
    done = subprocess.run(
        ["cc", "-std=c99", "-Wall", "-Werror=implicit", "-fsyntax-only", "rule.c"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-1500:] + text


class Tags(HTMLParser):
    """Counts the elements and attributes of a page that could run something."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count scripts; handlers and frames are never written."""
        self.scripts += tag == "script"
        assert tag not in ("iframe", "object", "embed", "base"), tag
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert not (value or "").lower().startswith("javascript:"), value


def tables() -> list[bytes]:
    """Tables with hostile names and texts, between whose columns something holds."""
    rng = random.Random(5)
    made = []
    for number in range(12):
        names = rng.sample([name for name in NAMES if name.strip()], 3)
        rows = [(n * 7 % 23, n * 7 % 23 + n % 4, rng.choice(NAMES[number : number + 3])) for n in range(40)]
        made.append("\n".join(",".join(_cell(each) for each in row) for row in (names, *rows)).encode() + b"\n")
    return made


def _cell(value: object) -> str:
    return '"' + str(value).replace('"', '""') + '"' if isinstance(value, str) else str(value)


def load_profile(folder: Path, content: bytes) -> None:
    """``nsr profile`` of a table, with its page and its checks."""
    from nsr.learn.profile import profile, report
    from nsr.learn.profile.page import write_page

    (folder / "t.csv").write_bytes(content)
    found = profile(str(folder / "t.csv"), time_limit=0.3)
    report.text(found, everything=True)
    json.loads(report.to_json(found, everything=True))
    report.emit(found, random.Random(crc32(content)).choice(("checks", "sql", "python", "dbt", "c")), everything=True)
    write_page(folder / "page.html", found)
    page = Tags()
    page.feed((folder / "page.html").read_text())


CLUSTERS = (
    '[cluster]\nexecutor = "dask"\nworkers = 4\nscheduler = "tcp://127.0.0.1:8786"\nsilence = 30.0\nhang = 60\n',
    '[cluster]\nexecutor = "slurm"\nqueue = "short"\naccount = "lab"\nwalltime = "1-04:00:00"\ncores = 8\n'
    'memory = "16GB"\ndirectives = ["--exclude=node7"]\nskip_directives = ["--mem"]\ninterface = "lo"\n'
    'prologue = ["module load python"]\npython = "python3"\noptions = { shebang = "#!/bin/sh", n = 1 }\n',
    '[cluster]\nexecutor = "concurrent.futures:ThreadPoolExecutor"\nworkers = 2\npatience = 1e3\n',
    '# nothing\n[other]\nx = 1\n[cluster]\nexecutor = "local"\nworkers = 1\ndashboard = ":0"\n',
)
WORDS_OF_CLUSTERS = (
    *(b"nan", b"inf", b"-inf", b"-1", b"0", b"1e400", b"0x10", b"[[cluster]]", b"[cluster.options]", b"= {", b"'''"),
    *(b"1979-05-27T07:32:00Z", b"12:61", b"true", b"9" * 5000, b"[" * 2000, b"a." * 900 + b"a = 1\n"),
    b"cluster = 3\n",
    *(b"nsr:x", b"os:getcwd", b"json:loads", b"os:sep", b"math:sqrt", b"a:b:c", b":", b"99-99:99:99", b"0:0:0"),
)


HOSTILE_CLUSTERS = (
    *(
        b"[" * 100_000,
        b"a = " + b"[" * 3000,
        b"a = " + b"[\n" * 3000,
        b"x." * 50_000 + b"x = 1",
        b"x." * 900 + b"x = 1",
    ),
    b"[cluster]\nworkers = " + b"9" * 5000,
)


def clusters() -> list[bytes]:
    """Files of clusters."""
    return [text.encode() for text in CLUSTERS]


def load_cluster(folder: Path, content: bytes) -> None:
    """Read a file of a cluster, choose the executor, and write what Slurm would be asked for."""
    from nsr.paper.sweep.choice import choose_executor
    from nsr.paper.sweep.cluster_config import read_config
    from nsr.paper.sweep.slurm import arguments

    path = folder / "nsr.toml"
    path.write_bytes(content)
    config = read_config(path)
    arguments(config)
    if ":" in config.executor:
        choose_executor(config)(min(config.workers or 1, 2)).shutdown()
    elif config.executor != "slurm":
        choose_executor(config)
