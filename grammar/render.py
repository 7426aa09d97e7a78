"""Findings as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from grammar.diagnostics import Diagnostic, Severity
from grammar.display import cells, safe, width
from grammar.source import Source, Span

__all__ = ["Report", "render_text", "uses_color"]

Report: TypeAlias = tuple[Source, Sequence[Diagnostic]]
"""A file with what was found in it."""

# A line longer than this is shown in part, around the marked place.
_LONGEST = 140
_BEFORE = 50
# A file that is no query at all has a finding in each line.
_MOST = 20
_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}


@dataclass(frozen=True, slots=True)
class _Mark:
    span: Span
    sign: str
    text: str
    line: int
    column: int


def uses_color(is_terminal: bool, environment: Mapping[str, str]) -> bool:
    """Whether to write colours: on a terminal, unless NO_COLOR is set to anything."""
    return is_terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def render_text(reports: Iterable[Report], color: bool = False) -> str:
    """The findings with their lines marked, a blank line between two; "" for none.

    Of many in one file the first are shown, errors before warnings. Nothing from a file reaches
    the terminal but printable characters.
    """
    parts = []
    for source, findings in reports:
        shown = findings
        if len(findings) > _MOST:
            shown = sorted(findings, key=lambda found: found.severity is not Severity.ERROR)[:_MOST]
        parts += [_finding(source, found, color) for found in shown]
        if len(findings) > _MOST:
            rest = len(findings) - _MOST
            parts.append(f"... and {rest} more findings in {safe(source.name)}: mend these first\n")
    return "\n".join(parts)


def _finding(source: Source, finding: Diagnostic, color: bool) -> str:
    def paint(text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if color else text

    tone = _COLORS[finding.severity]
    head = paint(f"{finding.severity.value}[{finding.code}]", f"1;{tone}")
    lines = [f"{head}: {paint(safe(finding.message), '1') if color else safe(finding.message)}"]
    marks = _marks(source, finding)
    if finding.span is None:
        lines.append(f" --> {safe(source.name)}")
    else:
        line, column = source.place(finding.span.start)
        digits = len(str(max((mark.line for mark in marks), default=line)))
        bar = paint("|", "34")
        lines.append(f"{' ' * digits}{paint('-->', '34')} {safe(source.name)}:{line}:{column}")
        lines.append(f"{' ' * digits} {bar}")
        before = None
        for mark in marks:
            shown, indent, length = _excerpt(source, mark)
            row = (mark.line, shown)
            if row != before:
                number = paint(f"{mark.line:>{digits}}", "34")
                lines.append(f"{number} {bar} {shown}".rstrip())
            before = row
            sign = paint(mark.sign * length, tone if mark.sign == "^" else "34")
            words = f" {safe(mark.text)}" if mark.text else ""
            lines.append(f"{' ' * digits} {bar} {' ' * indent}{sign}{words}")
        lines.append(f"{' ' * digits} {bar}")
    if finding.note:
        lines.append(f"{paint('note', '1')}: {safe(finding.note)}")
    if finding.help:
        lines.append(f"{paint('help', '1')}: {safe(finding.help)}")
    return "\n".join(lines) + "\n"


def _marks(source: Source, finding: Diagnostic) -> list[_Mark]:
    if finding.span is None:
        return []
    marks = [_Mark(finding.span, "^", finding.here, *source.place(finding.span.start))]
    for label in finding.labels:
        marks.append(_Mark(label.span, "-", label.text, *source.place(label.span.start)))
    return sorted(marks, key=lambda mark: (mark.line, mark.column))


def _excerpt(source: Source, mark: _Mark) -> tuple[str, int, int]:
    """The line as shown, how far the mark is indented, and how wide it is."""
    line = source.line_span(mark.line)
    low, high, head, tail = line.start, line.end, "", ""
    if line.end - line.start > _LONGEST:
        low = max(line.start, min(mark.span.start - _BEFORE, line.end - _LONGEST))
        high = min(line.end, low + _LONGEST)
        head = "..." if low > line.start else ""
        tail = "..." if high < line.end else ""
    start = min(max(mark.span.start, low), high)
    end = min(max(mark.span.end, start), high)
    shown = cells(source.text[low:high])
    indent = len(head) + width("".join(shown[: start - low]))
    length = width("".join(shown[start - low : end - low]))
    return head + "".join(shown) + tail, indent, max(1, length)
