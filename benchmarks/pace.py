"""How long a whole run of COVARIANCE pace takes, and how much memory.

    OPENBLAS_NUM_THREADS=1 python benchmarks/pace.py [columns] [rounds] [rows]

Runs one search with real noise on generated rows in which every column depends on others, without
annealing, so that it has as many rounds as asked: variances, then a choice among all pairs, a
measurement and a new fit in each. The peer is one graphical lasso of scikit-learn on the exact
matrix, the usual estimate of a sparse inverse; beyond 400 columns it is left out. Seconds are of
processor time, all threads together. Memory is the peak of a process that does nothing else, beside
that of one that only makes the rows.

On one core of a shared machine: 260 columns, 300 rounds, 20,000 rows: 6.7 s, 2.7 times the peer,
353 MB, as much as making the rows. 1,000 columns, 500 rounds that measured 500 pairs, 5,000 rows:
39 s, 736 MB.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from executors.data.source import Selection
from executors.mechanisms.pace import MECHANISM
from executors.mechanisms.pace.forecast import resolve
from executors.mechanisms.pace.run import run
from executors.noise import OsSampler, StatementNoise
from executors.release import Outcome
from executors.summaries import ball_moments, moments
from planner.calculus.cost import Cost
from planner.calculus.inverse import solve
from planner.facts import Column, Facts, SourceFacts
from planner.mechanism import Query

_RHO = Fraction(10)
_WALL = 4.0
_MOST_FOR_PEER = 400


def main(columns: int = 260, rounds: int = 300, rows: int = 20_000) -> None:
    """Print one JSON line: seconds of a run and of the peer, their ratio, peak memory in MB."""
    table = generated(columns, rows)
    seconds, outcome = timed(lambda: released(table, rounds))
    peer = timed(lambda: lasso(table))[0] if columns <= _MOST_FOR_PEER else None
    measured = outcome.value["measurements"]
    pairs = {(j, k) for j, k in zip(measured["j"], measured["k"]) if k is not None and j != k}
    peaks = [peak_of(kind, columns, rounds, rows) for kind in ("nothing", "run")]
    print(
        json.dumps(
            {
                "columns": columns,
                "rows": rows,
                "rounds": outcome.value["calls"]["law"].count("exponential_mechanism"),
                "pairs": len(pairs),
                "converged": outcome.value["converged"],
                "seconds": round(seconds, 2),
                "graphical_lasso_seconds": None if peer is None else round(peer, 2),
                "ratio": None if peer is None else round(seconds / peer, 2),
                "rows_megabytes": peaks[0],
                "peak_megabytes": peaks[1],
            }
        )
    )


def generated(columns: int, rows: int) -> np.ndarray[Any, Any]:
    """Rows in which each column leans on one before it, standard deviation 1, within the walls."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, columns))
    for j in range(1, columns):
        x[:, j] = 0.7 * x[:, rng.integers(0, j)] + 0.714 * x[:, j]
    return np.clip(x, -_WALL, _WALL)


def released(table: np.ndarray[Any, Any], rounds: int) -> Outcome:
    """One run of the search on an array of shape (n, d), summaries included."""
    count, d = table.shape
    wall = Fraction(_WALL)
    columns = tuple(Column(f"x{j}", "real", -wall, wall) for j in range(d))
    facts = Facts((SourceFacts("t", count, columns),), columns)
    cost = Cost("rho", _RHO)
    options = MECHANISM.params(
        strategy="entries", rounds=rounds, maxrounds=rounds, anneal=Fraction(1)
    )
    params = resolve(options, facts, cost)
    loss = solve(MECHANISM.need(params, facts, {"t": "rho"}), cost)

    def stats(query: Query) -> Any:
        module = {"moments": moments, "ball_moments": ball_moments}[query.summary]
        return module.summarise(query, _Rows(table))

    return run(params, facts, loss, stats, StatementNoise(OsSampler(), loss))


class _Rows:
    """A reader of an array whose values lie within their bounds."""

    def __init__(self, table: np.ndarray[Any, Any]) -> None:
        self._table = table

    def batches(
        self, columns: list[Selection], order_by: str | None = None, rows: int = 65_536
    ) -> Any:
        """Record batches of the columns, in order."""
        names = [selection.name for selection in columns]
        for start in range(0, len(self._table), rows):
            part = self._table[start : start + rows]
            arrays = [pa.array(np.ascontiguousarray(part[:, j])) for j in range(part.shape[1])]
            yield pa.RecordBatch.from_arrays(arrays, names=names)

    def close(self) -> None:
        """Nothing to close."""


def lasso(table: np.ndarray[Any, Any]) -> None:
    """The peer: one sparse inverse of the exact covariance."""
    from sklearn.covariance import graphical_lasso

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graphical_lasso(np.cov(table.T), alpha=0.1)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of processor time of one call, with its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def peak_of(kind: str, columns: int, rounds: int, rows: int) -> int:
    """Peak megabytes of a process that runs once, or only imports and makes the rows."""
    words = [sys.executable, __file__, "--peak", kind, str(columns), str(rounds), str(rows)]
    root = str(Path(__file__).resolve().parents[1])
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=root)
    return int(done.stdout)


def _peak(kind: str, columns: int, rounds: int, rows: int) -> None:
    table = generated(columns, rows)
    if kind == "run":
        released(table, rounds)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        _peak(sys.argv[2], *(int(word) for word in sys.argv[3:6]))
    else:
        main(*(int(word) for word in sys.argv[1:4]))
