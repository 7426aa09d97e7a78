"""What is derived is computed after the charge, so no release may make it raise."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from executors.mechanisms.adaptive import MECHANISM as ADAPTIVE
from executors.mechanisms.diagonal import MECHANISM as DIAGONAL
from executors.mechanisms.pace import MECHANISM as PACE
from executors.mechanisms.ssp import MECHANISM as SSP
from executors.registry import REGISTRY
from planner.calculus.cost import Cost
from suites.covariance_tables import facts_of, released, stats_of

METHODS = {"ssp": SSP, "diagonal": DIAGONAL, "adaptive": ADAPTIVE, "pace": PACE}
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "correlation": [{}],
    "heatmap": [{}, {"order": "similar"}, {"show": "partial"}],
    "pca": [{}, {"scale": "correlation"}, {"scale": "original", "components": 1}],
    "regress": [{"y": "x0"}, {"y": "x0", "errors": "bootstrap", "draws": 20}],
    "sample": [{"rows": 3}],
}
UNITS = (Fraction(1), Fraction(1, 10**90), Fraction(10**90))


def tables(columns: int) -> Iterator[np.ndarray]:
    """Rows in the unit box: all alike, all zero, two identical columns, noise."""
    rng = np.random.default_rng(1)
    yield np.full((30, columns), 1.0)
    yield np.zeros((30, columns))
    yield np.repeat(rng.uniform(-1, 1, (30, 1)), columns, axis=1)
    yield rng.uniform(-1, 1, (30, columns))


def stored(method: str, rows: np.ndarray, rho: Fraction, half: Fraction, center: str) -> Any:
    mechanism = METHODS[method]
    facts = facts_of(len(rows), [(-half, half)] * rows.shape[1])
    params = mechanism.params(center=center)
    stats = stats_of(rows * float(half))
    outcome = released(mechanism, params, facts, Cost("rho", rho), stats, 1)
    kept = {"value": dict(outcome.value), "uncertainty": dict(outcome.uncertainty), "name": "s"}
    return json.loads(json.dumps(kept, allow_nan=False))


@pytest.mark.parametrize("center", ["private", "midpoint"])
@pytest.mark.parametrize("method", METHODS)
def test_every_function_takes_every_release(method: str, center: str) -> None:
    for columns in (1, 2, 4):
        if columns == 1 and method == "adaptive":
            continue
        for number, rows in enumerate(tables(columns)):
            for rho in (Fraction(1, 10**5), Fraction(1), Fraction(100)):
                release = stored(method, rows, rho, UNITS[number % 3], center)
                for name, options in OPTIONS.items():
                    if name == "regress" and columns == 1:
                        continue
                    _derive(name, options, release)


def _derive(name: str, options: list[dict[str, Any]], release: dict[str, Any]) -> None:
    function = REGISTRY.derivation(name)
    assert function is not None
    for one in options:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = import_module(function.run).run(function.params(**one), release)
        json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("method", METHODS)
def test_every_picture_can_be_drawn(method: str) -> None:
    for rows in tables(3):
        release = stored(method, rows, Fraction(1, 100), Fraction(1), "private")
        for name in ("heatmap", "pca"):
            function = REGISTRY.derivation(name)
            assert function is not None
            assert function.plot is not None
            scale = {"scale": "correlation"} if name == "pca" else {}
            found = import_module(function.run).run(function.params(**scale), release)
            assert "<svg" in import_module(function.plot).plot({"name": "p", **found})
