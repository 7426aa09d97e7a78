"""Drawing the best of millions of candidates by the exponential mechanism, in exact integers.

Scores x are integers that move by at most D between neighbours; candidates are drawn one after the
other without replacement. A draw works on a coarser public grid y = floor(x / G) of sensitivity
D' = ceil(D / G), and re-bases: with M the largest y still in, the level of a candidate is
min(M - y, C), and it is drawn with probability proportional to an integer W(level) within a
relative error tau of 2^B exp(-kappa level). Candidates of one level are drawn by their count.

Claim: each draw has bounded range at most eta. max(y, M - C) moves by at most D' given the earlier
picks, so the log-ratios of two candidates' weights spread over at most 2 D' kappa +
2 log((1 + tau) / (1 - tau)); kappa is chosen so that this is at most eta. The normaliser cancels.
Proof: proof.md. Checked on all neighbours of small scores: tests/executors/noise/test_selection.py.

No floating-point number is drawn or compared. How long a draw takes depends on the scores.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil

import numpy as np
import numpy.typing as npt
from flint import arb, ctx, fmpq

from executors.noise.sampler import Sampler
from planner.calculus.exact import positive

__all__ = ["Ladder", "ladder", "select"]

_LEVELS_PER_RANGE = 32
_DEPTH = 60
"""A candidate this many scales behind the best counts as exactly that far behind."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The public design of the draws: grid G, sensitivity D', step kappa, depth C, weights."""

    divisor: int
    sensitivity: int
    kappa: Fraction
    depth: int
    tau: Fraction
    bits: int
    _weights: dict[int, int] = field(default_factory=dict, repr=False, compare=False)

    def weight(self, level: int) -> int:
        """W(level): an integer within a relative error tau of 2^bits exp(-kappa level)."""
        if level not in self._weights:
            self._weights[level] = self._certified(level)
        return self._weights[level]

    def _certified(self, level: int) -> int:
        exponent = self.kappa * level
        with ctx.workprec(self.bits + 32):
            scaled = (-arb(fmpq(exponent.numerator, exponent.denominator))).exp()
            scaled *= arb(2) ** self.bits
            weight = int((scaled.mid() + arb(0.5)).floor().unique_fmpz())
            if not abs(scaled - weight) <= arb(fmpq(self.tau.numerator, self.tau.denominator)) * (
                scaled
            ):
                raise ArithmeticError("a selection weight could not be certified")
        return weight


@lru_cache(maxsize=16)
def ladder(eta: Fraction, sensitivity: int) -> Ladder:
    """The design for a bounded range of `eta` per draw on scores of sensitivity D.

    Raises ValueError unless D is an integer of at least 1.
    """
    positive(eta, "eta")
    if not isinstance(sensitivity, int) or sensitivity < 1:
        raise ValueError("scores have a positive integer sensitivity")
    levels = max(1, ceil(_LEVELS_PER_RANGE * eta))
    divisor = -(-sensitivity // levels)
    coarse = -(-sensitivity // divisor)
    # 2 log((1 + tau) / (1 - tau)) <= 5 tau for tau <= 1/8, and 5 tau < slack.
    slack = min(Fraction(1, 1 << 45), eta / (1 << 20))
    bits_of_tau = (slack.denominator // slack.numerator).bit_length() + 3
    tau = Fraction(1, 1 << bits_of_tau)
    kappa = (eta - slack) / (2 * coarse)
    depth = ceil(_DEPTH / kappa)
    bits = bits_of_tau + 4 + ceil(kappa * depth * Fraction(14427, 10000))
    return Ladder(divisor, coarse, kappa, depth, tau, bits)


def select(
    sampler: Sampler,
    eta: Fraction,
    sensitivity: int,
    scores: Sequence[int] | npt.NDArray[np.integer],
    count: int,
) -> list[int]:
    """`count` distinct indices in the order of their draws; each draw has bounded range `eta`.

    `sensitivity` bounds how far any score moves between neighbours. Raises ValueError unless
    `count` is from 1 to the number of candidates.
    """
    design = ladder(eta, sensitivity)
    candidates = _Candidates(_coarse(scores, design.divisor))
    if not 1 <= count <= candidates.remaining:
        raise ValueError("a selection draws at least one and at most all candidates")
    return [candidates.draw(sampler, design) for _ in range(count)]


class _Candidates:
    """The candidates still in, grouped by their coarse score."""

    def __init__(self, scores: npt.NDArray[np.int64]) -> None:
        self._order = np.argsort(scores, kind="stable")
        in_order = scores[self._order]
        starts = np.flatnonzero(np.concatenate([[True], in_order[1:] != in_order[:-1]]))
        self._starts = starts
        self._values = in_order[starts]
        self._counts = np.diff(np.concatenate([starts, [len(scores)]]))
        self._best = len(starts) - 1
        self.remaining = len(scores)

    def draw(self, sampler: Sampler, design: Ladder) -> int:
        """One candidate by the exponential mechanism; it is out from now on."""
        groups, masses, far = self.weigh(design)
        sums = list(accumulate([*masses, far * design.weight(design.depth)]))
        place = bisect_right(sums, sampler.below(sums[-1]))
        if place == len(groups):
            return self._take_far(sampler.below(far))
        group = groups[place]
        return self._take(group, sampler.below(int(self._counts[group])))

    def weigh(self, design: Ladder) -> tuple[range, list[int], int]:
        """The groups above the depth, best first, with their total weights; how many lie below."""
        while self._counts[self._best] == 0:
            self._best -= 1
        best = int(self._values[self._best])
        lowest = self._first_above(best - design.depth)
        groups = range(self._best, lowest - 1, -1)
        masses = [
            int(self._counts[group]) * design.weight(best - int(self._values[group]))
            for group in groups
        ]
        return groups, masses, int(self._counts[:lowest].sum())

    def _first_above(self, value: int) -> int:
        """The first group whose score is more than `value`."""
        if value < np.iinfo(np.int64).min:
            return 0
        return int(np.searchsorted(self._values, value, side="right"))

    def _take_far(self, member: int) -> int:
        ends = np.cumsum(self._counts)
        group = int(np.searchsorted(ends, member, side="right"))
        return self._take(group, member - int(ends[group] - self._counts[group]))

    def _take(self, group: int, member: int) -> int:
        start, last = int(self._starts[group]), int(self._counts[group]) - 1
        chosen = int(self._order[start + member])
        self._order[start + member] = self._order[start + last]
        self._counts[group] = last
        self.remaining -= 1
        return chosen


def _coarse(scores: Sequence[int] | npt.NDArray[np.integer], divisor: int) -> npt.NDArray[np.int64]:
    """floor(score / divisor) of each score; Python integers of any size are taken too."""
    array = np.asarray(scores)
    if array.ndim != 1 or array.dtype.kind not in "iuO":
        raise TypeError("scores are a row of integers")
    if array.dtype.kind == "i" and divisor <= np.iinfo(np.int64).max:
        return array.astype(np.int64, copy=False) // divisor
    exact = [int(score) // divisor for score in array.tolist()]
    edge = np.iinfo(np.int64)
    return np.array([min(max(score, edge.min), edge.max) for score in exact], dtype=np.int64)
