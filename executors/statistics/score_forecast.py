"""How likely a score test is to reject, from public planning values only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from executors.pricing.score_design import ScoreDesign
from executors.pricing.survival_sentences import cannot_succeed
from executors.statistics.draws import row_chunks
from executors.statistics.score_decision import Judge
from executors.statistics.score_law import SEED, unit_noise
from executors.statistics.score_release import judge_of
from executors.statistics.survival_decision import Noise, power
from executors.statistics.survival_sums import Doubles
from planner.calculus.leaves import Loss

__all__ = ["WANTED", "Outlook", "figures"]

WANTED = 0.8
"""The power at which an effect counts as detectable."""
DRAWS = 40_000
WORTH_A_WORD = 0.05
"""So much more power is worth a warning."""
LARGEST_RATIO = 10.0
"""A logarithm of a hazard ratio, between the most different people, that no study will meet."""


@dataclass(frozen=True)
class Outlook:
    """What a test may expect if beta lies `radius` from b0.

    `variance` is that of one covariate, in the units of the statistics. With a risk floor phi and
    events spread evenly over the ranks, weights have the mean 1 - phi/2 and the mean square
    1 - 2 phi/3; the covariance of one record's score is event_rate times that times the variance.
    """

    design: ScoreDesign
    judge: Judge
    riskfloor: float
    event_rate: float
    variance: float

    @property
    def trace(self) -> float:
        """The trace of the covariance of one record's score."""
        square = 1.0 - 2.0 * self.riskfloor / 3.0
        return square * self.event_rate * self.variance * self.design.columns

    def power(self, radius: float) -> float:
        """The chance of a rejection."""
        limit = self.limit
        if not math.isfinite(limit):
            return 0.0
        if self.design.columns == 1:
            return self.passes(limit, self._shift(radius), math.sqrt(self.trace))
        square, first = self._simulated
        shift = self._shift(radius)
        longer = square + 2.0 * shift * first + shift * shift > limit * limit
        return float(np.mean(longer))

    def power_error(self, found: float) -> float:
        """The standard error of `power` by simulation; a single covariate needs none."""
        return 0.0 if self.design.columns == 1 else math.sqrt(found * (1.0 - found) / DRAWS)

    @cached_property
    def limit(self) -> float:
        """The threshold at the trace that is expected."""
        return self.limit_at(self.trace)

    def limit_at(self, trace: float) -> float:
        """The threshold where this trace is released, raised as a noisy one is."""
        released = None if self.judge.trace is None else trace
        return self.judge.threshold(self.judge.upper_trace(released))

    def detectable(self) -> float | None:
        """The least radius with a power of 80 %, or None where there is none.

        It is sought in diameters of the domain, so that the unit of the columns does not matter.
        """
        across = math.sqrt(float(self.design.squared_diameter))
        found = least_effect(lambda ratio: self.power(ratio / across))
        return None if found is None else float(f"{found / across:.3g}")

    @property
    def noise_to_sampling(self) -> float:
        """The deviation of the noise over that of the score itself."""
        return math.sqrt(self.judge.score.mean_square / self.trace)

    def shown(self, radius: float | None) -> dict[str, Any]:
        """The figures of the forecast; `power` only where a radius is given."""
        found: dict[str, Any] = {
            "threshold": self.limit,
            "detectable_effect": self.detectable(),
            "noise_to_sampling": self.noise_to_sampling,
            "trace": self.trace,
        }
        if radius is not None:
            chance = self.power(radius)
            found |= {"power": round(chance, 3), "power_error": self.power_error(chance)}
        return found

    @cached_property
    def _simulated(self) -> tuple[Doubles, Doubles]:
        """Squared lengths over n under the null, and their first coordinates, shape (draws,)."""
        d, noise = self.design.columns, self.judge.score
        rng = np.random.default_rng(SEED + 1)
        squares, firsts = [], []
        for some in row_chunks(DRAWS, d):
            score = math.sqrt(self.trace / d) * rng.standard_normal((some, d))
            score += noise.scale * unit_noise(noise.law, some, d, rng)
            squares.append(np.einsum("ij,ij->i", score, score))
            firsts.append(score[:, 0].copy())
        return np.concatenate(squares), np.concatenate(firsts)

    def _shift(self, radius: float) -> float:
        mean = 1.0 - self.riskfloor / 2.0
        return math.sqrt(self.design.rows) * mean * self.event_rate * self.variance * radius

    def passes(self, limit: float, mean: float, deviation: float) -> float:
        """The chance that one noisy number of this mean and deviation lies beyond +-limit."""
        law = "gaussian" if self.judge.score.law == "gaussian" else "laplace"
        noise = Noise(law, self.judge.score.scale)  # type: ignore[arg-type]  # one of two words
        return power(limit, mean, deviation, noise) + power(limit, -mean, deviation, noise)


