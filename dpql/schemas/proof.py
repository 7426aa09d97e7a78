"""The shape of a certificate."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dpql.schemas.body import Unit
from dpql.schemas.shape import Exact, Open, Sha256, Shape

__all__ = ["Certificate"]


class CertificateDataset(Shape):
    """The facts of a dataset on which its cost rests."""

    name: str
    population: str | None
    relation: Literal["replace"]
    unit: Unit
    sites: Open | None


class CertificateNode(Shape):
    """One step of the derivation; what `in` holds depends on the rule."""

    id: str
    rule: str
    in_: Open = Field(alias="in")
    out: dict[str, Exact]


class CertificateTotal(Shape):
    """What the derivation proves for one dataset or site."""

    dataset: str
    site: str | None
    node: str
    out: dict[str, Exact]


class Certificate(Shape):
    """The derivation of every total."""

    version: Literal[1]
    plan_hash: Sha256
    relation: Literal["replace"]
    datasets: list[CertificateDataset]
    nodes: list[CertificateNode]
    totals: list[CertificateTotal]
