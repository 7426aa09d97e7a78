"""Who may open data: only a run that was started and charged."""

from __future__ import annotations

from executors.data.failure import DataFailure
from planner.charge_token import Token

__all__ = ["admit"]


def admit(token: object, *, is_mock: bool = False) -> None:
    """Raise unless `token` is a ledger's own token and fits the source (mock rows or real ones).

    The type is compared by identity: a subclass or a look-alike opens nothing.
    """
    if type(token) is not Token:
        raise DataFailure(
            "DPQL-E108",
            "data can be opened only by a run that a ledger has charged",
            "use `dpql run` or `dpql.run`; they reserve and start before they read",
        )
    if token.mock and not is_mock:
        raise DataFailure(
            "DPQL-E109",
            "a mock run opens synthetic rows only",
            "leave out `--mock` to read data",
        )
    if is_mock and not token.mock:
        raise DataFailure(
            "DPQL-E109",
            "a charged run does not read synthetic rows",
            "bind a file or a table, or say `--mock`",
        )
