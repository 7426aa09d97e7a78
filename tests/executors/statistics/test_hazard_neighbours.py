"""How far one replaced record moves what a hazard statement noises: never above the bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction as F
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from executors.pricing.hazard import Tree, list_sensitivity
from executors.statistics.hazard_leaves import STEPS, Leaves, leaves
from executors.statistics.hazard_tree import measured

Record = tuple[float, int]


def leaves_of(records: Sequence[Record], bins: int, floor: int) -> Leaves:
    time, place, count = np.unique([t for t, _ in records], return_inverse=True, return_counts=True)
    events = np.bincount(place, weights=[e for _, e in records], minlength=len(time))
    groups: Any = SimpleNamespace(time=time, count=count, events=events.astype(np.int64))
    return leaves(groups, F(1), bins, floor)


def moves(first: Leaves, second: Leaves, tree: Tree, kind: str, floor: int) -> tuple[F, F]:
    """Square of the move over the square of the bound, of the hazard and of the counts."""
    found = []
    for one, other, most in (
        (first.hazard, second.hazard, F(STEPS, floor)),
        (first.ended, second.ended, F(1)),
    ):
        difference = [b - a for a, b in zip(one, other, strict=True)]
        parts = measured(tree, difference, F(1))
        size = sum(map(abs, parts)) ** 2 if kind == "lap" else sum(p * p for p in parts)
        bound = most * list_sensitivity(tree, len(difference), kind)  # type: ignore[arg-type]
        found.append(F(size) / bound**2)
    return found[0], found[1]


def random_pair(rng: np.random.Generator) -> tuple[list[Record], list[Record], int, int]:
    """Neighbours with ties, censorings at the horizon, times beyond it and at ends of bins."""
    n, bins = int(rng.integers(2, 12)), int(2 ** rng.integers(1, 5))
    grid = int(rng.choice([4, 8, 1000]))

    def record() -> Record:
        time = float(rng.integers(0, int(1.3 * grid) + 1)) / grid
        return min(1.25, time), int(rng.random() < 0.7)

    first = [record() for _ in range(n)]
    second = [record(), *first[1:]]
    return first, second, bins, int(rng.integers(1, n + 1))


def attack(pairs: int, seed: int) -> dict[tuple[str, str], list[float]]:
    rng = np.random.default_rng(seed)
    largest: dict[tuple[str, str], list[float]] = {}
    for _ in range(pairs):
        first, second, bins, floor = random_pair(rng)
        one, other = leaves_of(first, bins, floor), leaves_of(second, bins, floor)
        for tree, kind in (("haar", "gauss"), ("haar", "lap"), ("sqrt", "gauss")):
            ratios = moves(one, other, tree, kind, floor)  # type: ignore[arg-type]
            assert max(ratios) <= 1, (first, second, bins, floor, tree, kind)
            best = largest.setdefault((tree, kind), [0.0, 0.0])
            for place in (0, 1):
                best[place] = max(best[place], math.sqrt(ratios[place]))
    return largest


def test_random_neighbours_never_pass_the_bounds_and_reach_those_of_haar() -> None:
    largest = attack(800, 1)
    for kind in ("gauss", "lap"):
        assert min(largest["haar", kind]) > 0.999999
    assert min(largest["sqrt", "gauss"]) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_a_hundred_thousand_neighbours_never_pass_the_bounds(seed: int) -> None:
    largest = attack(25_000, seed)
    assert min(largest["haar", "gauss"] + largest["haar", "lap"]) > 0.999999


def every_table() -> Iterator[list[Record]]:
    """All tables of three records with times at and between the ends of two bins."""
    cells = [(t, e) for t in (0.0, 0.5, 1.0, 1.25) for e in (0, 1)]
    yield from (list(records) for records in product(cells, repeat=3))


@pytest.mark.parametrize("floor", [1, 2])
def test_all_neighbours_of_three_records_stay_inside(floor: int) -> None:
    cells = [(t, e) for t in (0.0, 0.5, 1.0, 1.25) for e in (0, 1)]
    known = {tuple(table): leaves_of(table, 2, floor) for table in every_table()}
    largest = F(0)
    for table, one in known.items():
        for cell in cells:
            other = known[(cell, *table[1:])]
            largest = max(largest, *moves(one, other, "haar", "gauss", floor))
            assert max(moves(one, other, "sqrt", "gauss", floor)) <= 1
    assert 0.999999 < largest <= 1


def test_the_counts_alone_reach_one() -> None:
    one = leaves_of([(0.1, 1), (0.9, 0)], 2, 1)
    other = leaves_of([(0.9, 0), (0.9, 0)], 2, 1)
    assert moves(one, other, "haar", "lap", 1)[1] == 1


def test_a_bound_for_one_side_only_is_broken() -> None:
    """The mutant that forgets that a replaced record both loses and gains."""
    one = leaves_of([(0.1, 1), (1.25, 0)], 2, 2)
    other = leaves_of([(0.9, 1), (1.25, 0)], 2, 2)
    assert moves(one, other, "haar", "lap", 2)[0] * 4 > 1
