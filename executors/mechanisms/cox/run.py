"""Groups of records, to a noisy log partial likelihood ratio with its decision."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from executors.mechanisms.cox.cost import query
from executors.mechanisms.cox.design import design_of
from executors.mechanisms.cox.params import CoxParams
from executors.noise import StatementNoise
from executors.release import Outcome
from executors.statistics.survival import log_ratio
from executors.statistics.survival_decision import Noise, p_value, threshold
from executors.summaries.survival_groups import SurvivalGroups
from planner.calculus.leaves import Loss
from planner.facts import Facts
from planner.mechanism import Query

__all__ = ["run"]

STEPS = 2.0**-19
"""At least two steps of the noise's grid, in its scales: claim 5 of proof.md."""

CONFIDENCE = 0.95
NORMAL = 1.959963984540054


def run(
    params: CoxParams,
    facts: Facts,
    loss: Loss,
    stats: Callable[[Query], SurvivalGroups],
    noise: StatementNoise,
) -> Outcome:
    """The release. Everything but the noisy statistic is computed from it and from public facts."""
    design = design_of(params, facts)
    (leaf,) = loss.leaves
    groups = stats(query(params, facts))
    exact = log_ratio(groups, design.floor)
    draw = noise.lap if leaf.kind == "lap" else noise.gauss
    (statistic,), note = draw(leaf, [exact])
    law = Noise("laplace" if leaf.kind == "lap" else "gaussian", note.scale)
    margin = STEPS * law.scale + float(design.rounding_error)
    found = p_value(statistic - margin, law, params.rule)
    reach = _reach(law)
    value: dict[str, Any] = {
        "statistic": statistic,
        "p_value": found,
        "reject": Fraction(found) <= params.level,
        "level": float(params.level),
        "threshold": threshold(float(params.level), law, params.rule) + margin,
        "rule": params.rule,
        "null": [float(number) for number in design.null],
        "tested_against": [float(number) for number in design.alternative],
        "shrink": float(params.shrink),
        "riskfloor": float(params.riskfloor),
        "sensitivity": float(design.sensitivity),
    }
    return Outcome(
        value=value,
        uncertainty={
            "of": "the log partial likelihood ratio of these records without noise",
            "confidence": CONFIDENCE,
            "lower": statistic - reach,
            "upper": statistic + reach,
            "noise_sd": law.scale * (math.sqrt(2.0) if law.law == "laplace" else 1.0),
        },
        noise=(note,),
        notes=(
            "A rejection speaks against the first coefficients; it does not show that the second "
            "are right.",
        ),
    )


def _reach(law: Noise) -> float:
    """How far the noise reaches with the stated confidence."""
    if law.law == "laplace":
        return -law.scale * math.log(1.0 - CONFIDENCE)
    return NORMAL * law.scale
