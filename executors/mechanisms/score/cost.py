"""The price of a noisy score."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from executors.mechanisms.score.params import ScoreParams
from executors.pricing.score_design import ScoreDesign, quieter_noise
from executors.pricing.survival_complaints import about_columns, about_source, too_spread
from executors.pricing.survival_covariates import covariate_domain
from executors.pricing.survival_model import about_length, about_size, about_times
from executors.pricing.survival_sentences import EVENLY_SPREAD, about_null, about_records
from planner.calculus.cost import Cost
from planner.calculus.exact import root_down
from planner.calculus.need import Need
from planner.facts import Facts
from planner.mechanism import AUTO, Complaint, Query, Units

__all__ = ["ScoreParams", "assumptions", "check", "design_of", "need", "query", "settle"]

LEAST_LEVEL, MOST_LEVEL = Fraction(1, 10_000), Fraction(1, 10)
LEAST_SPLIT = 11
"""So many rows leave two for the variance when a tenth is split off."""


def design_of(params: ScoreParams, facts: Facts) -> ScoreDesign:
    """The test that the statement comes down to."""
    return ScoreDesign.of(
        facts.rows,
        params.riskfloor,
        covariate_domain(facts),
        params.beta,
        params.score_share,
        standardise=True,
        split=params.variant == "paper" and params.trace == "private",
    )


def settle(params: ScoreParams, facts: Facts, cost: Cost) -> ScoreParams:
    """The options with `noise=auto` replaced: it decides what is drawn, and needs no data."""
    if params.noise != AUTO:
        return params
    if cost.unit in ("rho", "mu"):
        return params.model_copy(update={"noise": "gaussian"})
    return params.model_copy(update={"noise": quieter_noise(design_of(params, facts), cost)})


def need(params: ScoreParams, facts: Facts, units: Units) -> tuple[Need, ...]:
    """The score, then its trace: under eps Laplace or K-norm noise, under rho and mu Gaussian.

    The sensitivities are those of one record replaced, with the slack of floating-point
    arithmetic. Proof: proof.md, claims 1 to 3. Checked: tests/executors/mechanisms/score.
    """
    source = facts.source
    noise = "knorm" if params.noise == AUTO else params.noise
    return design_of(params, facts).needs(source, units[source.name], noise)


def query(params: ScoreParams, facts: Facts) -> Query:
    """The sums of each distinct time, records clamped to the declared domain."""
    design = design_of(params, facts)
    (duration,), (event,) = facts.source.role("duration"), facts.source.role("event")
    parameters = (
        ("domain", design.domain),
        ("parts", ("score",)),
        ("null", design.null),
        ("scale", design.scale),
    )
    columns = (duration, event, *facts.columns)
    if design.is_split:
        first = ("first", design.trace_rows)
        return Query("survival_split", columns, (*parameters, first), ordered=True)
    return Query("survival_groups", columns, parameters)


def check(params: ScoreParams, facts: Facts, units: Units) -> tuple[Complaint, ...]:
    """Everything that is wrong with the statement."""
    found = [
        *about_source(facts, "TEST score"),
        *about_columns(facts),
        *about_length(params.beta, facts),
        *_about_options(params, facts, units),
    ]
    if not found:
        found += about_size(covariate_domain(facts).width(params.beta))
        found += _about_spread(params, facts)
    if not any(complaint.code.startswith("DPQL-E") for complaint in found):
        found += about_times(params.beta, facts, params.event_rate, params.resolution)
    return tuple(found)


def _about_options(params: ScoreParams, facts: Facts, units: Units) -> Iterator[Complaint]:
    if len(facts.columns) > 1 and params.level > MOST_LEVEL:
        yield Complaint(
            "DPQL-E146",
            "the level of a test of several coefficients is at most 0.1",
            "level",
            note="the p-value takes the worst covariance of the released trace; above 0.1 it is "
            "not known which one that is",
            help="write `level=0.1` or less",
        )
    if len(facts.columns) > 1 and params.level < LEAST_LEVEL:
        yield Complaint(
            "DPQL-E149",
            "the level of a test of several coefficients is at least 0.0001",
            "level",
            note="its p-value comes from 200,000 simulated draws, which cannot tell smaller levels",
            help="write `level=0.0001` or more, or test one coefficient",
        )
    if params.variant == "paper" and params.trace == "private" and facts.rows < LEAST_SPLIT:
        yield Complaint(
            "DPQL-E144",
            f"a tenth of {facts.rows} records is too few for a variance",
            "variant",
            help="leave `variant=paper` out",
        )
    for unit in units.values():
        wrong = {"eps": "gaussian", "rho": "knorm", "mu": "knorm"}.get(unit)
        if params.noise == wrong:
            yield Complaint(
                "DPQL-E148",
                f"`noise={wrong}` does not go with a cost in {unit}",
                "noise",
                note="Gaussian noise has no eps without a delta; noise in the shape of the ranges "
                "is wasteful under rho and mu",
                help="leave `noise` out, or give the cost as `eps=..., delta=...`",
            )


def _about_spread(params: ScoreParams, facts: Facts) -> Iterator[Complaint]:
    """The covariates' variances add up to no more than the largest trace of a covariance."""
    design = design_of(params, facts)
    most = design.largest_trace / design.columns
    if params.spread != AUTO and params.spread**2 > most:
        yield too_spread(root_down(most), "covariate")


def assumptions(params: ScoreParams, facts: Facts) -> tuple[str, ...]:
    """What the level and the forecast assume; privacy assumes none of it."""
    said = [
        "The level assumes proportional hazards at these coefficients, censoring that tells "
        "nothing about survival, times recorded so finely that no two events share one, and many "
        "records.",
        *about_records(facts),
        "A rejection says that the coefficients are others; not which.",
        *about_null(params.beta, facts, params.event_rate, params.resolution, "coefficients"),
    ]
    if design_of(params, facts).scale is not None:
        said.append(
            "Each covariate is centred, then scaled so that its range becomes [-1, 1]; `radius` "
            "and `spread` are in these units."
        )
    if params.variant == "paper" and params.trace == "private":
        said.append(
            "The first tenth of the rows, by row number, gives the variance, the others give the "
            "score. Both parts are charged as if they held the same people."
        )
    if params.radius is not None and params.spread == AUTO:
        said.append(EVENLY_SPREAD)
    return tuple(said)
