"""A text with the places in it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

__all__ = ["Source", "Span"]


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
        if not self._starts:
            self._starts.append(0)
            self._starts.extend(i + 1 for i, c in enumerate(self.text) if c == "\n")
        row = bisect_right(self._starts, offset) - 1
        return row + 1, offset - self._starts[row] + 1

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its line end."""
        lines = self.text.split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""

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
