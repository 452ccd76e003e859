"""The content of a saved file, validated against ``saved.schema.json`` before anything is built from it."""

import functools
import json
import math
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema

from nsr.errors import InputError
from nsr.files import reject_nul
from nsr.program.emit.names import unwritable

RULE = "nsr-rule/1"
NETWORK, REGISTERS, OLD_REGISTERS = "nsr-model/3", "nsr-model/2", "nsr-model/1"
"""Formats of models: a network that weighs columns; registers over sums of columns, now and in earlier versions."""
FORMATS = (RULE, OLD_REGISTERS, REGISTERS, NETWORK)
LARGEST = 20_000_000
"""The most bytes a file may have."""


def read_content(path: Path) -> dict[str, Any]:
    """The content of a file that ``nsr learn --save`` wrote; any other file is an InputError."""
    reject_nul(path)
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise not_saved(path, f"it has more than {LARGEST:,} bytes")
        with path.open(encoding="utf-8") as file:
            text = file.read(LARGEST + 1)  # a pipe has no size
        content = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: nsr learn TABLE --target COLUMN --save {path} creates it") from None
    except InputError:
        raise
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise not_saved(path, problem) from None
    if not isinstance(content, dict) or content.get("format") not in FORMATS:
        raise not_saved(path, f"its format is none of {', '.join(FORMATS)}")
    if (reason := _problem(content)) is not None:
        raise not_saved(path, reason)
    return content


def not_saved(path: Path, reason: object) -> InputError:
    """The error for a file that cannot be loaded."""
    text = str(reason)
    return InputError(f"{path} was not written by nsr learn --save: {text[:200]}{'...' if len(text) > 200 else ''}")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is not a finite number")
    return number


def _problem(content: dict[str, Any]) -> str | None:
    """What is wrong with a content of a known format, if anything is."""
    error = next(_validator(_definition(content)).iter_errors(content), None)
    if error is not None:
        return f"{error.json_path}: {error.message}"
    if unwritable(_texts(content)) is not None:
        return "its texts must be valid Unicode"
    return None


def _texts(content: dict[str, Any]) -> Iterator[str]:
    yield content["target"]
    yield from content.get("names", ())
    yield from content.get("dates", ())
    for name, texts in content.get("texts", {}).items():
        yield from (name, *texts)
    yield from (label for label in content.get("classes") or () if isinstance(label, str))


def _definition(content: dict[str, Any]) -> str:
    """The part of the schema for a content."""
    named = {RULE: "rule", NETWORK: "network"}
    kind = "number" if "scaling" in content else "classes"
    return named.get(content["format"]) or f"{kind}_{1 if content['format'] == OLD_REGISTERS else 2}"


@functools.cache
def _validator(definition: str) -> Any:
    schema = json.loads((files("nsr.learn") / "saved.schema.json").read_text())
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]})
