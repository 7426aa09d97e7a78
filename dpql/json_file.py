"""A JSON object in a file that somebody handed in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dpql.errors import UsageError

__all__ = ["LARGEST", "parse_object", "read_object"]

LARGEST = 64 * 2**20
"""Bytes: no plan, certificate or approval comes near."""
_WRITERS = {
    "a plan file": "`dpql plan FILE -o plan.json` writes one",
    "a certificate": "`dpql plan FILE -o plan.json` writes one into the plan",
    "an approval": "`dpql approve PLAN --key FILE -o approval.json` writes one",
    "an exported head": "`dpql ledger export -o head.json` writes one",
}


def read_object(path: str | Path, what: str) -> dict[str, Any]:
    """The object in a file; `what` names in the refusal what it should have been.

    Raises `UsageError` for anything else, OSError where the file cannot be read.
    """
    with Path(path).open("rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise UsageError(f"`{path}` is too large for {what}")
    return parse_object(raw, f"`{path}` is not {what}", _WRITERS.get(what, ""))


def parse_object(text: str | bytes, problem: str, help: str = "") -> dict[str, Any]:
    """The JSON object in a text. Raises `UsageError`, which says the problem, for anything else."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as failure:
        raise UsageError(problem, help=help) from failure
    if not isinstance(content, dict):
        raise UsageError(problem, help=help)
    return content
