"""The shape of a finding with its place."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dpql.schemas.shape import Count, Shape

__all__ = ["Finding", "Place"]


class Place(Shape):
    """Where a finding stands; lines and columns from 1, columns in Unicode code points."""

    file: str
    line: Count
    column: Count
    end_line: Count
    end_column: Count


class Finding(Shape):
    """One finding; only an error stops the plan."""

    code: Annotated[str, Field(pattern=r"^DPQL-[EW][0-9]{3}$")]
    severity: Literal["error", "warning", "note"]
    message: str
    help: str
    note: str
    span: Place | None
