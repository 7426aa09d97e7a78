"""A peeling from table to release, with every draw scripted."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

from executors.mechanisms.peel import MECHANISM
from executors.mechanisms.peel.params import EvaluesParams
from executors.mechanisms.peel.run import run, size_utility
from executors.noise import OsSampler, StatementNoise
from executors.pricing.evalues import sensitivity_steps
from executors.release import Outcome
from planner.calculus.cost import Cost
from planner.calculus.leaves import Leaf, Loss
from planner.facts import Column, Facts, SourceFacts
from suites.samplers import FastSampler, ScriptedSampler
from suites.trial import Case, Trial, written

MU = Cost("mu", Fraction(1))


def facts(rows: int, sensitivity: str = "0.3", named: bool = False) -> Facts:
    column = Column("log_e", "log_evalue", sensitivity=Fraction(sensitivity), asserted_by="J. Doe")
    columns = (Column("snp", "id"), column) if named else (column,)
    return Facts((SourceFacts("hits", rows, columns),), ())


def peel(
    values: list[Any],
    params: EvaluesParams,
    sampler: Any,
    cost: Cost = MU,
    sensitivity: str = "0.3",
    names: list[str] | None = None,
) -> tuple[Trial, Outcome]:
    about = facts(len(values), sensitivity, names is not None)
    trial = Trial(MECHANISM, Case("test", params, about, cost))
    columns = {"log_e": pa.array(values, pa.float64(), from_pandas=False)}
    if names is not None:
        columns["snp"] = pa.array(names)
    return trial, trial.run(trial.stats(pa.table(columns)), sampler)[1]


def test_a_scripted_peeling_gives_the_numbers_of_the_formulas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Five values, the first and the third selected, sigma = 1.2, noise -0.5 and 1 times sigma."""
    monkeypatch.setattr(StatementNoise, "select", lambda self, leaf, scores, steps: [0, 2])
    multiples = (Fraction(-1, 2), Fraction(1))

    def script(law: str, scale: int, index: int) -> int:
        return round(multiples[index] * scale)

    def by(rule: Any) -> Outcome:
        params = EvaluesParams(size=2, share=Fraction(1, 2), rule=rule)
        return peel([5.0, 3.0, 2.5, 0.0, -1.0], params, ScriptedSampler(script), MU, "0.6")[1]

    outcome, plain = by("boosted"), by("plain")
    assert outcome.value["selected"] == [1, 3]
    # The repair (1 - f) E + f moves these values by at most 1e-6 nats.
    assert outcome.value["log_evalue"] == pytest.approx([3.68, 2.98], abs=2e-6)
    assert outcome.uncertainty["sigma"] == pytest.approx(1.2, rel=1e-11)
    assert outcome.uncertainty["log_k"] == pytest.approx(-1.29355253855, abs=1e-10)
    assert outcome.value["rejected"] == [1, 3]
    assert outcome.value["threshold"] == pytest.approx(math.log(5 / 0.05 / 2) - 1.29355253855)
    assert plain.value["rejected"] == []
    assert plain.value["log_evalue"] == outcome.value["log_evalue"]


def test_the_arithmetic_of_a_value_is_exact() -> None:
    """L - sigma^2 / 2 with no noise, to 1e-9, on values that the repair leaves alone."""
    values = [40.0, 39.0, 38.0]
    _, outcome = peel(values, EvaluesParams(size=3), ScriptedSampler())
    sigma = outcome.uncertainty["sigma"]
    kept = [value + math.log1p(-(2.0**-20)) for value in values]
    expected = [value - sigma**2 / 2 for value in kept]
    assert outcome.value["log_evalue"] == pytest.approx(expected, abs=1e-9)
    assert all(a <= b for a, b in zip(outcome.value["log_evalue"], expected))
    assert outcome.value["selected"] == [1, 2, 3]


