"""Options of a method whose published form has other defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import model_validator

from planner.mechanism import Params

__all__ = ["PublishedVariant"]


class PublishedVariant(Params):
    """Options with a `variant`: `paper` has the defaults in `PAPER`, where none is written."""

    PAPER: ClassVar[Mapping[str, Any]]

    @model_validator(mode="before")
    @classmethod
    def _as_published(cls, given: Any) -> Any:
        """What is written beside `variant=paper` wins."""
        if isinstance(given, dict) and given.get("variant") == "paper":
            return {**cls.PAPER, **given}
        return given