def least_effect(chance: Callable[[float], float]) -> float | None:
    """The least effect whose chance is 80 %, to 1 in 2000; None where none is below 2^20."""
    most = 2.0**-30
    while chance(most) < WANTED:
        most *= 2.0
        if most > 2.0**20:
            return None
    least = most / 2.0
    while most - least > 5e-4 * most:
        middle = (least + most) / 2.0
        if chance(middle) >= WANTED:
            most = middle
        else:
            least = middle
    return most


def figures(
    design: ScoreDesign,
    loss: Loss,
    level: Fraction,
    radius: float | None,
    outlook_of: Callable[[Judge], Outlook],
) -> dict[str, Any]:
    """The forecast of a priced score test, warnings among it; `power` only with a radius.

    `outlook_of` gives what a judge may expect under the statement's planning values.
    """
    score, *rest = loss.leaves
    judge = judge_of(design, level, score, rest[0] if rest else None)
    outlook = outlook_of(judge)
    shown: dict[str, Any] = {
        **outlook.shown(radius),
        "sensitivity": float(design.score_sensitivity(score.kind)),
        "noise_law": judge.score.law,
        "noise_scale": judge.score.scale * math.sqrt(design.rows),
        "riskfloor_records": design.floor,
        "warnings": list[dict[str, str]](),
    }
    if rest:
        shown["trace_sensitivity"] = float(design.trace_sensitivity)
        shown["trace_noise_scale"] = float(rest[0].scale or 0)
    if design.scale is not None:
        shown["units"] = "each covariate runs from -1 to 1 over its range"
    if radius is not None and shown["power"] < 2 * level:
        shown["warnings"].append(
            cannot_succeed(shown["power"], float(level), "null", "plan for a larger effect")
        )
    least, reach = shown["detectable_effect"], math.sqrt(float(design.squared_diameter))
    if radius is None and (least is None or least * reach > LARGEST_RATIO):
        shown["warnings"].append(_sees_nothing())
    if radius is not None and rest:
        gain = outlook_of(_assuming(judge, design)).power(radius)
        if gain > shown["power"] + WORTH_A_WORD:
            shown["warnings"].append(_would_gain(gain, shown["power"]))
    return shown


def _assuming(judge: Judge, design: ScoreDesign) -> Judge:
    """The judge if the whole cost paid for the score and the largest trace were assumed."""
    share = float(design.share)
    kept = math.sqrt(share) if judge.score.law == "gaussian" else share
    whole = replace(judge.score, scale=judge.score.scale * kept)
    return Judge(judge.level, whole, None, judge.largest_trace)


def _would_gain(gain: float, found: float) -> dict[str, str]:
    return {
        "code": "DPQL-W216",
        "message": f"with `trace=bound` this test is forecast to reject a false null in "
        f"{100 * gain:.3g} % of studies, not in {100 * found:.3g} %",
        "help": "write `trace=bound`: at this budget the noise on the variance hides it, so the "
        "largest one may as well be assumed",
    }


def _sees_nothing() -> dict[str, str]:
    return {
        "code": "DPQL-W212",
        "message": "this test cannot succeed at this budget: four studies in five would miss even "
        f"hazards that differ by a factor of e^{LARGEST_RATIO:g}",
        "help": "give it more of the budget, or more records",
    }
