"""What all published shapes share: closed objects, exact numbers as text, hashes."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

__all__ = ["Count", "Exact", "Instant", "Open", "PlanDigest", "Schema", "Sha256", "Shape"]

Schema: TypeAlias = Literal["dpql/1"]
Exact = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{1,100}(\.[0-9]{1,60})?(/[0-9]{1,100})?$",
        description="an exact number: a plain decimal where it ends, else p/q",
    ),
]
Signed = Annotated[
    str,
    Field(
        pattern=r"^-?[0-9]{1,100}(\.[0-9]{1,60})?(/[0-9]{1,100})?$",
        description="an exact number that may be negative",
    ),
]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
PlanDigest = Annotated[
    str,
    Field(
        pattern=r"^(mock:)?[0-9a-f]{64}$",
        description="the plan's hash; `mock:` stands before it where the rows were synthetic",
    ),
]
Instant = Annotated[
    str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$")
]
Count = Annotated[int, Field(ge=1)]
Open: TypeAlias = dict[str, JsonValue]
"""An object whose fields depend on the method."""


def _without_titles(schema: dict[str, Any]) -> None:
    """Drop the titles that only repeat the names of fields."""
    schema.pop("title", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)


class Shape(BaseModel):
    """An object with these fields and no other."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, json_schema_extra=_without_titles
    )
