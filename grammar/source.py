"""A text with the places in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

__all__ = ["Source", "Span"]

_LINE_END = re.compile("\n")


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of code points of one text, counted from 0."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The range from the start of this span to the end of `other`."""
        return Span(self.start, other.end)


@dataclass(frozen=True, slots=True)
class Source:
    """A named text; `-` names standard input."""

    name: str
    text: str
    _starts: list[int] = field(default_factory=list, repr=False, compare=False)

    def place(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column (in Unicode code points) of an offset."""
        starts = self._lines()
        row = bisect_right(starts, offset) - 1
        return row + 1, offset - starts[row] + 1

    def line_span(self, number: int) -> Span:
        """Where a 1-based line lies, without its line end; empty beyond the last line."""
        starts = self._lines()
        if not 0 < number <= len(starts):
            return Span(len(self.text), len(self.text))
        start = starts[number - 1]
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        if end > start and self.text[end - 1] == "\r":
            end -= 1
        return Span(start, end)

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its line end."""
        span = self.line_span(number)
        return self.text[span.start : span.end]

    def json(self, span: Span) -> dict[str, str | int]:
        """The span as `{"file","line","column","end_line","end_column"}`."""
        line, column = self.place(span.start)
        end_line, end_column = self.place(span.end)
        return {
            "file": self.name,
            "line": line,
            "column": column,
            "end_line": end_line,
            "end_column": end_column,
        }

    def _lines(self) -> list[int]:
        if not self._starts:
            self._starts.append(0)
            self._starts.extend(match.end() for match in _LINE_END.finditer(self.text))
        return self._starts
