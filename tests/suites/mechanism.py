"""What every mechanism must satisfy: subclass `MechanismSuite` in the mechanism's test file.

    class TestCox(MechanismSuite):
        mechanism = MECHANISM
        attains = 0.99

        def cases(self): ...                  # one `Case` a unit that the mechanism honours
        def table(self, case, rng): ...       # a random Arrow table with `case.facts.rows` rows
        def worst(self, case): ...            # neighbouring pairs that come near the sensitivity

Neighbours differ in the rows of one person. The checks are functions that raise AssertionError, so
that the same functions can be shown to catch mutants: half the noise, a forgotten clamp, a
sensitivity that is too small.
"""

from __future__ import annotations

import builtins
import dataclasses
import importlib
import io
import os
import random
import secrets
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, ClassVar

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet
import pytest

from executors.release import Outcome
from planner.calculus.cost import Cost
from planner.mechanism import Mechanism
from suites.audit import claimed, lower_bound
from suites.samplers import FastSampler, HalvedSampler, ScriptedSampler
from suites.tape import Tape, ratio
from suites.trial import Case, Trial, written

__all__ = ["Case", "MechanismSuite", "Pair", "Trial", "farthest", "forbid_data", "loss_seen"]

Pair = tuple[pa.Table, pa.Table]
HOSTILE = (float("nan"), float("inf"), float("-inf"), None, 1e308, -1e308, 5e-324, 1e17, -1.0)


def forbid_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every way of opening a data file raise."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a data file was opened while pricing")

    for owner, name in (
        (builtins, "open"),
        (io, "open"),
        (os, "open"),
        (duckdb, "connect"),
        (duckdb, "sql"),
        (pa, "memory_map"),
        (pa, "OSFile"),
        (pa.csv, "open_csv"),
        (pa.csv, "read_csv"),
        (pa.dataset, "dataset"),
        (pa.parquet, "ParquetFile"),
        (pa.parquet, "read_table"),
    ):
        monkeypatch.setattr(owner, name, refuse)


def forbid_other_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every source of randomness raise, but for the sampler and generators with a seed."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("randomness was drawn past the sampler")

    seeded = np.random.default_rng

    def only_seeded(seed: Any = None) -> np.random.Generator:
        return refuse() if seed is None else seeded(seed)

    for owner, names in (
        (secrets, ("randbelow", "randbits", "token_bytes", "choice", "token_hex")),
        (os, ("urandom",)),
        (random, ("random", "gauss", "randrange", "getrandbits", "choice", "uniform", "shuffle")),
        (np.random, ("normal", "laplace", "rand", "randn", "random", "choice", "standard_normal")),
    ):
        for name in names:
            monkeypatch.setattr(owner, name, refuse)
    monkeypatch.setattr(np.random, "default_rng", only_seeded)


def farthest(trial: Trial, pairs: Iterable[Pair], seed: int = 1) -> float:
    """The largest ratio of found to declared sensitivity; raises where neighbours differ otherwise.

    The second table is run with the answers of the first: it must ask the same questions in the
    same order, with values inside the declared sensitivity, and release the same outcome.
    """
    largest = 0.0
    for number, (first, second) in enumerate(pairs):
        tape, outcome = trial.run(trial.stats(first), FastSampler(seed + number))
        other, other_outcome = trial.run(trial.stats(second), FastSampler(seed + number), tape)
        asked = [call.shape for call in tape.calls]
        assert asked == [call.shape for call in other.calls], "control flow depends on a row"
        assert written(outcome) == written(other_outcome), "the outcome saw more than the noise"
        for call, other_call in zip(tape.calls, other.calls):
            found = ratio(call, other_call)
            assert found <= 1.0, f"`{call.method}` moved by {found} times its sensitivity"
            largest = max(largest, found)
    return largest


def loss_seen(
    trial: Trial, pair: Pair, runs: int, seed: int, score: Any, half_noise: bool = False
) -> float:
    """A lower bound on the privacy loss between the two tables, from `runs` runs on each."""
    reference, _ = trial.run(trial.stats(pair[0]), ScriptedSampler())
    other, _ = trial.run(trial.stats(pair[1]), ScriptedSampler())
    scores = []
    for number, table in enumerate(pair):
        fast = FastSampler(seed + number)
        sampler = HalvedSampler(fast) if half_noise else fast
        stats = trial.stats(table)
        drawn = [score(*trial.run(stats, sampler), reference, other) for _ in range(runs)]
        scores.append(np.array(drawn, dtype=float))
    return lower_bound(scores[0], scores[1], trial.case.cost)


