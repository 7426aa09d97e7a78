"""The exceptions that leave DPQL, each with the code that `dpql explain` knows.

DpqlError
├── UsageError                  E094  the call does not fit the plan
├── PlanRefused                 E089  no plan, or one that was changed
├── DataRefused                 E10x  the data is not what the plan declares
├── RunFailed                   E119  the run failed after it was charged
└── LedgerError                 a ledger said no
    ├── OverBalance             E080  the balance does not cover the plan
    ├── FactsDiffer             E081  the plan or the data is not what the key guards
    ├── ApprovalRefused         E082  too few valid signatures
    ├── CertificateRefused      E083  the plan's derivation of its cost does not hold
    ├── WrongState              E084  the run is not where this step begins
    ├── KeyRefused              E085  no such key, or it cannot be opened so
    ├── LedgerDamaged           E086  the record is not what was written
    ├── LedgerUnavailable       E087  the database cannot be read or written now
    └── NoiseRefused            E088  the noise is not the noise that was paid for
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "AlreadyStarted",
    "ApprovalRefused",
    "CertificateRefused",
    "DataRefused",
    "DpqlError",
    "FactsDiffer",
    "KeyRefused",
    "LedgerDamaged",
    "LedgerError",
    "LedgerUnavailable",
    "NoiseRefused",
    "OverBalance",
    "PlanRefused",
    "RunFailed",
    "UsageError",
    "WrongState",
]


class DpqlError(Exception):
    """Something that a user must know: a code, what is wrong, why, and what to type.

    `message` stands alone: lower case, no period. `note` says why, `help` what to do. None of them
    ever holds a value read from a row.
    """

    default_code: ClassVar[str] = ""
    status: ClassVar[int] = 3
    """The exit status of a command that ends with it: 1 refused, 2 wrongly called, 3 failed."""

    def __init__(self, message: str, *, code: str = "", note: str = "", help: str = "") -> None:
        super().__init__(message)
        self.code = code or self.default_code
        self.message = message
        self.note = note
        self.help = help

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.message}" if self.code else self.message]
        lines += [f"note: {self.note}"] if self.note else []
        lines += [f"help: {self.help}"] if self.help else []
        return "\n".join(lines)

    def json(self) -> dict[str, object]:
        """The error in the form of a finding without a place."""
        return {
            "code": self.code,
            "severity": "error",
            "message": self.message,
            "help": self.help,
            "note": self.note,
            "span": None,
        }


class UsageError(DpqlError):
    """The call does not fit the plan: a dataset without data, a ledger that is missing."""

    default_code = "DPQL-E094"
    status = 2


class PlanRefused(DpqlError):
    """What was given is no plan, or one whose body is not what its hash was made of."""

    default_code = "DPQL-E089"
    status = 1


class DataRefused(DpqlError):
    """The data is not what the plan declares, or cannot be read."""

    default_code = "DPQL-E100"


class RunFailed(DpqlError):
    """A run failed after it was started; it stays charged."""

    default_code = "DPQL-E119"


class LedgerError(DpqlError):
    """A ledger refused; unless it says otherwise, nothing was charged by this call."""


class OverBalance(LedgerError):
    """The balance of a key does not cover the plan."""

    default_code = "DPQL-E080"
    status = 1


class FactsDiffer(LedgerError):
    """The plan declares, or the run binds, something else than the custodian recorded."""

    default_code = "DPQL-E081"
    status = 1


class ApprovalRefused(LedgerError):
    """Too few distinct registered reviewers have signed this run of this plan."""

    default_code = "DPQL-E082"
    status = 1


class CertificateRefused(LedgerError):
    """The certificate does not prove the plan's cost."""

    default_code = "DPQL-E083"
    status = 1


class WrongState(LedgerError):
    """The run is in a state from which this step is not allowed."""

    default_code = "DPQL-E084"


class AlreadyStarted(WrongState):
    """Another process has started the run, and alone may open the data."""


class KeyRefused(LedgerError):
    """The ledger has no such key, or cannot open one like this."""

    default_code = "DPQL-E085"


class LedgerDamaged(LedgerError):
    """The database is not a ledger, is damaged, or is older than its anchor."""

    default_code = "DPQL-E086"


class LedgerUnavailable(LedgerError):
    """The database cannot be read or written now: busy, full, read-only, missing."""

    default_code = "DPQL-E087"


class NoiseRefused(LedgerError):
    """Noise that is not the production noise, or more of it than was paid for."""

    default_code = "DPQL-E088"
