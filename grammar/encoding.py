"""A file's bytes as text."""

from __future__ import annotations

import codecs

from grammar import complaints, limits
from grammar.diagnostics import Diagnostic
from grammar.source import Source, Span

__all__ = ["decode", "read"]


def decode(data: bytes) -> str | Diagnostic:
    """The text of a file, without a byte order mark at its start; a finding if it is none.

    The finding's span counts in `read(...)`'s replacement text, where one is made.
    """
    if len(data) > limits.BYTES:
        return complaints.too_large()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return complaints.unreadable(
            "the file is UTF-16, not UTF-8", "save it as UTF-8 (plain text)"
        )
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        where = len(body[: error.start].decode("utf-8"))
        if b"\0" in data:
            return _binary()
        return complaints.unreadable(
            f"the file is not UTF-8: byte 0x{body[error.start]:02x} does not belong here",
            "save it as UTF-8 (plain text)",
            Span(where, where + 1),
        )
    return _binary() if "\0" in text else text


def read(name: str, data: bytes) -> tuple[Source, Diagnostic | None]:
    """The named text of a file, and what keeps it from being read.

    With a finding the source only serves to show its place: bytes that are no text are replaced.
    """
    text = decode(data)
    if isinstance(text, str):
        return Source(name, text), None
    if text.span is None:
        return Source(name, ""), text
    shown = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    return Source(name, shown), text


def _binary() -> Diagnostic:
    return complaints.unreadable(
        "the file is binary: it has zero bytes",
        "is this the data? a query is a text file; data are bound with `--data name=file`",
    )
