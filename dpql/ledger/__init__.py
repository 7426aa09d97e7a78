"""The ledger that nothing can overspend; its database library is loaded with the first ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpql.ledger.face import Ledger

__all__ = ["Ledger"]


def __getattr__(name: str) -> Any:
    if name == "Ledger":
        from dpql.ledger.face import Ledger

        return Ledger
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
