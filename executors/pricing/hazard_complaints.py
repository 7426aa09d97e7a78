"""What can be wrong with a statement about a cumulative hazard, found without data."""

from __future__ import annotations

from collections.abc import Iterator

from executors.pricing.hazard import CurveParams, HazardParams
from executors.pricing.survival_complaints import about_source
from planner.facts import Facts
from planner.mechanism import AUTO, Complaint, Units

__all__ = ["about", "curve_assumptions", "silent_rules"]


def about(params: HazardParams, facts: Facts, units: Units, title: str) -> tuple[Complaint, ...]:
    """What is wrong with the sources, the horizon, the bins and the unit of the cost."""
    found = [
        complaint
        for source in facts.sources
        for complaint in about_source(Facts((source,), facts.columns), title)
    ]
    if not found:
        found += _about_horizon(params, facts)
    return (*found, *_about_tree(params, units))


def _about_horizon(params: HazardParams, facts: Facts) -> Iterator[Complaint]:
    for source in facts.sources:
        (duration,) = source.role("duration")
        if params.horizon == AUTO or duration.hi is None or params.horizon <= duration.hi:
            continue
        yield Complaint(
            "DPQL-E153",
            f"the horizon lies beyond the range of `{duration.name}` of `{source.name}`",
            "horizon",
            note="a time above the range counts as censored at its end, so nothing is known beyond",
            help="write a horizon within the range, or declare a longer one",
        )


def _about_tree(params: HazardParams, units: Units) -> Iterator[Complaint]:
    is_power = params.bins >= 2 and params.bins & (params.bins - 1) == 0
    if params.tree == "haar" and not is_power:
        below = max(2, 2 ** (params.bins.bit_length() - 1))
        yield Complaint(
            "DPQL-E151",
            f"`tree=haar` cannot cut the time into {params.bins} bins",
            "bins",
            note="it sums over halves, quarters and so on",
            help=f"write a power of two, such as `bins={below}`, or `tree=sqrt`",
        )
    if params.tree == "sqrt" and "eps" in units.values():
        yield Complaint(
            "DPQL-E152",
            "`tree=sqrt` cannot honour a cost in eps alone",
            "cost",
            note="its noise is Gaussian, which no eps bounds without a delta",
            help="write `tree=haar`, or a cost in `eps=, delta=`, `rho=` or `mu=`",
        )


def curve_assumptions(params: CurveParams, facts: Facts) -> tuple[str, ...]:
    """What the band of one curve assumes; privacy assumes none of it."""
    return (
        "The band assumes censoring that tells nothing about survival. It is for one time at once, "
        "and for many records.",
        *silent_rules(facts),
    )


def silent_rules(facts: Facts) -> tuple[str, ...]:
    """What happens to records without anybody being told, as plain sentences."""
    said = []
    datasets = {source.dataset: source for source in facts.sources}
    for name, source in datasets.items():
        (duration,), (event,) = source.role("duration"), source.role("event")
        whose = f" of `{name}`" if len(datasets) > 1 else ""
        said += [
            f"`{event.name}`{whose} is coded 0 and 1, or false and true. Under another coding "
            "every record is emptied.",
            f"A `{duration.name}`{whose} beyond its range becomes a censoring at the end of the "
            "range; how many is not told.",
        ]
    said += [
        "A record with a missing, infinite or unreadable value, a negative time or another event "
        "code counts as censored at time 0; how many is not told.",
        "One person has one record; the guarantee is about replacing it.",
    ]
    return tuple(said)
