"""Faults that were reported of other libraries, planted here: one of our checks sees each of them.

Each test runs a check on the code as it is, then on the code with the fault, where it must fail.
The accounting faults are in tests/planner/calculus/test_public_bugs.py.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from executors.data.bind import open_source
from executors.data.source import Clamp
from executors.mechanisms.ssp import MECHANISM
from executors.noise import StatementNoise
from executors.noise.filter import Filter, FilterExhausted
from executors.noise.sampler import OsSampler
from executors.noise.statement import NoiseMismatch
from executors.summaries import moments
from planner.calculus import exact
from planner.calculus.cost import Cost
from planner.calculus.leaves import Leaf, Loss
from planner.charge_token import Token
from planner.facts import Column, Facts, SourceFacts
from planner.mechanism import Query
from suites.mechanism import farthest
from suites.samplers import FastSampler, ScriptedSampler
from suites.table_reader import TableReader
from suites.trial import Case, Trial

F = Fraction


# --- opendp 2911: permute-and-flip was drawn, the exponential mechanism was charged --------------


def picks(draws: int) -> float:
    """How often the better of two candidates, one noise scale ahead, is picked."""
    leaf = Leaf.br(1 << 30, 1 << 30, count=1)
    scores = np.array([0, 1 << 30], dtype=np.int64)
    hits = 0
    for _ in range(draws):
        hits += StatementNoise(OsSampler(), Loss((leaf,))).select(leaf, scores, 1 << 30)[0]
    return hits / draws


def gumbel_gate(draws: int = 10_000) -> None:
    """Gumbel noise picks the better one with 1/(1 + 1/e) = .7311, seven standard errors."""
    p = 1 / (1 + math.exp(-1))
    assert abs(picks(draws) - p) < 7 * math.sqrt(p * (1 - p) / draws)


def permute_and_flip(sampler, eta, sensitivity, scores, count):
    """In random order, each candidate is taken with probability e^(eta (score - best)/(2 D))."""
    left = list(range(len(scores)))
    while True:
        one = left.pop(sampler.below(len(left)))
        chance = math.exp(float(eta) * int(scores[one] - max(scores)) / (2 * sensitivity))
        if sampler.below(1 << 53) < chance * (1 << 53):
            return [one]


def test_another_selection_under_the_same_name_fails_the_frequency_gate(monkeypatch):
    gumbel_gate()
    monkeypatch.setattr("executors.noise.statement.select", permute_and_flip)
    with pytest.raises(AssertionError):
        gumbel_gate()


def test_a_selection_is_paid_by_its_own_kind_only():
    """Permute-and-flip is `pure` with factor 2, up to four times the rho of the range."""
    flip = Leaf.pure(1, 20, factor=2)
    with pytest.raises(NoiseMismatch):
        StatementNoise(ScriptedSampler(), Loss((flip,))).select(flip, [0, 1], 1)
    cap = Leaf.cap("zcdp", 1, ("br", "pure"))
    price = Filter(ScriptedSampler(), cap).price
    assert price(Leaf.pure(1, 20, factor=2)) > F(399, 100) * price(Leaf.br(1, 20))


# --- opendp 2912: the noisy maximum returned the minimum -----------------------------------------


def best_first() -> None:
    """With hardly any noise the answer is the true order."""
    leaf = Leaf.br(1, F(1, 50), count=3)
    for scores in itertools.permutations((3, 0, 7, -5)):
        picked = StatementNoise(OsSampler(), Loss((leaf,))).select(leaf, list(scores), 1)
        assert [scores[index] for index in picked] == [7, 3, 0]


def test_a_selection_of_the_smallest_is_seen_with_tiny_noise(monkeypatch):
    best_first()
    from executors.noise import statement

    honest = statement.select
    monkeypatch.setattr(
        statement,
        "select",
        lambda sampler, eta, d, scores, k: honest(sampler, eta, d, [-s for s in scores], k),
    )
    with pytest.raises(AssertionError):
        best_first()


# --- opendp 2131: eleven float shares of 1/11 passed 1 -------------------------------------------


def fills(parts: int) -> None:
    """So many equal parts fill a cap, and then not even a small draw fits."""
    cap = Leaf.cap("pure", 1, ("lap",))
    spent = Filter(ScriptedSampler(), cap)
    for _ in range(parts):
        spent.lap(1, parts, [0])
    assert spent.left == 0
    with pytest.raises(FilterExhausted):
        spent.lap(1, 10**9, [0])


@pytest.mark.parametrize("parts", [7, 10, 11])
def test_shares_added_in_floats_do_not_fill_a_budget(monkeypatch, parts):
    fills(parts)
    monkeypatch.setattr(
        "executors.noise.filter.sum_up", lambda values: F(sum(float(value) for value in values))
    )
    with pytest.raises((AssertionError, FilterExhausted)):
        fills(parts)


# --- opendp 2638: a division in a dependency biased additive noise -------------------------------


def moments_gate(sampler) -> None:
    """Mean 0, E|x| = s, of Laplace noise on the integers: seven standard errors."""
    scale, size = 1 << 20, 20_000
    x = np.array(sampler.discrete_laplace(scale, size), dtype=float) / scale
    assert abs(x.mean()) < 7 * math.sqrt(2 / size)
    assert abs(np.abs(x).mean() - 1) < 7 * math.sqrt(1 / size)


class Truncated(FastSampler):
    """A mutant whose last division loses the sign in one case of eight."""

    def discrete_laplace(self, scale, size):
        drawn = FastSampler.discrete_laplace(self, scale, size)
        return [abs(value) if place % 8 == 0 else value for place, value in enumerate(drawn)]


def test_biased_noise_fails_the_gate_of_moments():
    moments_gate(OsSampler())
    moments_gate(FastSampler(3))
    with pytest.raises(AssertionError):
        moments_gate(Truncated(3))


# --- opendp 2909: the time of a filter grew with the square of its queries -----------------------


def constant_work(monkeypatch, kind=Filter) -> None:
    """Each charge adds one number to one running sum; nothing else is kept."""
    added: list[int] = []
    with monkeypatch.context() as patch:

        def counting(values):
            kept = list(values)
            added.append(len(kept))
            return exact.sum_up(kept)

        patch.setattr("executors.noise.filter.sum_up", counting)
        spent = kind(ScriptedSampler(), Leaf.cap("zcdp", 1, ("dgauss",)))
        for _ in range(200):
            spent.dgauss(1, 4096, [0])
    assert max(added) == 2
    assert len(added) == 200


class Historian(Filter):
    """A mutant that remembers every charge and adds them all up again."""

    def _charge(self, leaf):
        from executors.noise import filter as module

        self._history = [*getattr(self, "_history", ()), self.price(leaf)]
        self._spent = module.sum_up(self._history)


def test_a_filter_that_adds_up_its_history_is_seen(monkeypatch):
    constant_work(monkeypatch)
    with pytest.raises(AssertionError):
        constant_work(monkeypatch, Historian)


# --- google 378, 464 and 430: the sensitivity of the wrong thing ---------------------------------


def matrix_trial() -> Trial:
    """Second moments of three columns of [-1, 1], all entries at one noise scale."""
    columns = tuple(Column(f"x{j}", "real", F(-1), F(1)) for j in range(3))
    facts = Facts((SourceFacts("people", 4, columns),), columns)
    params = MECHANISM.params(center="midpoint", weights="plain")
    return Trial(MECHANISM, Case("rho", params, facts, Cost("rho", F(1, 2))))


def table(first: list[float]) -> pa.Table:
    rows = np.array([first, [0.5, -0.25, 0.75], [0.0, 0.0, 1.0], [-1.0, 0.5, 0.0]])
    return pa.table({f"x{j}": rows[:, j] for j in range(3)})


def replaced_row_stays_inside() -> None:
    """Row (1, 1, 1) against (1, -1, -1): two products move by 2, in units of the grid."""
    farthest(matrix_trial(), [(table([1.0, 1.0, 1.0]), table([1.0, -1.0, -1.0]))])


@pytest.mark.parametrize(
    "square",
    [
        pytest.param(6, id="google 378: the norm of one clipped row, as if it were only removed"),
        pytest.param(4, id="google 430: the move of one entry, for all that are released together"),
    ],
)
def test_the_sensitivity_of_the_wrong_thing_is_seen_by_neighbours(monkeypatch, square):
    replaced_row_stays_inside()
    monkeypatch.setattr(
        "executors.mechanisms.ssp.cost.sensitivity",
        lambda params, facts: exact.root_up(F(square)) * (1 << 32),
    )
    with pytest.raises(AssertionError, match="times its sensitivity"):
        replaced_row_stays_inside()


# --- google 126, 127 and smartnoise 622: sums that move more than the rows -----------------------

QUERY = Query(
    "moments", (Column("x", "real", F(-1), F(1)),), (("center", (F(0),)), ("half", (F(1),)))
)


def total(values) -> Fraction:
    made = moments.summarise(QUERY, TableReader(pa.table({"x": np.array(values)}), False))
    return F(made.total.tolist()[0])


def exact_sums() -> None:
    """The order of rows changes nothing, and a sum moves by what its row moves."""
    rest = [2.0**-16 * (k % 7) for k in range(2000)]
    assert total([1.0, *rest]) == total([*rest, 1.0])
    assert total([1.0, *rest]) - total([0.0, *rest]) == total([1.0]) - total([0.0])


def in_floats(batch, center, half, buffer):
    """A mutant: clamped doubles scaled by 1/3, added in doubles from left to right."""
    x = np.clip(batch.column(0).to_numpy(), -1, 1) / 3
    return moments.Moments(len(x), np.cumsum(x)[-1:], np.zeros((1, 1), dtype=np.int64))


def test_sums_of_doubles_are_seen(monkeypatch):
    exact_sums()
    monkeypatch.setattr(moments, "_batch", in_floats)
    monkeypatch.setattr(moments.Moments, "plus", lambda self, other: other)
    with pytest.raises(AssertionError):
        exact_sums()


def inside_the_box() -> None:
    """A row far out of its bounds moves the sum no further than a row at the bound."""
    assert abs(total([1e3, 0.5]) - total([-1e3, 0.5])) <= 2 * moments.GRID


def clipped_aside(values, center, half, out):
    """A mutant: what is returned is clipped, what is used is not."""
    np.floor(values / (half / moments.GRID), out=out)
    return np.clip(out, -float(moments.GRID), float(moments.GRID))


def test_a_clipped_copy_beside_the_rows_that_are_used_is_seen(monkeypatch):
    inside_the_box()
    monkeypatch.setattr(moments, "grid", clipped_aside)
    with pytest.raises(AssertionError):
        inside_the_box()


# --- google 84: rows were bounded by value, so equal values of two people counted as one ---------


def two_rows_of_each() -> None:
    """Five rows of one person, three of another, all with one value: two of each count."""
    people = pa.table({"u": [1, 1, 2, 1, 2, 1, 2, 1], "x": [0.5] * 8})
    reader = open_source(people).open(Token("rid", "hash", ("key",)), "u", 2)
    (batch,) = reader.batches([Clamp("x", 0.0, 1.0, -1.0)])
    kept = [u for u, x in zip(people["u"].to_pylist(), batch.column(0).to_pylist()) if x == 0.5]
    assert sorted(kept) == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "late",
    [
        pytest.param("rank() over (partition by c{unit} order by c{unit})", id="equals share"),
        pytest.param("row_number() over (order by n)", id="two rows of all people"),
        pytest.param("dense_rank() over (order by c{unit})", id="two people"),
    ],
)
def test_bounding_that_confuses_equal_rows_is_seen(monkeypatch, late):
    two_rows_of_each()
    monkeypatch.setattr(
        "executors.data.duckdb._late",
        lambda relation, unit, most: f"({late.format(unit=unit)} > {most})",
    )
    with pytest.raises(AssertionError):
        two_rows_of_each()


# --- diffprivlib 104: one share of the budget was used for two draws -----------------------------


def drawn_once() -> None:
    """A leaf pays for as many draws as it counts, whichever way they are asked for."""
    leaf = Leaf.lap(1, 1)
    noise = StatementNoise(ScriptedSampler(), Loss((leaf,)))
    noise.lap(leaf, [0])
    with pytest.raises(NoiseMismatch):
        noise.lap(leaf, [0])


def test_a_share_that_is_used_twice_is_seen(monkeypatch):
    drawn_once()
    monkeypatch.setattr(StatementNoise, "_use", lambda self, leaf, kinds, draws: None)
    with pytest.raises(pytest.fail.Exception):
        drawn_once()
