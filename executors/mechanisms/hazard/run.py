"""Two tables, to two noisy cumulative hazards with the test that is made of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from executors.mechanisms.hazard.combine import combine
from executors.mechanisms.hazard.cost import HazardTestParams
from executors.noise import StatementNoise
from executors.pricing.hazard import horizon_of
from executors.release import Outcome
from executors.statistics.hazard_site import as_release, measure
from planner.calculus.leaves import Loss
from planner.facts import Facts

__all__ = ["run", "site_release"]


def site_release(
    params: HazardTestParams,
    facts: Facts,
    place: int,
    loss: Loss,
    stats: Any,
    noise: StatementNoise,
) -> Outcome:
    """What the source at this place of ON releases: it needs no row, and no noise, of the other.

    `stats` asks this source's rows; `loss` and `noise` need hold no more than its own two leaves.
    """
    alone = replace(facts, sources=(facts.sources[place],))
    return measure(params, alone, loss, stats, noise, horizon_of(params, facts))


def run(
    params: HazardTestParams, facts: Facts, loss: Loss, stats: Any, noise: StatementNoise
) -> Outcome:
    """The test, with both curves. `stats.at(source)` asks one source."""
    sites = [
        site_release(params, facts, place, loss, stats.at(source), noise)
        for place, source in enumerate(facts.sources)
    ]
    first, second = (as_release(site) for site in sites)
    notes = [
        replace(note, role=f"{note.role} of {source.name}")
        for source, site in zip(facts.sources, sites, strict=True)
        for note in site.noise
    ]
    return replace(combine(first, second, params, facts, loss), noise=tuple(notes))
