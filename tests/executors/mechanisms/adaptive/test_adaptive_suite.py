"""The shared suite on `COVARIANCE adaptive`: box, ball, private means, both estimators."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from executors.mechanisms.adaptive import MECHANISM, run
from executors.mechanisms.adaptive.radius import Errors
from executors.release import Outcome
from planner.calculus.cost import Cost
from planner.facts import Column, Facts, Norm, SourceFacts
from suites.mechanism import MechanismSuite, Pair, farthest, loss_seen
from suites.samplers import FastSampler
from suites.tape import Tape, ratio
from suites.trial import Case, Trial

ROWS = 6
COSTS = (
    Cost("rho", Fraction(1, 2)),
    Cost("mu", Fraction(1)),
    Cost("eps_delta", Fraction(1), Fraction(1, 10)),
)
BOUNDS = ((0, 10), (-3, 5), (Fraction(1, 10), Fraction(7, 10)), (100, 260))


def facts(count: int, norm: bool, max_rows: int) -> Facts:
    ball = None
    columns = tuple(
        Column(f"x{j}", "real", Fraction(lo), Fraction(hi))
        for j, (lo, hi) in enumerate(BOUNDS[:count])
    )
    if norm:
        columns = tuple(Column(f"x{j}", "real", Fraction(-9), Fraction(9)) for j in range(count))
        center = tuple(Fraction(j, 2) for j in range(count))
        ball = Norm(tuple(column.name for column in columns), Fraction(2), center)
    unit = "id" if max_rows > 1 else None
    source = SourceFacts("people", ROWS, columns, norm=ball, unit=unit, max_rows=max_rows)
    return Facts((source,), columns)


def rows_of(case: Case, unit: np.ndarray) -> pa.Table:
    """A table of rows given in the unit box about the middle, or about the ball's centre."""
    arrays = {}
    norm = case.facts.source.norm
    for j, column in enumerate(case.facts.columns):
        lo, hi = (float(bound) for bound in column.bounds or ())
        middle = float(norm.center[j]) if norm else (lo + hi) / 2
        half = float(norm.bound) if norm else (hi - lo) / 2
        arrays[column.name] = pa.array(middle + half * unit[:, j])
    return pa.table(arrays)


class AdaptiveSuite(MechanismSuite):
    mechanism = MECHANISM
    consumes_all = False
    audit_runs = 400
    attains = 0.999
    options: dict[str, Any]
    far: tuple[list[float], list[float]]
    max_rows = 1

    def cases(self) -> Iterable[Case]:
        for cost in COSTS:
            shape = facts(len(self.far[0]), self.options.get("norm") == "l2", self.max_rows)
            yield Case(cost.unit, MECHANISM.params(**self.options), shape, cost)

    def table(self, case: Case, rng: np.random.Generator) -> pa.Table:
        return rows_of(case, rng.uniform(-1.3, 1.3, (ROWS, len(case.facts.columns))))

    def pair(self, case: Case, first: list[float], second: list[float]) -> Pair:
        rest = np.tile(np.linspace(-0.9, 0.8, ROWS)[:, None], (1, len(first)))
        one, other = rest.copy(), rest.copy()
        one[: self.max_rows], other[: self.max_rows] = first, second
        return rows_of(case, one), rows_of(case, other)

    def worst(self, case: Case) -> Iterable[Pair]:
        """Two long orthogonal rows for the matrix; a long row and none for the lengths."""
        yield self.pair(case, *self.far)
        yield self.pair(case, self.far[0], [0.0] * len(self.far[0]))

    def score(self, tape: Tape, outcome: Outcome, first: Tape, second: Tape) -> float:
        """Along the move of the Gram matrix, which takes three quarters of the cost.

        Long rows are always shortened to the released radius, which is the unit of the integers:
        so the move does not depend on the radius.
        """
        (answer,) = [c.answer for c in tape.calls if c.method == "filter.dgauss"][:1]
        (left,) = [c.values for c in first.calls if c.method == "filter.dgauss"][:1]
        (right,) = [c.values for c in second.calls if c.method == "filter.dgauss"][:1]
        move = np.array(right, dtype=float) - np.array(left, dtype=float)
        return float(np.dot(np.array(answer, dtype=float), move))

    def test_half_the_noise_is_caught(self) -> None:
        """In mu, where it shows soonest: 1.73 of 1 on the matrix alone."""
        (trial,) = [trial for trial in self.trials() if trial.case.cost.unit == "mu"]
        pair = next(iter(self.worst(trial.case)))
        assert loss_seen(trial, pair, 1600, 12, self.score, half_noise=True) > 1.0


class TestPrivateMean(AdaptiveSuite):
    """With the constant before them, (1, 1, 1) and (1, -1, -1) are orthogonal."""

    options = {}  # noqa: RUF012
    far = ([1.0, 1, 1], [1.0, -1, -1])


