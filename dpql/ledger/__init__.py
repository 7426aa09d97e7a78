"""The ledger that nothing can overspend; its database library is loaded with the first ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpql.ledger.face import Ledger
    from dpql.ledger.facts import Cap, KeyFacts, Reviewer, SensitivityFact, SiteFact, TableFacts

__all__ = [
    "Cap",
    "KeyFacts",
    "Ledger",
    "Reviewer",
    "SensitivityFact",
    "SiteFact",
    "TableFacts",
]


def __getattr__(name: str) -> Any:
    if name == "Ledger":
        from dpql.ledger.face import Ledger

        return Ledger
    if name in __all__:
        from dpql.ledger import facts

        return getattr(facts, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
