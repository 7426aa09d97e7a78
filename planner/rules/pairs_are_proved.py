"""What a certificate proves of a BUDGET in eps with delta, where that is less than is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.bound import BoundPlan
from planner.calculus.exact import number, text
from planner.findings import Findings
from planner.number_format import shown

__all__ = ["judge"]


def judge(bound: BoundPlan, certificate: Mapping[str, Any], findings: Findings) -> None:
    """Note each dataset whose pair in the certificate lies above the BUDGET that the plan fits.

    The planner composes losses at every choice of sites, and for longer plans, than the rules of a
    certificate reach. No key is charged the pair.
    """
    for dataset in bound.datasets:
        budget = dataset.budget
        if budget is None or budget.unit != "eps_delta":
            continue
        for total in certificate["totals"]:
            out, home = total["out"], (total["dataset"], total["site"])
            if home != (dataset.name, None) or "delta" not in out:
                continue
            if (eps := number(out["eps"])) > budget.amount:
                findings.remark(
                    "DPQL-W232",
                    f"the certificate proves eps={shown(eps)} at delta={text(budget.delta)} for "
                    f"`{dataset.name}`; the plan costs less and fits its BUDGET",
                    dataset.span,
                    note="no rule of a certificate composes losses over a whole dataset beside its "
                    "sites, over two sites of a person, or in very long plans",
                    help="keys are charged eps, rho or mu, each proved; for a pair that is proved "
                    f"too, lower costs, or raise the BUDGET to eps={shown(eps)}",
                )
