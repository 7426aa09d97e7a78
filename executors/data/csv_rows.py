"""The rows of a CSV file as Arrow text, whatever bytes it holds.

The whole grammar: a quote toggles between inside and outside; outside, the separator ends a field
and a line feed ends a record. A carriage return before such a line feed is dropped. Quotes that
toggle are dropped, a doubled quote inside is one quote. A field without a byte is missing. Bytes
that are no UTF-8 become the replacement character. Nothing here raises on content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["first_record", "records", "unquoted"]

_BLOCK = 1 << 23
_QUOTE, _FEED, _RETURN = 0x22, 0x0A, 0x0D

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]


def first_record(start: bytes) -> bytes | None:
    """The bytes before the first line feed outside quotes; None if there is none."""
    data = np.frombuffer(start, dtype=np.uint8)
    ends = np.flatnonzero((data == _FEED) & _outside(data))
    if not len(ends):
        return None
    return start[: ends[0]].removesuffix(b"\r")


def records(
    path: Path, separator: int, width: int, places: Sequence[int], rows: int, block: int = _BLOCK
) -> Iterator[list[pa.Array]]:
    """The fields at `places` of each record behind the first, as text, at most `rows` at once.

    A record of `width` columns that is too short ends in missing fields; more fields are dropped.
    Records without a byte are skipped unless `width` is 1.
    """
    is_first = True
    rest = b""
    with path.open("rb") as file:
        while True:
            fresh = file.read(max(block, len(rest)))
            last = not fresh
            text = rest + fresh
            if last and text:
                text += b"\n" if first_record(text + b"\n") is not None else b'"\n'
            data = np.frombuffer(text, dtype=np.uint8)
            outside = _outside(data)
            ends = np.flatnonzero((data == _FEED) & outside)
            rest = text[ends[-1] + 1 :] if len(ends) else text
            if last and not len(ends):
                return
            starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
            if is_first and len(ends):
                starts, ends, is_first = starts[1:], ends[1:], False
            if len(ends):
                yield from _fields(data, outside, separator, starts, ends, width, places, rows)
            if last:
                return


def _fields(
    data: Bytes,
    outside: npt.NDArray[np.bool_],
    separator: int,
    starts: Places,
    ends: Places,
    width: int,
    places: Sequence[int],
    rows: int,
) -> Iterator[list[pa.Array]]:
    stops = ends - ((ends > starts) & (data[ends - 1] == _RETURN))
    if width > 1:
        kept = stops > starts
        starts, stops = starts[kept], stops[kept]
    commas = np.flatnonzero((data == separator) & outside)
    quotes = np.flatnonzero(data == _QUOTE)
    ended = np.append(commas, len(data))
    for first in range(0, len(starts), rows):
        begin, end = starts[first : first + rows], stops[first : first + rows]
        before = np.searchsorted(commas, begin)
        count = np.searchsorted(commas, end) - before
        yield [_column(data, quotes, ended, begin, end, before, count, place) for place in places]


def _column(
    data: Bytes,
    quotes: Places,
    ended: Places,
    begin: Places,
    end: Places,
    before: Places,
    count: Places,
    place: int,
) -> pa.Array:
    """The field at `place` of each record; `ended` are the separators and the end of the data."""
    last = len(ended) - 1
    left = begin if place == 0 else ended[np.minimum(before + place - 1, last)] + 1
    right = np.where(count > place, ended[np.minimum(before + place, last)], end)
    is_there = (count >= place) & (right > left)
    left, right = np.where(is_there, left, begin), np.where(is_there, right, begin)
    if not len(quotes):
        return _text(_slices(data, left, right, is_there))
    marks = np.searchsorted(quotes, right) - np.searchsorted(quotes, left)
    is_plain = (marks == 2) & (data[left] == _QUOTE) & (data[right - 1] == _QUOTE)
    left, right = left + is_plain, right - is_plain
    odd = np.flatnonzero((marks > 0) & ~is_plain)
    if not len(odd):
        return _text(_slices(data, left, right, is_there))
    fields: list[bytes | None] = [
        data[a:b].tobytes() if kept else None
        for a, b, kept in zip(left, right, is_there, strict=True)
    ]
    for index in odd:
        fields[index] = unquoted(fields[index] or b"")
    return _text(pa.array(fields, pa.large_binary()))


def unquoted(field: bytes) -> bytes:
    """A field without the quotes that toggle; a doubled quote inside is one quote."""
    parts = field.split(b'"')
    return b"".join(
        b'"' if not part and not index % 2 and 0 < index < len(parts) - 1 else part
        for index, part in enumerate(parts)
    )


def _slices(data: Bytes, left: Places, right: Places, is_there: npt.NDArray[np.bool_]) -> pa.Array:
    """The bytes from `left` to `right`, each pair one value, null where it is not there.

    The pairs are in order and apart, so that their ends cut the data into values and gaps, of
    which every second is taken: a column costs its own bytes, however wide the file is.
    """
    cuts = np.column_stack([left, right]).ravel()
    buffers = [None, pa.py_buffer(cuts), pa.py_buffer(data)]
    pieces = pa.Array.from_buffers(pa.large_binary(), len(cuts) - 1, buffers)
    return pieces.take(pa.array(np.arange(0, len(cuts), 2), mask=~is_there))


def _text(fields: pa.Array) -> pa.Array:
    """The fields as text."""
    try:
        return fields.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array(
            [
                None if field is None else field.decode("utf-8", "replace")
                for field in fields.to_pylist()
            ],
            pa.large_string(),
        )


def _outside(data: Bytes) -> npt.NDArray[np.bool_]:
    """Which bytes stand outside quotes."""
    is_quote = data == _QUOTE
    if not is_quote.any():
        return np.ones(len(data), dtype=np.bool_)
    parity = np.bitwise_xor.accumulate(is_quote.view(np.uint8))
    return np.equal(parity, 0)
