"""From a checked plan to one that can be approved: scales, forecasts, certificate, hash."""

from __future__ import annotations

from dataclasses import replace

from grammar.diagnostics import Diagnostic
from planner.bound import BoundMeasurement
from planner.calculus.inverse import Unsolvable
from planner.certificate import certify
from planner.certificate_steps import TooMuchToCheck
from planner.charges import reservations
from planner.checked import CheckedPlan, Price
from planner.costing import try_out
from planner.encode import body_of, plan_hash
from planner.findings import Findings
from planner.least_cost import cost_words, least
from planner.planned import Plan, PlannedMeasurement
from planner.rules import (
    fits_budget,
    meets_expectations,
    pairs_are_proved,
    public_tables_are_bound,
)

__all__ = ["plan"]


def plan(checked: CheckedPlan) -> tuple[Plan | None, tuple[Diagnostic, ...]]:
    """Resolve every `auto`, solve the noise, forecast, and certify; None where that fails.

    The one place where forecasts are computed: nothing later repeats them.
    """
    findings = Findings()
    public_tables_are_bound.judge(checked.bound, findings)
    if findings.failed:
        return None, tuple(findings.items)
    planned = _planned(checked, findings)
    for one in planned:
        for warning in one.warnings:
            findings.warn(
                warning["code"], warning["message"], one.bound.span, help=warning.get("help", "")
            )
    _hypotheses(checked, findings)
    if findings.failed:
        return None, tuple(findings.items)
    checked = _completed(checked, planned, findings)
    if findings.failed:
        return None, tuple(findings.items)
    meets_expectations.judge(checked.bound.expects, tuple(planned), findings)
    body = body_of(checked.bound, tuple(planned))
    digest = plan_hash(body)
    try:
        certificate = certify(body, digest, reservations(checked))
    except TooMuchToCheck:
        findings.error(
            "DPQL-E075",
            "the draws of this plan are more than a checker of certificates composes",
            planned[-1].bound.span,
            note="a ledger takes no plan whose cost it cannot check",
            help="write several files, each with some of the datasets or sites",
        )
        return None, tuple(findings.items)
    pairs_are_proved.judge(checked.bound, certificate, findings)
    done = Plan(checked, tuple(planned), body, digest, certificate)
    return done, tuple(findings.items)


def _planned(checked: CheckedPlan, findings: Findings) -> list[PlannedMeasurement]:
    """The measurements in file order; open costs are looked for in what the written ones leave."""
    prices: dict[str, list[Price]] = {}
    for price in checked.prices:
        prices.setdefault(price.measurement.name, []).append(price)
    found = {}
    for one in checked.bound.measurements:
        if not one.is_open:
            found[one.name] = _priced(one, tuple(prices.get(one.name, ())), findings)
    settled = [price for one in found.values() if one is not None for price in one.prices]
    partly = [price for price in checked.prices if price.measurement.is_open]
    known = replace(checked, prices=(*settled, *partly))
    for one in checked.bound.measurements:
        if one.is_open:
            found[one.name] = _sought(one, known, findings)
    planned = (found[one.name] for one in checked.bound.measurements)
    return [one for one in planned if one is not None]


def _priced(
    bound: BoundMeasurement, prices: tuple[Price, ...], findings: Findings
) -> PlannedMeasurement | None:
    try:
        return try_out(bound, prices)
    except Unsolvable as reason:
        findings.error("DPQL-E069", reason.reason, bound.place("cost"), help=reason.suggestion)
        return None


def _sought(
    bound: BoundMeasurement, checked: CheckedPlan, findings: Findings
) -> PlannedMeasurement | None:
    """The measurement at the least costs that do, heard by its method, with their unit named."""
    found = least(bound, checked, findings)
    if found is None:
        return None
    for price in found.prices:
        budget = checked.bound.dataset(price.paid.source.dataset).budget
        if price.paid.cost is None and budget is not None and budget.unit != price.cost.unit:
            title = f"{bound.mechanism.verb} {bound.mechanism.method}"
            findings.remark(
                "DPQL-W213",
                f"the cost of `{found.name}` became {cost_words((price,))}: `{title}` honours no "
                f"cost in the unit of the BUDGET of `{price.paid.source.dataset}`",
                price.paid.span,
            )
    return found


def _completed(
    checked: CheckedPlan, planned: list[PlannedMeasurement], findings: Findings
) -> CheckedPlan:
    """The plan with every price, held against the budgets once more if some were open."""
    if not any(one.bound.is_open for one in planned) and not any(
        price.is_open for price in checked.prices
    ):
        return checked
    full = replace(checked, prices=tuple(price for one in planned for price in one.prices))
    for dataset in full.bound.datasets:
        fits_budget.judge(dataset, full.prices_of(dataset.name), findings)
    return full


def _hypotheses(checked: CheckedPlan, findings: Findings) -> None:
    for dataset in checked.bound.datasets:
        for column in dataset.facts.columns:
            if column.pattern and column.hypotheses is None:
                findings.error(
                    "DPQL-E031",
                    f"how many columns `{column.name}` names is not known",
                    dataset.span,
                    help="add `HYPOTHESES m` to the pattern",
                )
