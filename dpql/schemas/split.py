"""The shape of a proposed split of the budgets of a file."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dpql.schemas.body import Declared
from dpql.schemas.findings import Finding
from dpql.schemas.shape import Exact, Schema, Shape

__all__ = ["Allocation"]


class ProposedCost(Shape):
    """What one measurement should spend at one source; `now` is null where the file says `auto`.

    `written` is how it stands in the proposed text, `part` what it takes of what adds up in the
    BUDGET: null for pairs of eps and delta, and without a BUDGET.
    """

    name: str
    dataset: str
    site: str | None
    now: Declared | None
    proposed: Declared
    written: str
    part: Exact | None
    why: Literal["kept", "least", "rest"]
    reason: str
    metric: str | None
    forecast_now: float | None
    forecast: float | None


class SplitBudget(Shape):
    """A dataset's BUDGET with the costs that share it; `left` is the part that nothing takes."""

    dataset: str
    budget: Declared | None
    rule: Literal["weights", "errors", "equal"] | None
    left: Exact | None
    costs: list[ProposedCost]


class Allocation(Shape):
    """What `dpql plan --allocate --format json` prints; without a proposal `text` is null."""

    schema_: Schema = Field(alias="schema")
    kind: Literal["allocation"]
    ok: bool
    diagnostics: list[Finding]
    datasets: list[SplitBudget]
    text: str | None
