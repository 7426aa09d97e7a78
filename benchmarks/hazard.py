"""`RELEASE survival` on a Parquet file beside lifelines: `python benchmarks/hazard.py [rows]`.

Every figure comes from a fresh process: CPU seconds, wall seconds, peak memory (of Python with its
libraries too). Times are distinct, or whole days of ten years. lifelines fits its Nelson-Aalen
curve to the same file.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def make(path: str, rows: int, whole_days: bool) -> dict[str, float]:
    """A file of records; a job, since a child inherits peak memory."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    event, censored = rng.exponential(2000, rows), rng.exponential(4000, rows)
    days = np.minimum(event, censored)
    days = np.ceil(days) if whole_days else days
    pq.write_table(pa.table({"days": days, "seen": event <= censored}), path)
    return {}


def ours(path: str, rows: int) -> dict[str, float]:
    """Read and group, then leaves, noise and curve, as a run does."""
    from fractions import Fraction

    from executors.data.bind import open_source
    from executors.mechanisms.survival.cost import CurveParams, need, query
    from executors.mechanisms.survival.run import run
    from executors.noise import OsSampler, StatementNoise
    from planner.calculus.cost import Cost
    from planner.calculus.inverse import solve
    from planner.charge_token import Token
    from planner.facts import Column, Facts, SourceFacts

    columns = (Column("days", "duration", Fraction(0), Fraction(3653)), Column("seen", "event"))
    facts = Facts((SourceFacts("people", rows, columns),), ())
    params = CurveParams()
    loss = solve(need(params, facts, {"people": "mu"}), Cost("mu", Fraction(1, 2)))
    reader = open_source(path).open(Token("bench", "bench", ("people",)))
    known = {}

    def stats(asked):  # type: ignore[no-untyped-def]  # a benchmark
        from executors.summaries.survival_groups import summarise

        if asked not in known:
            known[asked] = summarise(asked, reader)
        return known[asked]

    report: dict[str, float] = {}
    begin = time.process_time()
    groups = stats(query(params, facts))
    report["read and group"] = round(time.process_time() - begin, 3)
    begin = time.process_time()
    run(params, facts, loss, stats, StatementNoise(OsSampler(), loss))
    report["leaves, noise, curve"] = round(time.process_time() - begin, 3)
    report["distinct times"] = len(groups.time)
    return report


def lifelines(path: str, rows: int) -> dict[str, float]:
    """The same file, and a Nelson-Aalen curve without noise."""
    import pandas as pd
    from lifelines import NelsonAalenFitter

    begin = time.process_time()
    frame = pd.read_parquet(path)
    NelsonAalenFitter().fit(frame["days"], frame["seen"])
    return {"read and fit": round(time.process_time() - begin, 3)}


JOBS: dict[str, Callable[..., dict[str, float]]] = {
    "make": make,
    "ours": ours,
    "lifelines": lifelines,
}


def job(name: str, *arguments: object) -> dict[str, float]:
    """One job in a process of its own, with its wall time and peak memory."""
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "job", name, json.dumps(arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return {**found, "wall": round(time.perf_counter() - begin, 2)}


def main() -> None:
    """Print one line a file and program."""
    if sys.argv[1:2] == ["job"]:
        found = JOBS[sys.argv[2]](*json.loads(sys.argv[3]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({**found, "peak MB": round(peak)}))
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        for name, whole_days in (("distinct times", False), ("whole days", True)):
            path = str(Path(folder) / "people.parquet")
            job("make", path, rows, whole_days)
            for program in ("ours", "lifelines"):
                figures = job(program, path, rows)
                said = ", ".join(f"{key} {value:g}" for key, value in figures.items())
                print(f"{rows} rows, {name}: {program}: {said}")


if __name__ == "__main__":
    main()
