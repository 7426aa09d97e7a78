"""Which stored types hold what a declared column needs."""

from __future__ import annotations

from typing import Literal, TypeAlias

import pyarrow as pa

__all__ = ["StoredKind", "stored_kind"]

StoredKind: TypeAlias = Literal["real", "integer", "decimal", "boolean", "text", "other"]


def stored_kind(type: pa.DataType) -> StoredKind:
    """The kind of a stored Arrow type; dates, times, binary and nested types are "other"."""
    if pa.types.is_dictionary(type):
        return stored_kind(type.value_type)
    if pa.types.is_boolean(type):
        return "boolean"
    if pa.types.is_integer(type):
        return "integer"
    if pa.types.is_floating(type):
        return "real"
    if pa.types.is_decimal(type):
        return "decimal"
    if pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type):
        return "text"
    return "other"
