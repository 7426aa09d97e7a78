"""What is said about a file: coded findings, each at a place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from grammar.source import Source, Span

__all__ = ["Diagnostic", "Label", "Severity", "has_errors"]


class Severity(StrEnum):
    """How much a finding weighs: an error stops the plan, a warning and a note do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that explains a finding, with its words."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `message` stands alone: lower case, no period, the user's words in backticks.

    `note` says why, `help` says what to type, `here` stands under the marked place. No value read
    from a row may appear in any of them.
    """

    code: str
    message: str
    span: Span | None = None
    severity: Severity = Severity.ERROR
    note: str = ""
    help: str = ""
    here: str = ""
    labels: tuple[Label, ...] = ()

    def json(self, source: Source) -> dict[str, object]:
        """The finding as `{"code","severity","message","help","note","span"}`."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "message": self.message,
            "help": self.help,
            "note": self.note,
            "span": source.json(self.span) if self.span is not None else None,
        }


def has_errors(findings: Iterable[Diagnostic]) -> bool:
    """Whether a finding among them stops the plan."""
    return any(finding.severity is Severity.ERROR for finding in findings)
