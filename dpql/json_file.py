"""A JSON object in a file that somebody handed in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dpql.errors import UsageError

__all__ = ["LARGEST", "read_object"]

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
    problem = UsageError(f"`{path}` is not {what}", help=_WRITERS.get(what, ""))
    if len(raw) > LARGEST:
        raise problem
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError) as failure:
        raise problem from failure
    if not isinstance(content, dict):
        raise problem
    return content
