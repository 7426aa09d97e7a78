"""Noise and tables at their worst: what the samplers could answer, what a table could hold."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from executors.noise import OsSampler

__all__ = ["NOISE", "TABLES", "draw", "hits", "people"]

Script = Callable[[int, int], int]
"""The integer drawn, by the scale of the noise and the place of the draw."""

_EDGE = (1 << 62) - 1
"""The largest integer that the real sampler hands out."""


def _heavy(scale: int, place: int) -> int:
    """A Cauchy number of this scale, the same each time."""
    chance = random.Random(f"{scale} {place}").uniform(-0.499999, 0.499999)
    return max(-_EDGE, min(_EDGE, int(scale * math.tan(math.pi * chance))))


NOISE: dict[str, Script] = {
    "none": lambda scale, place: 0,
    "a step up": lambda scale, place: 1,
    "a step down": lambda scale, place: -1,
    "far up": lambda scale, place: _EDGE,
    "far down": lambda scale, place: -_EDGE,
    "far to and fro": lambda scale, place: _EDGE * (-1) ** place,
    "ten scales down": lambda scale, place: -10 * scale,
    "heavy tails": _heavy,
}


def draw(monkeypatch: pytest.MonkeyPatch, script: Script) -> None:
    """Let every sampler that a run makes answer by the script; a ledger takes it for real."""
    place = 0

    def answer(scale: int, size: int) -> list[int]:
        nonlocal place
        place += size
        return [script(scale, place - size + index) for index in range(size)]

    def below(sampler: OsSampler, n: int) -> int:
        return answer(n, 1)[0] % n

    def knorm(sampler: OsSampler, norm: str, rate: Fraction, width: int) -> list[int]:
        return answer(math.ceil(1 / rate), width)

    def noise(sampler: OsSampler, scale: int, size: int) -> list[int]:
        return answer(scale, size)

    monkeypatch.setattr(OsSampler, "discrete_gaussian", noise)
    monkeypatch.setattr(OsSampler, "discrete_laplace", noise)
    monkeypatch.setattr(OsSampler, "knorm", knorm)
    monkeypatch.setattr(OsSampler, "below", below)


TABLES = ("spread", "all alike", "all missing", "no events", "one time")


def people(kind: str, rows: int) -> pa.Table:
    """A survival table with two numeric covariates."""
    rng = np.random.default_rng(rows)
    columns = {
        "time": rng.exponential(4.0, rows),
        "event": rng.integers(0, 2, rows),
        "arm": rng.integers(0, 2, rows).astype(bool),
        "x": rng.uniform(0.0, 1.0, rows),
        "y": rng.normal(1.0, 2.0, rows),
    }
    if kind == "all alike":
        columns = {name: np.full(rows, column[0]) for name, column in columns.items()}
    if kind == "all missing":
        columns |= {name: np.full(rows, np.nan) for name in ("time", "x", "y")}
    if kind == "no events":
        columns |= {"event": np.zeros(rows, int), "x": np.ones(rows), "y": np.full(rows, -3.0)}
    if kind == "one time":
        columns |= {"event": np.ones(rows, int), "time": np.full(rows, 5.0)}
    return pa.table(columns)


def hits(kind: str, rows: int) -> pa.Table:
    """A table of log e-values."""
    values = {
        "spread": np.random.default_rng(rows).normal(0.0, 4.0, rows),
        "all alike": np.full(rows, 2.5),
        "all missing": np.full(rows, np.nan),
        "no events": np.full(rows, -1e300),
        "one time": np.full(rows, 1e300),
    }
    return pa.table({"gene": [f"g{row}" for row in range(rows)], "log_e": values[kind]})
