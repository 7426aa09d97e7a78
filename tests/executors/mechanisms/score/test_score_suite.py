"""`TEST score` against the suite that every mechanism must pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction as F
from typing import Any

import pytest

from executors.mechanisms.score import MECHANISM
from executors.mechanisms.score.params import ScoreParams
from executors.statistics import score_law
from planner.facts import Column
from suites.mechanism import Pair
from suites.survival_cases import COSTS, ball, facts, likeliest, table
from suites.survival_suite import InABall, RecordSuite
from suites.trial import Case


def options(beta: Iterable[Any], **more: Any) -> ScoreParams:
    """The options with exact coefficients."""
    return ScoreParams(beta=tuple(F(str(value)) for value in beta), **more)


def symmetric(*names: str) -> list[Column]:
    """Real columns in [-1, 3]."""
    return [Column(name, "real", F(-1), F(3)) for name in names]


class ScoreSuite(RecordSuite):
    """Tables for every kind of score test."""

    mechanism = MECHANISM
    low, high, reach, far = -1.0, 3.0, (-1.5, 3.5), 90.0

    def score(self, *tapes: Any) -> float:
        return likeliest(*tapes)


class TestScoreOfOneCovariate(ScoreSuite):
    """Without a risk floor the score attains its sensitivity, so nearly every error shows."""

    attains = 0.99
    audit_runs = 400
    audit_units = ("mu",)

    def cases(self) -> Iterator[Case]:
        for cost in COSTS:
            params = options([0], riskfloor=F(0), radius=F(1, 2))
            yield Case("one", params, facts(60, symmetric("x")), cost)


class TestScoreInABox(ScoreSuite):
    """Noise in the shape of a cube: every coordinate moves as far as it can at once."""

    attains = 0.99
    audit_runs = 1500
    audit_units = ("eps_delta",)

    def cases(self) -> Iterator[Case]:
        for cost in COSTS:
            params = options([0, 0], riskfloor=F(0))
            yield Case("box", params, facts(60, symmetric("x", "z")), cost)

    @pytest.mark.slow
    def test_the_loss_seen_stays_below_the_claim(self) -> None:
        super().test_the_loss_seen_stays_below_the_claim()

    @pytest.mark.slow
    def test_half_the_noise_is_caught(self) -> None:
        super().test_half_the_noise_is_caught()

    @pytest.fixture(autouse=True)
    def _few_simulations(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """The public simulation of the p-value, shortened."""
        score_law._draws.cache_clear()
        monkeypatch.setattr(score_law, "SIMULATIONS", 400)
        monkeypatch.setattr(score_law, "CHUNK", 400)
        yield
        score_law._draws.cache_clear()


class TestScoreInABall(InABall, TestScoreInABox):
    """A riskfloor, a null that is not 0, Gaussian noise where there is a choice, a split table."""

    attains = 0.2
    audit_runs = 100
    low, high = -0.6, 0.6

    def cases(self) -> Iterator[Case]:
        columns, norm = ball("x", "z")
        for cost in COSTS:
            noise = "gaussian" if cost.unit == "eps_delta" else "auto"
            params = options(["0.25", "0.5"], variant="paper", riskfloor=F(1, 10), noise=noise)
            yield Case("ball", params, facts(60, columns, norm), cost)

    def unclamped(self, case: Case) -> Iterable[Pair]:
        """A record far away at right angles to the null, so that its weight is an ordinary one."""
        base, _ = next(iter(self.worst(case)))
        far = table([50.5], [1.0], {"x": [-60.0], "z": [30.0]})
        yield base, self.replaced(base, case.facts.rows - 1, far)
