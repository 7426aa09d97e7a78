"""The part of a plan that its hash covers, as a ledger reads it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import rfc8785

from dpql.errors import CertificateRefused, NoiseRefused

__all__ = ["Payer", "PlanBody", "canonical", "digest", "digest_text"]


def canonical(value: Any) -> bytes:
    """The RFC 8785 bytes of a JSON value."""
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeError) as error:
        raise CertificateRefused(
            "the plan or its certificate is not plain JSON", note=str(error)[:200]
        ) from error


def digest(data: bytes) -> str:
    """The sha256 of `data` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def digest_text(text: str) -> str:
    """The sha256 of a text as it was stored, also where it is no longer valid UTF-8."""
    return digest(text.encode("utf-8", "surrogateescape"))


@dataclass(frozen=True, slots=True)
class Payer:
    """One dataset, or one of its sites, and the key that pays for it."""

    key: str
    dataset: str
    site: str | None


@dataclass(frozen=True, slots=True)
class PlanBody:
    """A plan's body with its canonical bytes and its hash, recomputed."""

    value: Mapping[str, Any]
    bytes: bytes
    hash: str

    @classmethod
    def of(cls, plan: Mapping[str, Any]) -> PlanBody:
        """The body of a plan file; a hash in the file that is not the body's is refused."""
        body = plan.get("body", plan)
        claimed = plan.get("plan_hash")
        if plan.get("mock") is True or str(claimed).startswith("mock:"):
            raise NoiseRefused(
                "a mock plan cannot be charged", help="plan again without `--mock`, then run"
            )
        if not isinstance(body, Mapping):
            raise CertificateRefused("the plan has no body")
        data = canonical(dict(body))
        found = digest(data)
        if claimed is not None and claimed != found:
            raise CertificateRefused(
                "the plan's hash is not the hash of its body",
                note=f"the file says {str(claimed)[:12]}, its body has {found[:12]}",
                help="`dpql plan` writes the file anew; it must then be approved anew",
            )
        return cls(body, data, found)

    def dataset(self, name: str) -> Mapping[str, Any]:
        """The declaration of a dataset."""
        for dataset in self.value.get("datasets", ()):
            if dataset.get("name") == name:
                return dict(dataset)
        raise CertificateRefused(f"the plan charges `{name}` but does not declare it")

    def payers(self) -> tuple[Payer, ...]:
        """Every dataset and site that pays for a statement, sorted.

        What draws noise pays too, where no declared cost covers it: none is left out.
        """
        found: set[tuple[str, str | None]] = set()
        for statement in self.value.get("statements", ()):
            costs = {(cost["dataset"], cost.get("site")) for cost in statement.get("cost", ())}
            for part in (*statement.get("leaves", ()), *statement.get("on", ())):
                home = (part.get("dataset"), part.get("site"))
                if home[0] is not None and not {home, (home[0], None)} & costs:
                    costs.add(home)
            found |= costs
        payers = []
        for dataset, site in found:
            name = self.dataset(dataset).get("population") or dataset
            payers.append(Payer(name if site is None else f"{name}/{site}", dataset, site))
        return tuple(sorted(payers, key=lambda payer: (payer.key, payer.dataset, str(payer.site))))
