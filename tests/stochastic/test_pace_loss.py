"""The exact privacy loss of whole transcripts of `COVARIANCE pace`, averaged over runs.

Every answer of a run on one table is given to the neighbouring table as well; both chances follow
from the integers that were handed to the noise. Under rho-zCDP the mean loss is at most rho, and
the mean of exp((a - 1)(loss - a rho)) at most 1. Seeds are fixed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from executors.mechanisms.pace import MECHANISM
from executors.noise.selection import ladder
from planner.calculus.cost import Cost
from planner.facts import Column, Facts, SourceFacts
from suites.samplers import FastSampler
from suites.tape import Call, Tape
from suites.trial import Case, Trial

RUNS = 250
PAIRS = (((1, 1, 1), (1, -1, -1)), ((1, 1, 1), (0, 0, 0)), ((1, 1, 1), (-0.2, -0.2, -0.2)))


def trial(rho: Fraction, **options: Any) -> Trial:
    columns = tuple(Column(f"x{j}", "real", Fraction(-1), Fraction(1)) for j in range(3))
    facts = Facts((SourceFacts("t", 24, columns),), columns)
    return Trial(MECHANISM, Case("rho", MECHANISM.params(**options), facts, Cost("rho", rho)))


def tables(first: tuple[float, ...], second: tuple[float, ...]) -> list[pa.Table]:
    rest = np.random.default_rng(5).choice([-0.4, 0.4], (24, 3))
    found = []
    for row in (first, second):
        z = rest.copy()
        z[0] = row
        found.append(pa.table({f"x{j}": z[:, j] for j in range(3)}))
    return found


def log_chance(call: Call) -> float:
    """Of the answer, given the values; parts that do not depend on the values are left out."""
    if call.method == "filter.select":
        sensitivity, eta, _ = call.public
        design = ladder(eta, sensitivity)
        coarse = [int(value) // design.divisor for value in call.values]
        levels = [min(max(coarse) - one, design.depth) for one in coarse]
        weights = [design.weight(level) for level in levels]
        return math.log(weights[call.answer[0]]) - math.log(sum(weights))
    scale = float(call.public[1] if call.method == "filter.dgauss" else call.leaf.scale)
    apart = np.array([int(a) - int(v) for a, v in zip(call.answer, call.values)], dtype=float)
    return -float(apart @ apart) / (2.0 * scale**2)


def losses(trial: Trial, pair: list[pa.Table], half: bool = False) -> np.ndarray:
    stats = [trial.stats(table) for table in pair]
    found = []
    for seed in range(RUNS):
        fast = FastSampler(seed)
        tape, _ = trial.run(stats[0], Halved(fast) if half else fast)
        other, _ = trial.run(stats[1], FastSampler(seed), tape)
        found.append(loss(tape, other) * (4.0 if half else 1.0))
    return np.array(found)


class Halved(FastSampler):
    """A mutant: half the noise. The loss formula then has half the scale, so four times."""

    def __init__(self, inner: FastSampler) -> None:
        super().__init__(inner.seed)

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        return super().discrete_gaussian(max(1, scale // 2), size)


def loss(tape: Tape, other: Tape) -> float:
    assert [call.shape for call in tape.calls] == [call.shape for call in other.calls]
    return sum(log_chance(a) - log_chance(b) for a, b in zip(tape.calls, other.calls))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rho", "options"),
    [
        (Fraction(1, 2), {"strategy": "entries", "center": "midpoint"}),
        (Fraction(1, 2), {"strategy": "entries"}),
        (Fraction(1, 2), {"strategy": "pilot"}),
        (Fraction(1, 2), {"strategy": "dense", "center": "midpoint"}),
        (Fraction(1, 2), {"variant": "paper"}),
        (Fraction(1, 100), {}),
    ],
)
def test_the_loss_of_whole_transcripts_keeps_to_the_claim(
    rho: Fraction, options: dict[str, Any]
) -> None:
    one = trial(rho, **options)
    means = []
    for pair in PAIRS:
        found = losses(one, tables(*pair))
        error = found.std() / math.sqrt(RUNS)
        means.append(found.mean())
        assert found.mean() <= float(rho) + 4 * error
        for order in (1.5, 2.0):
            moments = np.exp((order - 1) * (found - order * float(rho)))
            assert moments.mean() <= 1 + 4 * moments.std() / math.sqrt(RUNS)
    assert max(means) >= 0.4 * float(rho)


@pytest.mark.slow
def test_half_the_noise_shows_in_the_loss() -> None:
    one = trial(Fraction(1, 2), strategy="dense", center="midpoint")
    found = max((losses(one, tables(*pair), half=True) for pair in PAIRS), key=np.mean)
    assert found.mean() > 0.5 + 4 * found.std() / math.sqrt(RUNS)
