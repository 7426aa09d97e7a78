"""A file on disk, pinned down when it is bound."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from executors.data.failure import DataFailure, guarded

__all__ = ["FilePlace", "place_of"]


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A regular file by its resolved path; `stamp` tells whether it is still the same one."""

    name: str
    path: Path
    stamp: tuple[int, int, int, int]

    @property
    def uri(self) -> str:
        """The canonical file URI, with links and `..` resolved."""
        return self.path.as_uri()

    def confirm(self) -> None:
        """Raise if the file was replaced, changed or removed since it was bound."""
        if guarded(lambda: _stamp(self.path), _gone(self.name)) != self.stamp:
            raise DataFailure(
                "DPQL-E106",
                f"the file `{self.name}` has changed since it was bound",
                "leave the file alone while a plan runs, or copy it first",
            )


def place_of(path: Path) -> FilePlace:
    """The file at `path`; it must exist and be a regular file."""
    failure = _gone(path.name)
    resolved = guarded(lambda: path.resolve(strict=True), failure)
    return FilePlace(path.name, resolved, guarded(lambda: _stamp(resolved), failure))


def _stamp(path: Path) -> tuple[int, int, int, int]:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("not a regular file")
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _gone(name: str) -> DataFailure:
    return DataFailure(
        "DPQL-E102",
        f"`{name}` is not a file that can be opened",
        "give the path of one existing CSV or Parquet file",
    )
