"""The released log e-values of a peeling, read back for another decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Hits"]


@dataclass(frozen=True, slots=True)
class Hits:
    """`names` with their noisy log e-values; `hypotheses` counts those not selected as well."""

    names: tuple[Any, ...]
    log_evalues: tuple[float, ...]
    hypotheses: int
    log_k: float

    @classmethod
    def of(cls, release: Mapping[str, Any]) -> Hits:
        """From a release's JSON."""
        value = release["value"]
        return cls(
            tuple(value["selected"]),
            tuple(float(one) for one in value["log_evalue"]),
            int(value["hypotheses"]),
            float(release["uncertainty"]["log_k"]),
        )

    def rejected(self, decisions: Sequence[bool]) -> list[Any]:
        """The names for which the decision is yes."""
        return [name for name, is_out in zip(self.names, decisions, strict=True) if is_out]