class TestBall(AdaptiveSuite):
    """Orthogonal rows of the length of the radius; the trace needs one of length 0 too."""

    options = {"center": "midpoint", "norm": "l2"}  # noqa: RUF012
    far = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])

    def test_a_forgotten_clamp_is_caught(self) -> None:
        """In a ball the shortening stands for the clamp: without it and its test, it shows."""

        def forgetful(rows: Any, center: Any, radius: float, unit: float, limit: int) -> Any:
            return np.clip(np.floor((rows - center[:, None]) / unit * 65536), -65536, 65536)

        for trial in self.trials():
            pair = self.pair(trial.case, [1.0, 1.0, 1.0], [0.0, 0.0, 0.0])
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("executors.summaries.framed.ball_rows", forgetful)
                with pytest.raises(AssertionError, match="times its sensitivity"):
                    farthest(trial, [pair])


class Variant(AdaptiveSuite):
    """Examples whose neighbours alone are looked at; the rest of the suite runs above."""

    def __init__(self, options: dict[str, Any], far: tuple[list[float], list[float]]) -> None:
        self.options, self.far = options, far


ROOT = 15**0.5 / 4
VARIANTS = {
    "private": Variant({}, ([1.0, 1, 1], [1.0, -1, -1])),
    "midpoint": Variant({"center": "midpoint"}, ([1.0] * 4, [1.0, 1, -1, -1])),
    "paper": Variant({"variant": "paper"}, ([1.0] * 4, [1.0, 1, -1, -1])),
    "constants": Variant({"center": (Fraction(5), Fraction(1))}, ([1.0, 1], [1.0, -1])),
    "ball": Variant({"center": "midpoint", "norm": "l2"}, ([1.0, 0, 0], [0.0, 1, 0])),
    "ball, private": Variant({"norm": "l2"}, ([1.0, 0, 0], [-0.25, ROOT, 0])),
}


def parts(trial: Trial, pairs: Iterable[Pair]) -> dict[str, float]:
    """The largest ratio of found to declared sensitivity, by kind of draw."""
    largest: dict[str, float] = {}
    for first, second in pairs:
        tape, _ = trial.run(trial.stats(first), FastSampler(5))
        other, _ = trial.run(trial.stats(second), FastSampler(5), tape)
        for place, (call, moved) in enumerate(zip(tape.calls, other.calls, strict=True)):
            name = call.method if call.method != "filter.dgauss" else f"gram {place - 2}"
            largest[name] = max(largest.get(name, 0.0), ratio(call, moved))
    return largest


def test_every_draw_is_attacked_and_none_passes_its_sensitivity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both estimators: the branch is public, so forcing it changes no claim."""
    for name, suite in VARIANTS.items():
        for max_rows in (1, 3):
            suite.max_rows = max_rows
            case = next(iter(suite.cases()))
            trial = Trial(MECHANISM, case)
            for is_gaussian in (True, False):
                monkeypatch.setattr(
                    Errors, "prefers_gaussian", lambda self, k, yes=is_gaussian: yes
                )
                found = parts(trial, suite.worst(case))
                assert all(value <= 1.0 for value in found.values())
                assert found["dgauss"] >= 0.999
                assert found["above"] >= 0.999
                plain = suite.options.get("variant") == "paper"
                assert found["gram 0"] >= (0.707 if plain else 0.999)
                assert ("gram 1" in found) is not is_gaussian
                if not is_gaussian and name == "midpoint":
                    assert found["gram 1"] >= 0.999
                others = suite.neighbours(case, np.random.default_rng(6))
                farthest(trial, (next(others) for _ in range(10)))
                farthest(trial, suite.hostile(case))


@pytest.mark.parametrize("name", ["gram_sensitivity", "spectrum_sensitivity", "pair_weight"])
def test_a_smaller_sensitivity_of_the_matrix_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = VARIANTS["midpoint"]
    suite.max_rows = 1
    case = next(iter(suite.cases()))
    trial = Trial(MECHANISM, case)
    honest = getattr(run, name)
    monkeypatch.setattr(Errors, "prefers_gaussian", lambda self, k: name != "spectrum_sensitivity")
    if name == "pair_weight":
        pair = suite.pair(case, [1.0, 1, 1, 1], [1.0, 1, -1, -1])
        wrong = lambda params: honest(params) * Fraction(101, 100)  # noqa: E731
    elif name == "gram_sensitivity":
        pair = suite.pair(case, [1.0, 1, 1, 1], [1.0, 1, -1, -1])
        wrong = lambda params, facts: int(honest(params, facts) * 0.99)  # noqa: E731
    else:
        rows = np.zeros((ROWS, 4))
        other = rows.copy()
        other[0] = [1, 1, 1, 1]
        pair = rows_of(case, rows), rows_of(case, other)
        wrong = lambda params, facts: int(honest(params, facts) * 0.7)  # noqa: E731
    assert max(parts(trial, [pair]).values()) <= 1.0
    monkeypatch.setattr(run, name, wrong)
    assert max(parts(trial, [pair]).values()) > 1.0
