"""What a score test releases: noisy statistics, judged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from executors.noise import StatementNoise
from executors.pricing.score_design import Law, ScoreDesign
from executors.release import NoiseNote, Outcome
from executors.statistics.score_decision import Judge
from executors.statistics.score_law import SEED, SIMULATIONS, ScoreNoise, unit_reach
from executors.statistics.survival_decision import Noise
from planner.calculus.leaves import Leaf, Loss

__all__ = ["judge_of", "score_outcome"]

STEPS = 2.0**-19
"""At least two steps of the noise's grid, in its scales: claim 5 of the score's proof.md."""
CONFIDENCE = 0.95
NORMAL = 1.959963984540054


def judge_of(design: ScoreDesign, level: Fraction, score: Leaf, trace: Leaf | None) -> Judge:
    """The judge of a priced test; its noise has the scales of the leaves."""
    return _judge(design, level, score, _scale(score), None if trace is None else _noise(trace))


def score_outcome(
    design: ScoreDesign,
    loss: Loss,
    exact: tuple[list[float], float | None],
    noise: StatementNoise,
    level: Fraction,
    said: Mapping[str, Any],
    notes: tuple[str, ...],
) -> Outcome:
    """The release of a score with its trace; `said` and `notes` are public and go with it.

    Everything but the two noisy statistics is computed from them and from public facts.
    """
    leaf = loss.leaves[0]
    draw = {"lap": noise.lap, "gauss": noise.gauss}.get(leaf.kind)
    if draw is None:
        score, note = noise.knorm(leaf, exact[0], design.norm)
    else:
        score, note = draw(leaf, exact[0])
    trace, drawn = None, [note]
    if exact[1] is not None:
        paid = loss.leaves[1]
        (trace,), trace_note = (noise.lap if paid.kind == "lap" else noise.gauss)(paid, [exact[1]])
        drawn.append(trace_note)
    trace_noise = None if trace is None else _known(loss.leaves[1], drawn[1])
    judge = _judge(design, level, leaf, note.scale, trace_noise)
    length = math.hypot(*score) / math.sqrt(design.rows)
    margin = _score_margin(design, note)
    spread = judge.upper_trace(
        None if trace is None else (trace + _trace_margin(design, drawn[1])) / design.trace_rows
    )
    found = judge.p_value(length - margin, spread)
    value: dict[str, Any] = {
        "statistic": length,
        "p_value": found,
        "reject": Fraction(found) <= level,
        "level": float(level),
        "threshold": judge.threshold(spread) + margin,
        "score": score,
        "trace": trace,
        "trace_bound": spread,
        "rows": design.rows,
        "trace_rows": design.trace_rows,
        "sensitivity": float(_moved(leaf)),
        **said,
    }
    if design.columns > 1:
        value |= {"simulations": SIMULATIONS, "seed": SEED}
    return Outcome(
        value=value,
        uncertainty=_uncertainty(score, note),
        noise=tuple(drawn),
        notes=notes,
    )


def _judge(
    design: ScoreDesign, level: Fraction, leaf: Leaf, scale: float, trace: Noise | None
) -> Judge:
    law = ScoreNoise(design.law(leaf.kind), scale / math.sqrt(design.rows), design.columns)
    rows = design.trace_rows
    narrowed = None if trace is None else Noise(trace.law, trace.scale / rows)
    return Judge(float(level), law, narrowed, float(design.largest_trace))


def _noise(leaf: Leaf) -> Noise:
    return Noise("laplace" if leaf.kind == "lap" else "gaussian", _scale(leaf))


def _known(leaf: Leaf, note: NoiseNote) -> Noise:
    return Noise("laplace" if leaf.kind == "lap" else "gaussian", note.scale)


def _scale(leaf: Leaf) -> float:
    if leaf.scale is None:
        raise ValueError("a score's leaf has a scale")
    return float(leaf.scale)


def _moved(leaf: Leaf) -> Fraction:
    if leaf.sensitivity is None:
        raise ValueError("a score's leaf has a sensitivity")
    return leaf.sensitivity


def _score_margin(design: ScoreDesign, note: NoiseNote) -> float:
    """What the grid and floating-point arithmetic may add to a length over the root of n."""
    grid = math.sqrt(design.columns) * STEPS * note.scale
    return (grid + float(design.score_error)) / math.sqrt(design.rows)


def _trace_margin(design: ScoreDesign, note: NoiseNote) -> float:
    return STEPS * note.scale + float(design.trace_error)


def _uncertainty(score: list[float], note: NoiseNote) -> dict[str, Any]:
    """Intervals of each coordinate without noise, each at the stated confidence."""
    reach, deviation = _reach(note, len(score))
    return {
        "of": "each coordinate of the score of these records without noise",
        "confidence": CONFIDENCE,
        "lower": [value - reach for value in score],
        "upper": [value + reach for value in score],
        "noise_sd": deviation,
    }


def _reach(note: NoiseNote, columns: int) -> tuple[float, float]:
    """How far the noise on one coordinate reaches with the stated confidence; its deviation."""
    b = note.scale
    if note.law == "discrete_laplace":
        return -b * math.log(1.0 - CONFIDENCE), b * math.sqrt(2.0)
    if note.law == "discrete_gaussian":
        return NORMAL * b, b
    law: Law = "knorm_l2" if note.law == "knorm_l2" else "knorm_linf"
    deviation = math.sqrt(ScoreNoise(law, b, columns).mean_square / columns)
    return b * unit_reach(law, columns, CONFIDENCE), deviation
