"""`PEEL evalues` under the suite that every mechanism must pass, with mutants of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from executors.mechanisms.peel import MECHANISM
from executors.mechanisms.peel.params import EvaluesParams
from executors.release import Outcome
from planner.calculus.cost import Cost
from planner.facts import Column, Facts, SourceFacts
from suites import tape
from suites.mechanism import Case, MechanismSuite, Pair, farthest
from suites.tape import Call, Tape

SENSITIVITY = Fraction(1, 2)
HYPOTHESES = 10
LOW_SHARE = Fraction(1, 10)


def facts(rows: int = HYPOTHESES, named: bool = True) -> Facts:
    value = Column("log_e", "log_evalue", sensitivity=SENSITIVITY, asserted_by="the study office")
    columns = (Column("snp", "id"), value) if named else (value,)
    return Facts((SourceFacts("hits", rows, columns),), ())


def options(**written: Any) -> EvaluesParams:
    return EvaluesParams(**{"share": LOW_SHARE, **written})


def nearest(first: Call, second: Call) -> float:
    """`tape.ratio`, with the values of a call that makes several draws compared draw by draw."""
    if first.method != "dgauss" or len(first.values) <= first.leaf.width:
        return tape.ratio(first, second)
    return max(
        tape.ratio(replace(first, values=(a,)), replace(second, values=(b,)))
        for a, b in zip(first.values, second.values)
    )


class TestPeel(MechanismSuite):
    mechanism = MECHANISM
    attains = 0.99
    random_pairs = 6
    audit_runs = 1000

    @pytest.fixture(autouse=True)
    def _draw_by_draw(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("suites.mechanism.ratio", nearest)

    def cases(self) -> Iterable[Case]:
        mu, rho = Cost("mu", Fraction(1)), Cost("rho", Fraction(1))
        approximate = Cost("eps_delta", Fraction(1, 2), Fraction(3, 10))
        small = {"size_share": Fraction(1, 20)}
        yield Case("fixed, mu", options(size=3), facts(), mu)
        yield Case("fixed, rho", options(size=3), facts(named=False), rho)
        yield Case("fixed, eps and delta", options(size=2), facts(), approximate)
        yield Case("all released", EvaluesParams(size=HYPOTHESES), facts(named=False), mu)
        yield Case("adaptive, mu", options(adaptive=True, **small), facts(named=False), mu)
        yield Case("adaptive, rho", options(adaptive=True, max_size=4, **small), facts(), rho)

    def table(self, case: Case, rng: np.random.Generator) -> pa.Table:
        return self._table(case, rng.uniform(-20, 40, case.facts.rows))

    def neighbours(self, case: Case, rng: np.random.Generator) -> Iterator[Pair]:
        """One person of the study replaced: every value may move, the file may be in any order."""
        d = float(SENSITIVITY)
        while True:
            first = rng.uniform(-20, 40, case.facts.rows)
            second = first + rng.choice([-d, d, 0.0, d / 3], case.facts.rows)
            pair = self._table(case, first), self._table(case, second)
            if case.facts.source.role("id"):
                pair = pair[0], pair[1].take(rng.permutation(case.facts.rows))
            yield pair

    def worst(self, case: Case) -> Iterator[Pair]:
        equal = np.full(case.facts.rows, 2.0)
        yield self._table(case, equal), self._table(case, equal + float(SENSITIVITY))
        yield self._table(case, equal), self._table(case, equal - float(SENSITIVITY))

    def hostile(self, case: Case) -> Iterator[Pair]:
        """Values of every kind in the same place; the others move as far as they may."""
        rng = np.random.default_rng(5)
        lowest, highest = (-math.inf, math.nan, None, -1e308, -800.0), (math.inf, 1e308, 1000.0)
        for group in (lowest, highest):
            for one in group:
                values = rng.uniform(-20, 40, case.facts.rows).tolist()
                moved = [value + float(SENSITIVITY) for value in values]
                other = group[(group.index(one) + 1) % len(group)]
                yield (
                    self._table(case, [one, *values[1:]]),
                    self._table(case, [other, *moved[1:]]),
                )

    @staticmethod
    def _table(case: Case, values: Iterable[float | None]) -> pa.Table:
        columns = {"log_e": pa.array(list(values), pa.float64(), from_pandas=False)}
        if case.facts.source.role("id"):
            columns["snp"] = pa.array([f"rs{i:03d}" for i in range(case.facts.rows)])
        return pa.table(columns)

    def score(self, tape: Any, outcome: Outcome, first: Tape, second: Tape) -> float:
        """The log-likelihood ratio of the released values, where all hypotheses have one value."""
        left, right = first.calls[-1].values[0], second.calls[-1].values[0]
        sigma = outcome.noise[-1].scale * 2**40
        values = np.array(tape.calls[-1].answer, dtype=float)
        return float(np.sum(values - (left + right) / 2) * (right - left) / sigma**2)

    def test_a_sensitivity_that_is_too_small_is_caught(self) -> None:
        """ADAPTIVE states no sensitivity to the planner; the next test is about it."""
        wrong = Fraction(self.attains) * Fraction(99, 100)
        for trial in self.trials(wrong=wrong):
            if not trial.params.adaptive:
                with pytest.raises(AssertionError, match="times its sensitivity"):
                    farthest(trial, self.worst(trial.case))

    def test_steps_that_are_too_few_are_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        honest = "executors.mechanisms.peel.design.sensitivity_steps"
        monkeypatch.setattr(honest, lambda d, grid: int(d * 2**grid) * 99 // 100)
        for trial in self.trials():
            if trial.params.adaptive:
                with pytest.raises(AssertionError, match="times its sensitivity"):
                    farthest(trial, self.worst(trial.case))

    def test_a_forgotten_clamp_is_caught(self) -> None:
        """Rows are not clamped by the reader but neutralised by the summary: see the next test."""

    def test_a_forgotten_neutralisation_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def careless(values: np.ndarray, grid: int) -> np.ndarray:
            finite = np.nan_to_num(values, nan=0.0, posinf=1e5, neginf=-1e5)
            return np.floor(np.clip(finite, -1e5, 1e5) * 2.0**grid).astype(np.int64) - 1

        monkeypatch.setattr("executors.summaries.log_evalues.to_steps", careless)
        for trial in self.trials():
            with pytest.raises(AssertionError, match="times its sensitivity"):
                farthest(trial, self.hostile(trial.case))

    def test_the_order_of_a_file_with_identifiers_does_not_matter(self) -> None:
        for trial in self.trials():
            if trial.case.facts.source.role("id"):
                table = self.table(trial.case, np.random.default_rng(9))
                turned = table.take(np.arange(table.num_rows)[::-1].copy())
                assert farthest(trial, [(table, turned)]) == 0.0
