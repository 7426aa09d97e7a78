"""How far private covariance matrices are from the truth, method by method.

    python benchmarks/covariance_accuracy.py [seeds] [data ...]

Seven tables, six budgets in rho, the real mechanisms with seeded noise: the median over the seeds
of the relative Frobenius error and of the Mahalanobis error
|S^(-1/2) E S^(-1/2)|_F, on eigenvectors with an eigenvalue above 1e-8 of the largest. Ranges are
three standard deviations to each side of the mean, taken as public. A second table is about
covariances proper: ranges are the smallest and largest value, means are released too. A third has
data picked against `pace`. `data` names tables, `hard` the third. Prints Markdown. The truth is
known here because the tables are; a release never compares itself with it.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

Floats = npt.NDArray[np.float64]

RHOS = ("0.0001", "0.001", "0.01", "0.1", "1", "10")
SEEDS = 5
MANY = 20
"""So many times more runs on small tables, whose errors are a few draws and scatter."""

FIRST_SEED = 1000
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "pace": ("pace", {"center": "midpoint"}),
    "pace, paper": ("pace", {"variant": "paper"}),
    "ssp plain": ("ssp", {"center": "midpoint", "weights": "plain"}),
    "ssp": ("ssp", {"center": "midpoint"}),
    "diagonal": ("diagonal", {"variant": "paper"}),
    "adaptive": ("adaptive", {"variant": "paper"}),
}
PRIVATE: dict[str, tuple[str, dict[str, Any]]] = {
    name: (name, {}) for name in ("pace", "ssp", "diagonal", "adaptive")
}


def tables() -> dict[str, Callable[[], Floats]]:
    """The tables by name, each in [-1, 1]; nothing is loaded before it is asked for."""
    from suites.covariance_tables import factors, pairs_of_columns, standardised

    return {
        "wine": lambda: standardised(_sklearn("wine")),
        "diabetes": lambda: standardised(_sklearn("diabetes")),
        "breast": lambda: standardised(_sklearn("breast_cancer")),
        "digits": lambda: standardised(_sklearn("digits")),
        "sparse260": pairs_of_columns,
        "factor100": factors,
        "digitpairs": digit_pairs,
    }


def digit_pairs() -> Floats:
    """The pixels of the digits that vary, with 170 products of two of them."""
    from suites.covariance_tables import standardised

    pixels = _sklearn("digits")
    pixels = pixels[:, pixels.std(axis=0) > 2]
    rng = np.random.default_rng(3)
    first = rng.integers(0, pixels.shape[1], 170)
    second = rng.integers(0, pixels.shape[1], 170)
    return standardised(np.column_stack([pixels, pixels[:, first] * pixels[:, second]]))


def ranges(name: str) -> Floats:
    """A table of scikit-learn with every column stretched over [-1, 1] by its own extremes."""
    x = _sklearn(name)
    low, high = x.min(axis=0), x.max(axis=0)
    wide = high > low
    return np.asarray(2 * (x[:, wide] - low[wide]) / (high[wide] - low[wide]) - 1)


def hard() -> dict[str, Floats]:
    """Tables picked against `pace`: two columns, heavy tails in loose ranges, means far out."""
    rng = np.random.default_rng(9)
    pair = rng.normal(size=(500, 1)) * [0.5, 0.5] + rng.normal(size=(500, 2))
    tails = rng.standard_t(3, size=(3000, 2)) @ rng.normal(size=(2, 25))
    tails += rng.standard_t(3, size=(3000, 25))
    far = 0.6 + 0.1 * rng.normal(size=(2000, 20))
    return {
        "pair": np.clip(pair / 4, -1, 1),
        "heavy tails": np.clip(tails / np.abs(tails).max(axis=0), -1, 1),
        "far means": np.clip(far, -1, 1),
    }


def errors(x: Floats, method: str, options: dict[str, Any], rho: str, seeds: int) -> list[Floats]:
    """Relative Frobenius and Mahalanobis error of each run."""
    from executors.registry import REGISTRY
    from planner.calculus.cost import Cost
    from suites.covariance_tables import facts_of, released, stats_of

    mechanism = REGISTRY.find("COVARIANCE", method)
    assert mechanism is not None
    params, facts = mechanism.params(**options), facts_of(len(x), [(-1, 1)] * x.shape[1])
    stats = cache(stats_of(x))
    found = []
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        outcome = released(mechanism, params, facts, Cost("rho", Fraction(rho)), stats, seed)
        centre = x.mean(axis=0) if outcome.value["kind"] == "covariance" else 0.0
        truth = (x - centre).T @ (x - centre) / len(x)
        found.append(distance(np.array(outcome.value["matrix"]), truth))
    return found


def distance(matrix: Floats, truth: Floats) -> Floats:
    """|E|_F / |S|_F, and |S^(-1/2) E S^(-1/2)|_F where S is not singular."""
    values, vectors = np.linalg.eigh(truth)
    kept = values > 1e-8 * values[-1]
    half = vectors[:, kept] / np.sqrt(values[kept])
    error = matrix - truth
    return np.array(
        [np.linalg.norm(error) / np.linalg.norm(truth), np.linalg.norm(half.T @ error @ half)]
    )


def rows(
    data: dict[str, Floats],
    methods: dict[str, tuple[str, dict[str, Any]]],
    rhos: tuple[str, ...],
    seeds: int,
) -> Iterator[str]:
    """The lines of a Markdown table; the smallest Frobenius error is bold."""
    yield "| data (n, d) | rho | " + " | ".join(methods) + " |"
    yield "| --- | --- |" + " --- |" * len(methods)
    for name, x in data.items():
        for rho in rhos:
            medians = [
                np.median(errors(x, *method, rho, seeds), axis=0) for method in methods.values()
            ]
            best = min(value[0] for value in medians)
            cells = [
                f"**{value[0]:.3g}** / {value[1]:.3g}"
                if value[0] == best
                else f"{value[0]:.3g} / {value[1]:.3g}"
                for value in medians
            ]
            title = f"{name} ({len(x)}, {x.shape[1]})" if rho == rhos[0] else ""
            yield f"| {title} | {rho} | " + " | ".join(cells) + " |"


def _sklearn(name: str) -> Floats:
    from sklearn import datasets

    return np.asarray(getattr(datasets, f"load_{name}")().data, dtype=np.float64)


def main(seeds: int = SEEDS, *names: str) -> None:
    """Print both tables, then the processor time."""
    began = time.process_time()
    data = {name: make() for name, make in tables().items() if not names or name in names}
    print(f"Relative Frobenius / Mahalanobis error, median of {seeds} runs, second moments\n")
    for line in rows(data, METHODS, RHOS, seeds):
        print(line, flush=True)
    chosen = [name for name in ("wine", "breast_cancer", "digits") if not names or name in names]
    if chosen:
        print("\nThe same, covariances with private means, ranges from extremes\n")
        for line in rows({name: ranges(name) for name in chosen}, PRIVATE, RHOS[3:], seeds):
            print(line, flush=True)
    if not names or "hard" in names:
        print(f"\nTables picked against pace, second moments, median of {MANY * seeds} runs\n")
        for line in rows(hard(), METHODS, RHOS[3:], MANY * seeds):
            print(line, flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{time.process_time() - began:.0f} s of processor time, peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main(*(int(a) if a.isdigit() else a for a in sys.argv[1:]))
