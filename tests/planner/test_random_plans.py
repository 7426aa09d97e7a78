"""Random query files: what the plan claims for a person, beside the losses of its own leaves.

The losses are composed in floats for every choice of sites where one person may be, by
suites/optimist, which shares nothing with the calculus: rounded down for what no claim may
undercut, to the nearest for what it may hardly exceed.
"""

from __future__ import annotations

import math
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest

from dpql.api import plan
from planner.calculus.exact import number
from suites.optimist import composed, delta_at, least_mu

Law = tuple[str, float, int]
COLUMNS = "(t DURATION IN [0, 9], e EVENT, a REAL IN [0, 1], b REAL IN [-1, 1])"
WHOLE = (
    "RELEASE survival ON d {gauss}",
    "COVARIANCE ssp ON d COLUMNS (a, b) {gauss}",
    "TEST cox ON d beta=[0, 0] VS [0.5, 0.1] shrink=0.5 riskfloor=0.1 COLUMNS (a, b) {any}",
)
AT_A_SITE = (
    "RELEASE survival ON {site} {gauss}",
    "RELEASE hazard ON {site} tree=haar {any}",
)
BETWEEN = "TEST hazard ON {site} VS {other} tree=haar BUDGET {any} AT {site} AND {gauss} AT {other}"


def random_text(draw: Random) -> tuple[str, int]:
    """Two to six statements over a dataset of up to three sites, and at how many one may be."""
    sites = "xyz"[: draw.choice((1, 2, 3, 3))]
    most = draw.randint(1, len(sites))

    def gauss() -> str:
        return f"{draw.choice(('mu', 'rho'))}={draw.randint(20, 400) / 1000}"

    lines = [
        f"DATASET d ROWS {300 * len(sites)} SITES "
        f"({', '.join(f'{s} ROWS 300' for s in sites)}) MAX {most} COLUMNS {COLUMNS}"
    ]
    for _ in range(draw.randint(2, 6)):
        form = draw.choice((draw.choice(WHOLE), *AT_A_SITE, *([BETWEEN] * (len(sites) > 1))))
        site, other = draw.sample(sites, 2) if len(sites) > 1 else (sites, sites)
        any_unit = draw.choice((gauss(), f"eps={draw.randint(20, 900) / 1000}"))
        lines.append(form.format(site=site, other=other, gauss=gauss(), any=any_unit))
    return "\n".join(lines), most


def laws_at(made: dict[str, Any], sites: tuple[str | None, ...]) -> list[Law]:
    """The draws that someone at these sites takes part in."""
    names = {"gauss": "gauss", "dgauss": "gauss", "lap": "lap", "pure": "pure"}
    return [
        (names[leaf["kind"]], float(number(*leaf["params"].values())), leaf["count"])
        for statement in made["statements"]
        for leaf in statement["leaves"]
        if leaf["site"] in sites
    ]


def check_claims(total: dict[str, Any], persons: list[list[Law]], loose: float) -> None:
    """A total against the persons it speaks of: never below any, just above the worst.

    A joint mu composes what is drawn at one site and adds up over sites: it may be `loose`.
    """
    steps = [math.sqrt(sum(size**2 * count for _, size, count in laws)) / 500 for laws in persons]
    down, near = (
        [composed(laws, step, moved) for laws, step in zip(persons, steps, strict=True)]
        for moved in (1.0, 0.5)
    )
    mu = float(number(total["mu"]))
    assert max(map(least_mu, down)) <= mu * (1 + 1e-9)
    assert mu <= max(map(least_mu, near)) * loose
    assert max(float(np.sum(at * mass)) for at, mass in down) <= float(number(total["rho"]))
    for bound in total["eps_delta"]:
        eps, delta = float(number(bound["eps"])), float(number(bound["delta"]))
        assert max(delta_at(losses, eps) for losses in down) <= delta * (1 + 1e-6) + 1e-12
        if delta:
            assert max(delta_at(losses, eps * 0.99) for losses in near) >= delta
    bounded = [
        sum(size * count for kind, size, count in laws if kind != "gauss") for laws in persons
    ]
    if any(kind == "gauss" for laws in persons for kind, _, _ in laws):
        assert total["eps"] is None
    else:
        assert (
            max(bounded) * (1 - 1e-12) <= float(number(total["eps"])) <= max(bounded) * (1 + 1e-9)
        )


def check_plan(seed: int) -> None:
    text, most = random_text(Random(seed))
    made = plan(text)
    assert made.ok, text
    shown = made.json()
    (dataset,) = shown["datasets"]
    names = [site["name"] for site in dataset["sites"]]
    persons = [laws_at(shown, (None, *chosen)) for chosen in combinations(names, most)]
    check_claims(dataset["total"], [laws for laws in persons if laws], 1.15)
    for site in dataset["sites"]:
        if laws := laws_at(shown, (site["name"],)):
            check_claims(site["total"], [laws], 1.01)


@pytest.mark.parametrize("seed", range(12))
def test_a_plan_claims_what_its_leaves_cost_the_worst_person(seed: int) -> None:
    check_plan(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 150))
def test_many_plans_claim_what_their_leaves_cost_the_worst_person(seed: int) -> None:
    check_plan(seed)
