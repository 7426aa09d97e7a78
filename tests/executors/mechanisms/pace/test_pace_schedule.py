"""The rounds of a search spend the allowance, all of it, whatever they find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executors.mechanisms.pace import MECHANISM
from executors.mechanisms.pace.forecast import resolve
from executors.mechanisms.pace.run import run
from executors.mechanisms.pace.schedule import Schedule
from executors.noise import StatementNoise
from executors.pricing.allowance import Allowance
from planner.calculus.convert import charge
from planner.calculus.cost import Cost
from planner.calculus.leaves import Leaf
from suites.covariance_tables import ArrayReader, facts_of, loss_of, summary_of
from suites.samplers import ScriptedSampler


def sizes(
    allowance: Allowance, rounds: int, found_noise: Callable[[int], bool], **more: Any
) -> list[Any]:
    schedule = Schedule(allowance, rounds, more.get("anneal", Fraction(2)), more.get("limit", 5000))
    taken = []
    while not schedule.is_over:
        taken.append(schedule.slice().amount)
        if found_noise(len(taken)):
            schedule.anneal()
    assert sum(taken) == allowance.amount == schedule.used
    assert schedule.left == 0
    with pytest.raises(ValueError, match="last round"):
        schedule.slice()
    return taken


SEVEN = Allowance("rho", Fraction(7, 10))


def test_noise_in_every_round_doubles_the_price() -> None:
    found = sizes(SEVEN, 6, lambda _: True)
    assert [float(size) for size in found] == pytest.approx([0.116666667, 0.233333333, 0.35])


def test_signal_in_every_round_keeps_the_price() -> None:
    assert sizes(SEVEN, 6, lambda _: False) == [Fraction(7, 60)] * 6


def test_the_last_allowed_round_takes_the_rest() -> None:
    assert sizes(SEVEN, 6, lambda _: False, limit=2) == [Fraction(7, 60), Fraction(7, 12)]
    assert sizes(SEVEN, 1, lambda _: True) == [Fraction(7, 10)]
    assert sizes(SEVEN, 10, lambda _: True, anneal=Fraction(1)) == [Fraction(7, 100)] * 10


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    st.integers(1, 40),
    st.fractions(1, 9, max_denominator=50),
    st.lists(st.booleans(), max_size=60),
    st.fractions(Fraction(1, 10**6), 100, max_denominator=10**9),
    st.integers(1, 50),
)
def test_any_answers_use_up_the_allowance_exactly(
    rounds: int, anneal: Fraction, answers: list[bool], amount: Fraction, limit: int
) -> None:
    taken = sizes(
        Allowance("mu_squared", amount),
        rounds,
        lambda number: number <= len(answers) and answers[number - 1],
        anneal=anneal,
        limit=limit,
    )
    assert min(taken) >= amount / rounds or len(taken) == 1
    assert len(taken) <= min(rounds, limit)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.sampled_from(["rho", "mu_squared"]),
    st.fractions(Fraction(1, 10**9), 40, max_denominator=10**12),
    st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=1000),
    st.integers(2**16, 2**17),
    st.integers(1, 5),
)
def test_a_slice_pays_for_its_choice_and_its_measurement_and_hardly_more(
    unit: Any, amount: Fraction, share: Fraction, reach: int, people: int
) -> None:
    """The two prices, each as the filter charges it, fill the slice to a part in a billion."""
    allowance = Allowance(unit, amount)
    moved = 2**17 * reach * people
    choice = charge(Leaf.br(allowance.part(share).eta(), 2), unit).value
    measured = charge(Leaf.dgauss(moved, allowance.part(1 - share).scale(moved)), unit).value
    assert choice + measured <= amount
    assert choice + measured >= amount * (1 - Fraction(1, 10**8))


def scripted(seed: int) -> Callable[[str, int, int], int]:
    """Noise that an enemy of the budget would choose: none, huge, alternating, pseudo-random."""
    kinds: tuple[Callable[[str, int, int], int], ...] = (
        lambda law, scale, place: 0,
        lambda law, scale, place: 40 * scale,
        lambda law, scale, place: -40 * scale,
        lambda law, scale, place: (-1) ** place * 3 * scale,
        lambda law, scale, place: (place * 2654435761 + seed) % (4 * scale) - 2 * scale,
    )
    return kinds[seed % len(kinds)]


@dataclass
class Watched:
    """The noise of a statement that remembers its filter."""

    inner: StatementNoise
    filter: Any = None

    def dgauss(self, *given: Any) -> Any:
        return self.inner.dgauss(*given)

    def cap(self, leaf: Any) -> Any:
        self.filter = self.inner.cap(leaf)
        return self.filter


@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "entries"},
        {"strategy": "entries", "center": "midpoint", "anneal": Fraction(7, 3), "rounds": 5},
        {"strategy": "pilot"},
        {"variant": "paper", "maxrounds": 3},
    ],
)
@pytest.mark.parametrize("cost", [Cost("rho", Fraction(7, 10)), Cost("mu", Fraction(13, 10))])
def test_no_sequence_of_noise_spends_more_than_declared_and_each_spends_it(
    options: dict[str, Any], cost: Cost
) -> None:
    facts = facts_of(40, [(-1, 1)] * 5, max_rows=2)
    params = resolve(MECHANISM.params(**options), facts, cost)
    loss = loss_of(MECHANISM, params, facts, cost)
    rows = np.random.default_rng(2).uniform(-1, 1, (40, 5))
    rows[:, 1] = rows[:, 0]

    def stats(query: Any) -> Any:
        from importlib import import_module

        module = import_module(f"executors.summaries.{query.summary}")
        return module.summarise(query, ArrayReader(rows))

    whole = float(cost.additive)
    for seed in range(10):
        noise = StatementNoise(ScriptedSampler(scripted(seed)), loss)
        watched = Watched(noise)
        outcome = run(params, facts, loss, stats, watched)
        filtered = watched.filter
        assert 0 <= filtered.left <= filtered.spent * Fraction(1, 10**7)
        calls = outcome.value["calls"]
        assert sum(calls["cost"]) == pytest.approx(whole, rel=1e-7)
        assert sum(calls["cost"]) <= whole * (1 + 1e-12)
        assert outcome.value["spent"]["amount"] == pytest.approx(whole, rel=1e-7)


@pytest.mark.parametrize("amount", ["0.0001", "0.1", "10"])
def test_every_total_is_used_up(amount: str) -> None:
    facts = facts_of(3000, [(-1, 1)] * 4)
    cost = Cost("rho", Fraction(amount))
    params = resolve(MECHANISM.params(strategy="entries"), facts, cost)
    loss = loss_of(MECHANISM, params, facts, cost)
    summary = summary_of(MECHANISM, params, facts, ArrayReader(np.zeros((3000, 4))))
    outcome = run(
        params, facts, loss, lambda _: summary, StatementNoise(ScriptedSampler(scripted(4)), loss)
    )
    assert outcome.value["spent"]["amount"] == pytest.approx(float(Fraction(amount)), rel=1e-8)
