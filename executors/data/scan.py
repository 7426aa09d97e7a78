"""The reader that every table source hands out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from executors.data import duckdb
from executors.data.clamp import values
from executors.data.duckdb import Relation, Stream
from executors.data.failure import DataFailure, guarded, guarded_stream
from executors.data.place import FilePlace
from executors.data.settings import Settings
from executors.data.source import Selection

__all__ = ["TableReader"]


class TableReader:
    """Reads a table in row order, or sorted by the engine.

    With a `stream`, batches in row order skip the engine and go through the numpy form of the
    clamp; sorted ones, and tables without a stream, go through its SQL form.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        relation: Relation,
        stream: Stream | None,
        settings: Settings,
        unit: str | None,
        max_rows: int,
        place: FilePlace | None = None,
    ) -> None:
        if max_rows < 1:
            raise ValueError("MAX k is at least 1")
        self._names = names
        self._relation = relation
        self._stream = stream
        self._settings = settings
        self._unit = None if unit is None else self._place(unit)
        self._max_rows = max_rows
        self._file = place
        self._late: npt.NDArray[np.int64] | None = None
        self._closed = False

    def batches(
        self, columns: Sequence[Selection], order_by: str | None = None, rows: int = 65_536
    ) -> Iterator[pa.RecordBatch]:
        """Batches of at most `rows` rows with the named columns in order; every row, once."""
        if self._closed:
            raise ValueError("the reader is closed")
        if rows < 1 or not columns:
            raise ValueError("a scan reads at least one column and one row at a time")
        places = [self._place(column.name) for column in columns]
        order = None if order_by is None else [column.name for column in columns].index(order_by)
        if self._stream is not None and order is None:
            made = self._direct(self._stream, columns, places, rows)
        else:
            made = duckdb.scan(
                self._relation,
                list(zip(places, columns, strict=True)),
                self._settings,
                self._unit,
                self._max_rows,
                order,
                rows,
            )
        names = [column.name for column in columns]
        seen = 0
        for batch in guarded_stream(made, self._failure()):
            for start in range(0, batch.num_rows, rows):
                part = batch.slice(start, rows)
                seen += part.num_rows
                yield pa.RecordBatch.from_arrays(part.columns, names=names)
            if self._settings.progress is not None:
                self._settings.progress(seen)
        if self._file is not None:
            self._file.confirm()

    def close(self) -> None:
        """Forget the late rows; later scans are refused."""
        self._closed = True
        self._late = None

    def _direct(
        self, stream: Stream, columns: Sequence[Selection], places: Sequence[int], rows: int
    ) -> Iterator[pa.RecordBatch]:
        distinct = sorted(set(places))
        late = self._late_rows()
        start = 0
        for batch in stream(distinct, rows):
            marks = None
            if late is not None:
                first, last = np.searchsorted(late, [start, start + batch.num_rows])
                marks = np.zeros(batch.num_rows, dtype=np.bool_)
                marks[late[first:last] - start] = True
            start += batch.num_rows
            yield pa.RecordBatch.from_arrays(
                [
                    values(column, batch.column(distinct.index(place)), marks)
                    for column, place in zip(columns, places, strict=True)
                ],
                names=[f"v{index}" for index in range(len(columns))],
            )

    def _late_rows(self) -> npt.NDArray[np.int64] | None:
        unit = self._unit
        if unit is None:
            return None
        if self._late is None:
            self._late = guarded(
                lambda: duckdb.late_rows(self._relation, unit, self._max_rows, self._settings),
                self._failure(),
            )
        return self._late

    def _place(self, name: str) -> int:
        if self._names.count(name) != 1:
            raise DataFailure(
                "DPQL-E100" if name not in self._names else "DPQL-E103",
                f"the data has {self._names.count(name)} columns named `{name}`",
                "rename the columns so that each declared name stands for exactly one",
            )
        return self._names.index(name)

    def _failure(self) -> DataFailure:
        what = "table" if self._file is None else f"file `{self._file.name}`"
        return DataFailure(
            "DPQL-E105",
            f"the {what} cannot be read to its end",
            "check that the data is whole and that this user may read it",
        )