def test_what_a_release_holds() -> None:
    names = ["rs3", "rs1", "rs2", "rs4"]
    _, outcome = peel([9.0, 1.0, 30.0, 2.0], EvaluesParams(size=2), FastSampler(1), names=names)
    assert set(outcome.value) == {
        "selected",
        "log_evalue",
        "rejected",
        "size",
        "hypotheses",
        "level",
        "rule",
        "threshold",
    }
    assert set(outcome.uncertainty) == {"sigma", "log_k", "caveat", "without_noise"}
    assert len(outcome.value["selected"]) == outcome.value["size"] == 2
    assert outcome.value["hypotheses"] == 4
    assert set(outcome.value["rejected"]) <= set(outcome.value["selected"]) <= set(names)
    assert "not by itself an e-value" in outcome.uncertainty["caveat"]
    low, high = (outcome.uncertainty["without_noise"][side] for side in ("lower", "upper"))
    assert all(
        b - a == pytest.approx(3.92 * outcome.uncertainty["sigma"], rel=1e-3)
        for a, b in zip(low, high)
    )
    assert [(note.law, note.role) for note in outcome.noise] == [
        ("exponential_mechanism", "select"),
        ("discrete_gaussian", "measure"),
    ]
    table = outcome.tables["selected"]
    assert [len(column) for column in table.values()] == [2, 2, 2]
    assert json.loads(written(outcome))


def test_every_row_of_a_table_of_nonsense_is_a_value() -> None:
    values = [math.nan, None, math.inf, -math.inf, 1e308, -1e308, 5e-324]
    for params in (EvaluesParams(size=7), EvaluesParams(size=3), EvaluesParams(adaptive=True)):
        _, outcome = peel(values, params, FastSampler(2))
        assert all(math.isfinite(value) for value in outcome.value["log_evalue"])
        written(outcome)


def test_a_single_hypothesis_can_be_peeled() -> None:
    for params in (EvaluesParams(adaptive=True), EvaluesParams(size=1)):
        _, outcome = peel([30.0], params, ScriptedSampler())
        assert outcome.value["selected"] == [1]
        assert outcome.value["rejected"] == [1]
        assert [note.law for note in outcome.noise] == ["discrete_gaussian"]
        assert outcome.uncertainty["sigma"] == pytest.approx(0.3, rel=1e-9)


def test_ties_are_broken_by_the_noise_alone() -> None:
    counts = np.zeros(4)
    for seed in range(400):
        _, outcome = peel([3.0] * 4, EvaluesParams(size=1), FastSampler(seed))
        counts[outcome.value["selected"][0] - 1] += 1
    assert float(np.sum((counts - 100) ** 2 / 100)) < chi2.ppf(1 - 1e-6, 3)


def test_an_adaptive_size_is_a_quarter_above_the_weighed_one() -> None:
    values = [60.0] * 10 + [-5.0] * 90
    sizes = set()
    for seed in range(12):
        trial, outcome = peel(values, EvaluesParams(adaptive=True), FastSampler(seed))
        sizes.add(outcome.value["size"])
        assert trial.params.max_size == 100
        assert [note.role for note in outcome.noise] == ["size", "select", "measure"]
        assert outcome.value["rejected"]
    assert min(sizes) >= 2
    assert {12, 13, 14} & sizes


def test_no_more_than_the_largest_size_is_selected() -> None:
    values = [100.0] * 50
    for seed in range(5):
        _, outcome = peel(values, EvaluesParams(adaptive=True, max_size=7), FastSampler(seed))
        assert outcome.value["size"] <= 7


def test_an_adaptive_size_of_all_releases_all_in_order() -> None:
    values = [200.0, 210.0, 220.0]
    seen = set()
    for seed in range(20):
        _, outcome = peel(values, EvaluesParams(adaptive=True), FastSampler(seed))
        seen.add(outcome.value["size"])
        if outcome.value["size"] == 3:
            assert outcome.value["selected"] == [1, 2, 3]
            assert [note.role for note in outcome.noise] == ["size", "measure"]
    assert 3 in seen


@pytest.mark.parametrize(
    "cost", [MU, Cost("rho", Fraction(1, 2)), Cost("eps_delta", Fraction(3), Fraction(1, 10**6))]
)
def test_a_run_spends_its_cap_and_never_more(cost: Cost) -> None:
    """The filter refuses a draw beyond the cap by raising, so a run that ends has kept it."""
    for seed in range(3):
        values = list(np.random.default_rng(seed).uniform(-10, 60, 120))
        trial, outcome = peel(values, EvaluesParams(adaptive=True), FastSampler(seed), cost)
        spent: list[Fraction] = []
        noise = StatementNoise(FastSampler(seed), trial.loss)
        opened = noise.cap

        def watched(leaf: Leaf, opened: Any = opened, spent: list[Fraction] = spent) -> Any:
            held = opened(leaf)
            whole = held.left

            class Watching:
                def select(self, *rest: Any) -> Any:
                    answer = held.select(*rest)
                    spent.append(held.left / whole)
                    return answer

                def dgauss(self, *rest: Any) -> Any:
                    answer = held.dgauss(*rest)
                    spent.append(held.left / whole)
                    return answer

            return Watching()

        noise.cap = watched  # type: ignore[method-assign]
        columns = {"log_e": pa.array(values)}
        again = run(
            trial.params, trial.case.facts, trial.loss, trial.stats(pa.table(columns)), noise
        )
        assert written(again) == written(outcome)
        assert spent == sorted(spent, reverse=True)
        assert 0 <= spent[-1] < Fraction(1, 10**9)


