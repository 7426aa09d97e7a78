"""What the planner and the executors may know of a ledger: a token that proves a charge."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Token"]


@dataclass(frozen=True, slots=True)
class Token:
    """Proof that a run was started and charged; opening data needs one.

    Only a ledger makes it, after its START row is committed. `mock` marks a token of `--mock`,
    which opens synthetic rows only.
    """

    rid: str
    plan_hash: str
    keys: tuple[str, ...]
    mock: bool = False
