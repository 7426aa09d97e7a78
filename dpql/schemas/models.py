"""The published documents of check, plan, allocation, certificate, release, approval, ledger."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from dpql.schemas.body import Body
from dpql.schemas.findings import Finding
from dpql.schemas.proof import Certificate
from dpql.schemas.records import Approval, DerivedRelease, LedgerExport, Release, ReleaseFile
from dpql.schemas.shape import Schema, Sha256, Shape
from dpql.schemas.split import Allocation
from dpql.schemas.view import (
    DatasetView,
    DerivedView,
    ExpectView,
    Graph,
    KeyView,
    Risk,
    StatementView,
)

__all__ = [
    "Allocation",
    "Approval",
    "Certificate",
    "Check",
    "DerivedRelease",
    "LedgerExport",
    "Plan",
    "PlanFile",
    "PlanWithErrors",
    "Release",
    "ReleaseFile",
]


class Check(Shape):
    """What `dpql check --format json` prints."""

    schema_: Schema = Field(alias="schema")
    ok: bool
    diagnostics: list[Finding]


class PlanWithErrors(Shape):
    """What `dpql plan --format json` prints for a query with errors."""

    schema_: Schema = Field(alias="schema")
    plan_hash: None
    ok: Literal[False]
    diagnostics: list[Finding]


class PlanFile(Shape):
    """A plan. `plan_hash` covers `body`, which is all that is trusted; the rest is a view of it.

    The copy that a run writes beside its releases has no view.
    """

    schema_: Schema = Field(alias="schema")
    plan_hash: Sha256
    body: Body
    certificate: Certificate
    ok: Literal[True] = True
    diagnostics: list[Finding] = Field(default_factory=list)
    datasets: list[DatasetView] = Field(default_factory=list)
    keys: list[KeyView] = Field(default_factory=list)
    statements: list[StatementView] = Field(default_factory=list)
    derived: list[DerivedView] = Field(default_factory=list)
    expect: list[ExpectView] = Field(default_factory=list)
    graph: Graph | None = None
    risk: dict[str, Risk | None] = Field(default_factory=dict)


Plan: TypeAlias = PlanFile | PlanWithErrors
