"""How many rows of a public simulation are drawn at once, so that its memory stays flat."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["row_chunks"]

MOST = 1 << 23
"""Numbers that are drawn at once: 64 MB of doubles."""


def row_chunks(rows: int, columns: int) -> Iterator[int]:
    """How many rows to draw at a time, `rows` in all; all at once where they are few."""
    most = max(1, MOST // columns)
    while rows > 0:
        yield min(rows, most)
        rows -= most
