"""What a plan asks of each key, as its checked certificate says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpql.errors import CertificateRefused
from dpql.ledger.amounts import amount, bounded
from dpql.ledger.plan_body import Payer, PlanBody, canonical, digest
from planner.calculus.cost import LEDGER_UNITS, LedgerUnit

__all__ = ["Request", "check_certificate", "payers_of", "request"]


@dataclass(frozen=True, slots=True)
class Request:
    """The amounts that a certificate claims for some keys, in each key's own unit.

    `reservations` are the claims as the checker takes them, one a dataset or site; `totals` the
    sum a key, an exact rational.
    """

    reservations: tuple[dict[str, Any], ...]
    totals: Mapping[str, Fraction]
    certificate: bytes


@contextmanager
def well_formed(what: str) -> Iterator[None]:
    """Say that `what` is malformed where its structure is not as expected."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise CertificateRefused(
            f"the {what} is malformed", help="`dpql plan` writes the file anew"
        ) from error


def payers_of(body: PlanBody, keys: Sequence[str] | None) -> tuple[Payer, ...]:
    """The datasets and sites of the plan that these keys pay for; all of them without `keys`.

    Every part of a plan that a key guards is charged to it: none can be left out.
    """
    with well_formed("plan"):
        payers = body.payers()
    if keys is None:
        chosen = payers
    else:
        chosen = tuple(payer for payer in payers if payer.key in set(keys))
        missing = sorted(set(keys) - {payer.key for payer in chosen})
        if missing:
            raise CertificateRefused(f"the plan charges nothing to `{missing[0]}`")
    if not chosen:
        raise CertificateRefused(
            "the plan charges nothing", note="a plan without a measurement needs no ledger"
        )
    return chosen


_WAYS_OUT: Mapping[LedgerUnit, str] = {
    "eps": "it draws noise without bound, such as Gaussian noise: give every cost as eps=, or ask "
    "the custodian for a key that counts rho or mu",
    "rho": "it holds a cost with a delta of its own: use methods with Gaussian or bounded noise",
    "mu2": "a method spends rho step by step, which has no mu: give that cost as mu=, or ask the "
    "custodian for a key that counts rho",
}
"""Why a plan may have no total in the unit of a key, and what to do."""


def request(
    payers: Sequence[Payer], certificate: Mapping[str, Any], units: Mapping[str, LedgerUnit]
) -> Request:
    """The certificate's totals for these payers in the units of their keys."""
    reservations = []
    totals: dict[str, Fraction] = {}
    with well_formed("certificate"):
        for payer in payers:
            unit = units[payer.key]
            claims = [
                total["out"][unit]
                for total in certificate["totals"]
                if (total["dataset"], total["site"]) == (payer.dataset, payer.site)
                and unit in total["out"]
            ]
            if len(claims) != 1:
                name = LEDGER_UNITS[unit]
                raise CertificateRefused(
                    f"the certificate has {len(claims)} totals in {name} for `{payer.dataset}`",
                    note=f"key `{payer.key}` counts in {name}, and wants exactly one",
                    help="plan the query anew"
                    + ("" if claims else f"; if it still has none, {_WAYS_OUT[unit]}"),
                )
            value = amount(claims[0])
            if value <= 0:
                raise CertificateRefused(f"the certificate charges `{payer.key}` nothing")
            reservations.append(
                {
                    "key": payer.key,
                    "dataset": payer.dataset,
                    "site": payer.site,
                    "unit": unit,
                    "amount": claims[0],
                }
            )
            totals[payer.key] = bounded(totals.get(payer.key, Fraction(0)) + value)
    return Request(tuple(reservations), totals, canonical(dict(certificate)))


_MOST_PROVED = 4096
_proved: set[tuple[str, str, str]] = set()
"""Hashes of the certificates, plans and reservations that this process has checked."""


def check_certificate(asked: Request, body: PlanBody) -> None:
    """Raise `CertificateRefused` unless the independent checker accepts every claim.

    A run asks before it looks at the data and again when it reserves. What was accepted is known
    again by its bytes; a rejection is never remembered.
    """
    from dpql import checker

    claims = canonical(list(asked.reservations))
    seen = (digest(asked.certificate), digest(body.bytes), digest(claims))
    if seen in _proved:
        return
    try:
        checker.check(asked.certificate, body.bytes, list(asked.reservations))
    except checker.Rejected as error:
        raise CertificateRefused(
            "the certificate does not prove the plan's cost",
            note=str(error)[:300],
            help="`dpql plan` writes a new certificate; `dpql certificate verify` checks it",
        ) from error
    if len(_proved) >= _MOST_PROVED:
        _proved.clear()
    _proved.add(seen)
