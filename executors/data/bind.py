"""From what a user binds to a dataset, to a source."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from executors.data.arrow import ArrowSource, table_of
from executors.data.csv import CsvSource
from executors.data.failure import DataFailure
from executors.data.parquet import ParquetSource
from executors.data.place import place_of
from executors.data.settings import Settings
from executors.data.source import Source

__all__ = ["open_source"]

_PARQUET = b"PAR1"


def open_source(binding: object, settings: Settings | None = None) -> Source:
    """The source of a path, a file URI, an Arrow table or stream, a frame, or a source itself.

    No row is read but for the fingerprint of a table in memory, on demand. A file that starts with
    Parquet's mark is Parquet; every other file is CSV.
    """
    settings = settings or Settings()
    if isinstance(binding, (str, os.PathLike)):
        place = place_of(_path(binding))
        with place.path.open("rb") as file:
            mark = file.read(len(_PARQUET))
        return (ParquetSource if mark == _PARQUET else CsvSource)(place, settings)
    # Frames first: one with columns named `location` and `open` looks like a source.
    if hasattr(binding, "__arrow_c_stream__") or hasattr(binding, "__arrow_c_array__"):
        return ArrowSource(table_of(binding), settings)
    if isinstance(binding, Source):
        return binding
    raise DataFailure(
        "DPQL-E107",
        f"a `{type(binding).__name__}` cannot be bound to a dataset",
        "bind a path, a file URI, an Arrow table, or a pandas or polars frame",
    )


def _path(binding: str | os.PathLike[str]) -> Path:
    text = os.fspath(binding)
    parts = urlsplit(text) if text[:5].lower() == "file:" else None
    if parts is not None:
        if parts.netloc not in ("", "localhost") or parts.query or parts.fragment:
            raise DataFailure(
                "DPQL-E107",
                "a file URI names a file of this machine, without query or fragment",
                "write `file:///folder/name.parquet`, with `?` and `#` as `%3F` and `%23`",
            )
        return Path(url2pathname(parts.path) if os.name == "nt" else unquote(parts.path))
    if "://" in text:
        raise DataFailure(
            "DPQL-E107",
            "only files of this machine can be read by this version",
            "copy the file here and bind its path",
        )
    return Path(text)
