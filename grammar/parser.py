"""A text's tree with what is wrong in it."""

from __future__ import annotations

from functools import cache

from grammar import complaints, limits, readings
from grammar.diagnostics import Diagnostic, Severity
from grammar.recover import Reader
from grammar.scan import scan
from grammar.source import Source, Span
from grammar.split import split
from grammar.table import Table, load
from grammar.tree import Script

__all__ = ["parse"]


@cache
def _table() -> Table:
    return load()


def parse(source: Source) -> tuple[Script, tuple[Diagnostic, ...]]:
    """The tree of a text, and all findings about it in the order of their places.

    Never raises for what a text holds. A statement that cannot be read is left out of the tree and
    named in `Script.broken`. Time and memory are linear in the text.
    """
    text = source.text
    if _is_too_large(text):
        return Script(source), (complaints.too_large(),)
    if "\0" in text:
        where = text.index("\0")
        finding = complaints.unreadable(
            "the text has zero bytes", "is this a text file?", Span(where, where + 1)
        )
        return Script(source), (finding,)
    scanned = scan(text)
    findings = scanned.findings + readings.warn(text, scanned.tokens, scanned.doubtful)
    reader = Reader(text, _table())
    chunks = split(scanned.tokens)
    for chunk in chunks[: limits.STATEMENTS]:
        reader.read(chunk)
    if len(chunks) > limits.STATEMENTS:
        token = chunks[limits.STATEMENTS][0]
        reader.findings.append(complaints.too_many(Span(token[2], token[3])))
    findings += reader.findings
    if not chunks and not any(finding.severity is Severity.ERROR for finding in findings):
        findings.append(complaints.empty(Span(len(text), len(text))))
    findings.sort(key=_start)
    script = Script(source, tuple(reader.statements), tuple(scanned.comments), tuple(reader.broken))
    return script, tuple(findings)


def _start(finding: Diagnostic) -> int:
    return finding.span.start if finding.span is not None else 0


def _is_too_large(text: str) -> bool:
    if len(text) <= limits.BYTES // 4:
        return False
    return len(text) > limits.BYTES or len(text.encode("utf-8", "replace")) > limits.BYTES
