"""Small plans, keys and certificates for tests of the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpql.ledger.facts import Cap, KeyFacts, Reviewer, TableFacts
from dpql.ledger.plan_body import PlanBody
from planner.calculus.exact import text

DATA = "/data/trial.parquet"


def table(name: str = "trial", **changes: Any) -> TableFacts:
    """A table of 1,000 rows, one a person."""
    return TableFacts(**{"dataset": name, "rows": 1000, "data": (DATA,), **changes})


def facts(
    name: str = "trial",
    cap: str = "1",
    unit: str = "rho",
    reviewers: Mapping[str, str] | None = None,
    required: int = 0,
    **changes: Any,
) -> KeyFacts:
    """A key over one such table."""
    declared = ((unit.removesuffix("2"), cap),)
    return KeyFacts(
        **{
            "tables": (table(name),),
            "cap": Cap(unit=unit, amount=cap, declared=declared),  # type: ignore[arg-type]
            "reviewers": tuple(
                Reviewer(name=who, public_key=key) for who, key in (reviewers or {}).items()
            ),
            "required": required,
            **changes,
        }
    )


def dataset(name: str = "trial", **changes: Any) -> dict[str, Any]:
    """The declaration of such a table in a plan's body."""
    return {
        "name": name,
        "population": None,
        "relation": "replace",
        "rows": 1000,
        "unit": {"column": None, "max": 1},
        "sites": None,
        "columns": [],
        "norm": None,
        "budget": None,
        **changes,
    }


LEAVES = {"rho": ("zcdp", "rho"), "mu": ("gdp", "mu"), "eps": ("pure", "eps0")}


def leaf(name: str, unit: str, amount: Fraction, site: str | None = None) -> dict[str, Any]:
    """A declared leaf that costs `amount` in eps, rho or mu."""
    kind, param = LEAVES[unit]
    return {
        "kind": kind,
        "count": 1,
        "params": {param: text(amount)},
        "sensitivity": None,
        "scale": None,
        "width": 1,
        "role": "",
        "factor": 1,
        "of": [],
        "dataset": name,
        "site": site,
    }


def plan(
    cost: str | Fraction = "0.1",
    *,
    unit: str = "rho",
    tag: str = "",
    on: Sequence[tuple[str, str | None]] = (("trial", None),),
    datasets: Sequence[Mapping[str, Any]] | None = None,
    evalues: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """A plan file with one statement that costs so much at each of its sources."""
    amount = Fraction(cost)
    names = list(dict.fromkeys(name for name, _ in on))
    body = {
        "schema": "dpql/1",
        "language": "1",
        "datasets": list(datasets or [dataset(name) for name in names]),
        "evalues": list(evalues),
        "statements": [
            {
                "name": "m",
                "verb": "COVARIANCE",
                "method": "ssp",
                "version": "1",
                "on": [{"dataset": name, "site": site} for name, site in on],
                "columns": [],
                "formula": None,
                "by": None,
                "params": {},
                "cost": [
                    {"dataset": name, "site": site, "declared": {unit: text(amount)}}
                    for name, site in on
                ],
                "leaves": [leaf(name, unit, amount, site) for name, site in on],
            }
        ],
        "derived": [],
        "expect": [],
        "study": {"title": tag},
    }
    return {"plan_hash": PlanBody.of(body).hash, "body": body}


def certificate(asked: Mapping[str, Any], amount: str = "") -> dict[str, Any]:
    """The certificate of such a plan, with a total (default: its cost) for every source."""
    from planner.certificate import certify

    ((unit, declared),) = asked["body"]["statements"][0]["cost"][0]["declared"].items()
    native = text(Fraction(declared) ** 2) if unit == "mu" else declared
    reservations = [
        {
            "key": payer.key,
            "dataset": payer.dataset,
            "site": payer.site,
            "unit": "mu2" if unit == "mu" else unit,
            "amount": amount or native,
        }
        for payer in PlanBody.of(asked).payers()
    ]
    return dict(certify(asked["body"], asked["plan_hash"], reservations))
