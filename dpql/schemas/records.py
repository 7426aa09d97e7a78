"""The shapes of what is kept: releases, approvals, the exported ledger."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from dpql.schemas.shape import Count, Instant, Open, PlanDigest, Schema, Sha256, Shape
from dpql.schemas.view import Cost

__all__ = ["Approval", "DerivedRelease", "LedgerExport", "Release", "ReleaseFile"]


class Noise(Shape):
    """The law and scale that were drawn, in the units of the released number."""

    law: Literal[
        "discrete_laplace", "discrete_gaussian", "exponential_mechanism", "knorm_linf", "knorm_l2"
    ]
    scale: float
    role: str


class Release(Shape):
    """A measurement's result. Fields of `value` and `uncertainty` depend on the method."""

    schema_: Schema = Field(alias="schema")
    kind: Literal["release"]
    name: str
    verb: str
    method: str
    version: Count
    rid: str
    plan_hash: PlanDigest
    mock: bool
    value: Open
    uncertainty: Open
    noise: list[Noise]
    cost: Cost
    notes: list[str]
    tables: dict[str, Open] = Field(default_factory=dict)


class DerivedRelease(Shape):
    """A result computed from a release, at no cost."""

    schema_: Schema = Field(alias="schema")
    kind: Literal["derived"]
    name: str
    function: str
    of: str
    rid: str
    plan_hash: PlanDigest
    mock: bool
    value: Open
    uncertainty: Open = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    tables: dict[str, Open] = Field(default_factory=dict)


class Approval(Shape):
    """A reviewer's signature over a plan's hash, for one ledger key and so many runs."""

    schema_: Literal["dpql/approval/1"] = Field(alias="schema")
    plan_hash: Sha256
    key: str
    role: str
    signer: str
    public_key: Annotated[str, Field(pattern=r"^ed25519:[0-9a-f]{64}$")]
    time: Instant
    expiry: Instant
    runs: Annotated[int, Field(ge=1, le=1_000_000)]
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


class Head(Shape):
    """The number and hash of the last entry: keep it where the ledger's host cannot write."""

    schema_: Schema = Field(alias="schema")
    kind: Literal["ledger_head"]
    ledger: str
    seq: Annotated[int, Field(ge=0)]
    hash: Sha256


class Entry(Shape):
    """One entry; `hash` covers all other fields, so also `prev_hash`. `body` is JSON as text."""

    seq: Count
    utc: Instant
    actor: str
    role: str
    ledger_key: str
    kind: str
    rid: str
    units: str
    plan_hash: str
    certificate_hash: str
    policy_version: str
    body: str
    prev_hash: Sha256
    hash: Sha256


class LedgerExport(Shape):
    """The whole record."""

    schema_: Schema = Field(alias="schema")
    kind: Literal["ledger_export"]
    head: Head
    entries: list[Entry]


ReleaseFile: TypeAlias = Release | DerivedRelease