class MechanismSuite:
    """The checks; a subclass supplies the mechanism, examples and tables."""

    mechanism: ClassVar[Mechanism]
    attains: ClassVar[float] = 0.9
    """The worst pairs reach at least this part of the declared sensitivity in every case."""
    random_pairs: ClassVar[int] = 12
    audit_runs: ClassVar[int] = 5000
    audit_units: ClassVar[tuple[str, ...]] = ("eps", "eps_delta", "rho", "mu")
    """The units whose cases are audited by runs; statements that share their noise may share it."""
    consumes_all: ClassVar[bool] = True
    """Whether every declared leaf is drawn to its full count (a filter's cap never is)."""

    # --- what a subclass supplies ----------------------------------------------------------------

    def cases(self) -> Iterable[Case]:
        """Example statements, every honoured unit among them."""
        raise AssertionError("a mechanism's suite needs cases")

    def table(self, case: Case, rng: np.random.Generator) -> pa.Table:
        """A random table with the declared number of rows."""
        raise AssertionError("a mechanism's suite needs tables")

    def worst(self, case: Case) -> Iterable[Pair]:
        """Neighbouring tables that come near the declared sensitivity."""
        raise AssertionError("a mechanism's suite needs worst pairs")

    def unclamped(self, case: Case) -> Iterable[Pair]:
        """Neighbours that pass the sensitivity if the clamp is forgotten."""
        return self.hostile(case)

    def score(self, tape: Tape, outcome: Outcome, first: Tape, second: Tape) -> float:
        """A number whose law differs most between the two tables."""
        total = 0.0
        for call, left, right in zip(tape.calls, first.calls, second.calls):
            if call.method not in ("lap", "gauss", "knorm", "dgauss", "filter.dgauss"):
                continue
            answer = call.answer[0] if call.method in ("lap", "gauss", "knorm") else call.answer
            move = np.array(right.values, dtype=float) - np.array(left.values, dtype=float)
            total += float(np.dot(np.array(answer, dtype=float), move))
        return total

    # --- helpers of the checks -------------------------------------------------------------------

    def neighbours(self, case: Case, rng: np.random.Generator) -> Iterator[Pair]:
        """Random tables with one person's rows replaced by rows of another random table."""
        size = case.facts.source.max_rows
        while True:
            first, donor = self.table(case, rng), self.table(case, rng)
            row = int(rng.integers(0, first.num_rows - size + 1))
            yield first, self.replaced(first, row, donor.slice(row, size))

    @staticmethod
    def replaced(table: pa.Table, row: int, rows: pa.Table) -> pa.Table:
        """The table with the rows from `row` on replaced."""
        after = table.slice(row + rows.num_rows)
        return pa.concat_tables([table.slice(0, row), rows.cast(table.schema), after])

    def hostile(self, case: Case) -> Iterator[Pair]:
        """A random table with one value of one row replaced by what no range holds."""
        table = self.table(case, np.random.default_rng(5))
        for name in table.column_names:
            field = table.schema.field(name)
            for value in HOSTILE:
                if not pa.types.is_floating(field.type) and value is not None:
                    continue
                row = table.slice(0, 1)
                index = row.column_names.index(name)
                column = pa.array([value], type=field.type, from_pandas=False)
                yield table, self.replaced(table, 0, row.set_column(index, name, column))

    def trials(self, **changes: Any) -> Iterator[Trial]:
        """The cases, priced."""
        return (Trial(self.mechanism, case, **changes) for case in self.cases())

    def audited(self) -> Iterator[Trial]:
        """Those whose loss is estimated from many runs."""
        return (trial for trial in self.trials() if trial.case.cost.unit in self.audit_units)

    # --- price -----------------------------------------------------------------------------------

    def test_every_honoured_unit_has_a_case(self) -> None:
        assert {case.cost.unit for case in self.cases()} == set(self.mechanism.units)

    def test_the_price_is_the_same_twice(self) -> None:
        for trial in self.trials():
            again = Trial(self.mechanism, trial.case)
            assert trial.params == again.params
            assert trial.loss == again.loss
            assert trial.loss.leaves

    def test_nothing_that_prices_opens_data(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for trial in self.trials():
            forecast = importlib.import_module(self.mechanism.forecast)
            assert trial.loss  # loads what is loaded late
            units = {source.name: trial.case.cost.unit for source in trial.case.facts.sources}
            with monkeypatch.context() as patch:
                forbid_data(patch)
                again = Trial(self.mechanism, trial.case)
                assert self.mechanism.check(trial.case.params, trial.case.facts, units) is not None
                assert self.mechanism.query(again.params, again.case.facts)
                assert self.mechanism.assumptions(again.params, again.case.facts)
                assert again.loss == trial.loss
                assert forecast.forecast(again.params, again.case.facts, again.loss) is not None

    def test_a_valid_statement_has_no_complaint(self) -> None:
        for case in self.cases():
            units = {source.name: case.cost.unit for source in case.facts.sources}
            complaints = self.mechanism.check(case.params, case.facts, units)
            assert [c for c in complaints if not c.is_warning] == []

    def test_the_shares_of_a_source_sum_to_one(self) -> None:
        for trial in self.trials():
            units = {source.name: trial.case.cost.unit for source in trial.case.facts.sources}
            totals: dict[Any, Fraction] = {}
            for need in self.mechanism.need(trial.params, trial.case.facts, units):
                key = (need.dataset, need.site)
                totals[key] = totals.get(key, Fraction(0)) + need.share
            assert set(totals.values()) == {Fraction(1)}

    def test_needs_are_stated_while_options_are_open(self) -> None:
        for case in self.cases():
            units = {source.name: case.cost.unit for source in case.facts.sources}
            assert self.mechanism.need(case.params, case.facts, units)

    def test_a_dearer_budget_means_less_noise(self) -> None:
        for trial in self.trials():
            cost = trial.case.cost
            dearer = trial.price(trial.params, Cost(cost.unit, 2 * cost.amount, cost.delta))
            cheap, dear = trial.loss.leaves, dearer.leaves
            assert len(cheap) == len(dear)
            noise = [(a.scale, b.scale) for a, b in zip(cheap, dear) if a.scale is not None]
            caps = [(a.param, b.param) for a, b in zip(cheap, dear) if a.scale is None]
            assert noise or caps
            assert all(b < a for a, b in noise)
            assert all(b > a for a, b in caps)

    # --- run -------------------------------------------------------------------------------------

    def test_noise_is_drawn_only_through_the_sampler(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for trial in self.trials():
            stats = trial.stats(self.table(trial.case, np.random.default_rng(1)))
            trial.run(stats, ScriptedSampler())  # loads what is loaded late
            sampler = ScriptedSampler()
            with monkeypatch.context() as patch:
                forbid_other_noise(patch)
                tape, _ = trial.run(stats, sampler)
            additive = [c for c in tape.calls if c.method not in ("below", "select")]
            additive = [c for c in additive if c.method != "filter.select"]
            drawn = [size for law, _, size in sampler.calls if law != "below"]
            assert sum(drawn) >= sum(len(call.values) for call in additive)
            assert sampler.calls

    def test_every_declared_leaf_is_used(self) -> None:
        if not self.consumes_all:
            return
        for trial in self.trials():
            stats = trial.stats(self.table(trial.case, np.random.default_rng(1)))
            tape, _ = trial.run(stats, ScriptedSampler())
            for leaf in trial.loss.leaves:
                calls = list(tape.of(leaf))
                if leaf.kind in ("br",):
                    assert sum(len(call.answer) for call in calls) == leaf.count
                elif leaf.scale is None:
                    assert calls
                else:
                    assert sum(len(call.values) for call in calls) == leaf.count * leaf.width

    def test_the_same_draws_give_the_same_outcome(self) -> None:
        def script(law: str, scale: int, index: int) -> int:
            return (scale // 3) * (-1) ** index

        for trial in self.trials():
            stats = trial.stats(self.table(trial.case, np.random.default_rng(2)))
            _, outcome = trial.run(stats, ScriptedSampler(script))
            _, again = trial.run(stats, ScriptedSampler(script))
            assert written(outcome) == written(again)

    def test_the_outcome_is_frozen_json(self) -> None:
        for trial in self.trials():
            stats = trial.stats(self.table(trial.case, np.random.default_rng(3)))
            _, outcome = trial.run(stats, FastSampler(3))
            assert written(outcome)
            assert outcome.noise
            with pytest.raises(dataclasses.FrozenInstanceError):
                outcome.value = {}  # type: ignore[misc]

    # --- neighbours ------------------------------------------------------------------------------

    def test_random_neighbours_stay_inside_the_sensitivity(self) -> None:
        for trial in self.trials():
            pairs = self.neighbours(trial.case, np.random.default_rng(4))
            farthest(trial, (next(pairs) for _ in range(self.random_pairs)))

    def test_worst_neighbours_come_near_the_sensitivity(self) -> None:
        for trial in self.trials():
            assert farthest(trial, self.worst(trial.case)) >= self.attains

    def test_hostile_rows_change_nothing_but_the_values(self) -> None:
        for trial in self.trials():
            farthest(trial, self.hostile(trial.case))

    def test_the_loss_seen_stays_below_the_claim(self) -> None:
        for trial in self.audited():
            pair = next(iter(self.worst(trial.case)))
            seen = loss_seen(trial, pair, self.audit_runs, 11, self.score)
            assert seen <= claimed(trial.case.cost)

    # --- mutants ---------------------------------------------------------------------------------

    def test_half_the_noise_is_caught(self) -> None:
        for trial in self.audited():
            pair = next(iter(self.worst(trial.case)))
            seen = loss_seen(trial, pair, self.audit_runs, 12, self.score, half_noise=True)
            assert seen > claimed(trial.case.cost)

    def test_a_sensitivity_that_is_too_small_is_caught(self) -> None:
        for trial in self.trials(wrong=Fraction(self.attains) * Fraction(99, 100)):
            with pytest.raises(AssertionError, match="times its sensitivity"):
                farthest(trial, self.worst(trial.case))

    def test_a_forgotten_clamp_is_caught(self) -> None:
        for trial in self.trials(clamps=False):
            with pytest.raises((AssertionError, OverflowError, ValueError)):
                farthest(trial, self.unclamped(trial.case))
