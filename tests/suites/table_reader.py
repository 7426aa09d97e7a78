"""A reader over an Arrow table in memory, with the clamp written out in plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from executors.data.source import Clamp, Flag, Level, Plain, Selection

__all__ = ["TableReader"]


def _number(value: object) -> float | None:
    """The value as a double; None where it is missing or cannot be read as a number."""
    if value is None:
        return None
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return float(value.strip().lower() == "true")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def _doubles(values: list[float | None]) -> pa.Array:
    return pa.array(values, type=pa.float64(), from_pandas=False)


@dataclass
class TableReader:
    """Batches of clamped columns; `clamps=False` is the mutant that forgot the clamp."""

    table: pa.Table
    clamps: bool = True
    is_closed: bool = False

    def _clamp(self, value: float | None, selection: Clamp) -> float | None:
        if value is None or not math.isfinite(value):
            return selection.fill
        return min(max(value, selection.lo), selection.hi)

    def _column(self, selection: Selection) -> pa.Array:
        stored = self.table.column(selection.name).to_pylist()
        if isinstance(selection, Plain) and selection.type == "text":
            return pa.array([None if v is None else str(v) for v in stored])
        if isinstance(selection, Level):
            levels = {level: float(place) for place, level in enumerate(selection.levels)}
            return _doubles([levels.get(str(value), selection.fill) for value in stored])
        values = [_number(value) for value in stored]
        if isinstance(selection, Plain):
            return _doubles(values)
        if not self.clamps:
            return _doubles([selection.fill if value is None else value for value in values])
        if isinstance(selection, Flag):
            values = [value if value in (0.0, 1.0) else selection.fill for value in values]
        else:
            values = [self._clamp(value, selection) for value in values]
        return _doubles(values)

    def batches(
        self, columns: Sequence[Selection], order_by: str | None = None, rows: int = 65_536
    ) -> Iterator[pa.RecordBatch]:
        arrays = [self._column(selection) for selection in columns]
        names = [selection.name for selection in columns]
        out = pa.table(dict(zip(names, arrays)))
        if order_by is not None:
            out = out.take(pa.compute.sort_indices(self.table, [(order_by, "ascending")]))
        yield from out.to_batches(max_chunksize=rows)

    def close(self) -> None:
        self.is_closed = True