def test_utilities_are_distances_to_the_aim() -> None:
    x = np.array([5, 9, 1, 7], dtype=np.int64) * 2**20
    found = size_utility(x, (1, 2, 4), (10.0, 6.0, 1.0), 20)
    assert (found / 2**20).tolist() == [-1.0, -1.0, 0.0]
    moved = size_utility(x + np.array([1, -1, 1, -1]), (1, 2, 4), (10.0, 6.0, 1.0), 20)
    assert int(np.abs(moved - found).max()) <= 1


def test_a_peeling_is_handed_its_price() -> None:
    about = facts(3)
    stranger = Loss((Leaf.declared("gdp", 1),))
    trial = Trial(MECHANISM, Case("x", EvaluesParams(size=2), about, MU))
    stats = trial.stats(pa.table({"log_e": [1.0, 2.0, 3.0]}))
    with pytest.raises(ValueError, match="needs a leaf"):
        run(trial.params, about, stranger, stats, StatementNoise(ScriptedSampler(), stranger))
    adaptive = EvaluesParams(adaptive=True, grid=40, max_size=3)
    only_values = Loss((Leaf.dgauss(5, 5000),))
    with pytest.raises(ValueError, match="needs the cap"):
        run(adaptive, about, only_values, stats, StatementNoise(ScriptedSampler(), only_values))


def test_the_real_sampler_serves_it() -> None:
    """Real noise, so the nulls lie 13 standard deviations below what is rejected."""
    values = [50.0] * 3 + [-30.0] * 40
    for params in (EvaluesParams(size=3), EvaluesParams(adaptive=True)):
        _, outcome = peel(values, params, OsSampler())
        assert set(outcome.value["selected"]) >= {1, 2, 3}
        assert set(outcome.value["rejected"]) == {1, 2, 3}


def test_selection_follows_softmax_peeling() -> None:
    """Ordered pairs among four values: chi-square over 12 cells, 6,000 draws, recorded seed."""
    values = [2.0, 1.0, 0.0, -1.0]
    params = EvaluesParams(size=2)
    trial = Trial(MECHANISM, Case("x", params, facts(4), MU))
    leaf = trial.loss.leaves[0]
    stats = trial.stats(pa.table({"log_e": values}))
    x = stats(MECHANISM.query(trial.params, trial.case.facts)).x
    steps = sensitivity_steps(Fraction(3, 10), 40)
    draws, counts = 6_000, np.zeros((4, 4))
    sampler = FastSampler(11)
    for _ in range(draws):
        first, second = StatementNoise(sampler, trial.loss).select(leaf, x, steps)
        counts[first, second] += 1
    weights = np.exp(x / 2**40 / float(leaf.scale or 1))
    chance = np.array(
        [
            [
                0
                if i == j
                else weights[i] / weights.sum() * weights[j] / (weights.sum() - weights[i])
                for j in range(4)
            ]
            for i in range(4)
        ]
    )
    cells = chance > 0
    statistic = float(
        np.sum((counts[cells] - draws * chance[cells]) ** 2 / (draws * chance[cells]))
    )
    assert statistic < chi2.ppf(1 - 1e-5, 11)


def test_a_giant_does_not_blur_the_second_pick() -> None:
    params = EvaluesParams(size=2)
    trial = Trial(MECHANISM, Case("x", params, facts(202), MU))
    b = float(trial.loss.leaves[0].scale or 0)
    values = [200 * b, 100 * b, *([0.0] * 200)]
    assert 200 * b < 1000
    stats = trial.stats(pa.table({"log_e": values}))
    for seed in range(30):
        _, outcome = trial.run(stats, FastSampler(seed))
        assert outcome.value["selected"] == [1, 2]
