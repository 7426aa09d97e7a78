"""Write the JSON Schemas from the models: `python -m dpql.schemas.build`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dpql.schemas import models

__all__ = ["SCHEMAS", "built", "main"]

SCHEMAS: dict[str, tuple[Any, str]] = {
    "check": (models.Check, "findings of a check"),
    "plan": (models.Plan, "a plan file"),
    "allocation": (models.Allocation, "a proposed split of budgets"),
    "certificate": (models.Certificate, "a certificate"),
    "release": (models.ReleaseFile, "a release"),
    "approval": (models.Approval, "an approval"),
    "ledger": (models.LedgerExport, "an exported ledger"),
}


def built(name: str) -> str:
    """The text of one schema file."""
    model, title = SCHEMAS[name]
    schema = TypeAdapter(model).json_schema(by_alias=True, mode="validation")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dpql:1:{name}",
        "title": f"DPQL: {title}",
    }
    return json.dumps({**head, **schema, **head}, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write every schema beside this file."""
    folder = Path(__file__).parent
    for name in SCHEMAS:
        (folder / f"{name}.json").write_text(built(name), "utf-8")


if __name__ == "__main__":
    main()
