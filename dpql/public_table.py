"""Public tables that a plan names, read when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from dpql.errors import UsageError
from planner.bind.shapes import tables_named
from planner.bound import BoundPlan
from planner.facts import PublicTable

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["tables_of"]

_LARGEST = 2**28
_ASYMMETRY = 1e-8
_NEGATIVE = 1e-8


def tables_of(bound: BoundPlan, bindings: Mapping[str, str]) -> tuple[PublicTable, ...]:
    """The tables of these files: CSV or Parquet, a header of column names, a row each in its order.

    Nothing is read unless every name is that of a public table in the plan, and none that of a
    dataset. Raises `UsageError` otherwise, and where a file holds no covariance matrix.
    """
    named = {name for one in bound.measurements for name in tables_named(one.params).values()}
    protected = {dataset.name for dataset in bound.datasets}
    for name in bindings:
        if name in protected:
            raise UsageError(
                f"a plan is made without the rows of `{name}`",
                note="only public tables are read before anything is approved or charged",
                help=f"bind `{name}` when the plan is run",
            )
        if name not in named:
            raise UsageError(
                f"no statement names a public table `{name}`", help="leave its `--data` out"
            )
    return tuple(_read(name, place) for name, place in bindings.items())


def _read(name: str, place: str) -> PublicTable:
    try:
        with Path(place).open("rb") as file:
            raw = file.read(_LARGEST + 1)
    except OSError as failure:
        raise UsageError(f"the public table `{name}` cannot be read: {failure.strerror}") from None
    if len(raw) > _LARGEST:
        raise UsageError(f"the public table `{name}` is larger than a plan can take")
    table = _table(name, place, raw)
    columns = tuple(table.column_names)
    if len(set(columns)) != len(columns) or table.num_rows != len(columns):
        raise _no_covariance(name, "it needs one row for each column of its header")
    return PublicTable(name, sha256(raw).hexdigest(), columns, _rows(name, table))


def _table(name: str, place: str, raw: bytes) -> pa.Table:
    """The file as a table. pyarrow is loaded only where a plan has a public table."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    try:
        if place.casefold().endswith(".parquet"):
            return pyarrow.parquet.read_table(BytesIO(raw))
        return pyarrow.csv.read_csv(BytesIO(raw))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as failure:
        raise _no_covariance(name, "it is neither CSV nor Parquet") from failure


def _rows(name: str, table: pa.Table) -> tuple[tuple[float, ...], ...]:
    """The entries, symmetric to the last bit."""
    import numpy as np

    try:
        matrix = np.array([column.to_pylist() for column in table.columns], dtype=np.float64)
    except (TypeError, ValueError):
        raise _no_covariance(name, "an entry is no number") from None
    if not np.isfinite(matrix).all():
        raise _no_covariance(name, "an entry is missing or infinite")
    size = float(np.abs(matrix).max())
    if not float(np.abs(matrix - matrix.T).max()) <= _ASYMMETRY * size:
        raise _no_covariance(name, "it is not symmetric")
    unit = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    unit[unit == 0.0] = 1.0
    matrix = (matrix + matrix.T) / 2.0
    if np.linalg.eigvalsh(matrix / np.outer(unit, unit))[0] < -_NEGATIVE * len(matrix):
        raise _no_covariance(name, "it is not positive semidefinite")
    return tuple(tuple(float(entry) for entry in row) for row in matrix)


def _no_covariance(name: str, why: str) -> UsageError:
    return UsageError(
        f"the public table `{name}` holds no covariance matrix: {why}",
        help="write a header with the names of the columns, then one row for each of them",
    )
