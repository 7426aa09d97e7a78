"""What leaves a run: a value, how far to trust it, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from grammar.exchange import SCHEMA

__all__ = ["Law", "NoiseNote", "Outcome", "Release"]

Law = Literal[
    "discrete_laplace", "discrete_gaussian", "exponential_mechanism", "knorm_linf", "knorm_l2"
]


@dataclass(frozen=True, slots=True)
class NoiseNote:
    """The law and the scale really drawn, in the units of the released number."""

    law: Law
    scale: float
    role: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a mechanism's `run` returns: plain JSON values, no privacy figures of its own.

    `tables` maps a file suffix-free name to columns of equal length, written as Parquet or CSV.
    """

    value: Mapping[str, Any]
    uncertainty: Mapping[str, Any]
    noise: tuple[NoiseNote, ...]
    notes: tuple[str, ...] = ()
    tables: Mapping[str, Mapping[str, tuple[Any, ...]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Release:
    """An outcome with its statement, its price and the plan that it belongs to."""

    name: str
    verb: str
    method: str
    version: int
    rid: str
    plan_hash: str
    mock: bool
    outcome: Outcome
    cost: Mapping[str, Any]

    def json(self) -> dict[str, Any]:
        """The release as its file holds it."""
        outcome = self.outcome
        tables = {
            name: {column: list(values) for column, values in table.items()}
            for name, table in outcome.tables.items()
        }
        return {
            "schema": SCHEMA,
            "kind": "release",
            "name": self.name,
            "verb": self.verb,
            "method": self.method,
            "version": self.version,
            "rid": self.rid,
            "plan_hash": self.plan_hash,
            "mock": self.mock,
            "value": dict(outcome.value),
            "uncertainty": dict(outcome.uncertainty),
            "noise": [
                {"law": note.law, "scale": note.scale, "role": note.role} for note in outcome.noise
            ],
            "cost": dict(self.cost),
            "notes": list(outcome.notes),
            **({"tables": tables} if tables else {}),
        }
