"""The list on which a pass writes what it finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches

from grammar.diagnostics import Diagnostic, Label, Severity, has_errors
from grammar.source import Span

__all__ = ["Findings", "Mistake", "Undefined", "choices"]


class Mistake(Exception):
    """A mistake in the text that makes one value unusable; caught where the value was wanted."""

    def __init__(
        self, code: str, message: str, span: Span | None = None, note: str = "", help: str = ""
    ) -> None:
        super().__init__(message)
        self.finding = Diagnostic(code, message, span, Severity.ERROR, note, help)


class Undefined(Mistake):
    """A name that nothing above defines."""

    def __init__(
        self,
        name: str,
        span: Span | None = None,
        note: str = "",
        help: str = "",
        code: str = "DPQL-E020",
        message: str = "",
    ) -> None:
        super().__init__(code, message or f"`{name}` is not defined", span, note, help)
        self.name = name


@dataclass(slots=True)
class Findings:
    """Collects diagnostics; a mistake in a query never raises through a pass.

    `broken` holds the names whose definitions were complained of: their uses are not.
    """

    items: list[Diagnostic] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)

    def error(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        *,
        note: str = "",
        help: str = "",
        here: str = "",
        labels: Iterable[Label] = (),
    ) -> None:
        """Write down an error."""
        self.items.append(
            Diagnostic(code, message, span, Severity.ERROR, note, help, here, tuple(labels))
        )

    def warn(
        self, code: str, message: str, span: Span | None = None, note: str = "", help: str = ""
    ) -> None:
        """Write down a warning."""
        self.items.append(Diagnostic(code, message, span, Severity.WARNING, note, help))

    def remark(
        self, code: str, message: str, span: Span | None = None, note: str = "", help: str = ""
    ) -> None:
        """Write down a note: something a reader should know that stops nothing."""
        self.items.append(Diagnostic(code, message, span, Severity.NOTE, note, help))

    def add(self, mistake: Mistake, span: Span | None = None) -> None:
        """Write down a mistake, at `span` where it has no place of its own."""
        if isinstance(mistake, Undefined) and mistake.name in self.broken:
            return
        found = mistake.finding
        if found.span is None and span is not None:
            found = Diagnostic(
                found.code, found.message, span, found.severity, found.note, found.help
            )
        self.items.append(found)

    @property
    def failed(self) -> bool:
        """Whether an error was written."""
        return has_errors(self.items)


def choices(word: str, known: Iterable[str], what: str = "known") -> str:
    """Help for an unknown word: the nearest known one if it is near enough, else all of them."""
    names = list(known)
    by_fold = {name.casefold(): name for name in names}
    near = get_close_matches(word.casefold(), by_fold, n=1, cutoff=0.65)
    if near:
        return f"did you mean `{by_fold[near[0]]}`?"
    if not names:
        return ""
    shown = ", ".join(f"`{name}`" for name in names[:20])
    return f"{what}: {shown}" + (", ..." if len(names) > 20 else "")
