"""Survival statistics beside other packages: `python benchmarks/survival.py [rows others tied]`.

All three statistics of a proportional hazards model with ten covariates (log partial likelihood
ratio, score, trace of the information) from a Parquet file: `rows` records with distinct times
(default 1,000,000; goal: 4 seconds of CPU), then `tied` records with times to the day (default
10,000,000). The others get `others` rows (default 1,000,000: about a minute). statsmodels computes
the same three numbers; lifelines fits, for which it needs score and information once a step. The
file is read in every case. Every figure comes from a fresh process: CPU seconds, peak memory.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

COVARIATES = 10
NAMES = [f"x{j}" for j in range(COVARIATES)]
B1 = [0.1 * (-1) ** j for j in range(COVARIATES)]
DAYS = 3650


def make(path: str, rows: int, tied: bool) -> dict[str, float]:
    """A file of records, in row groups; a job, since a child inherits peak memory."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    writer = None
    for start in range(0, rows, 500_000):
        size = min(500_000, rows - start)
        x = rng.uniform(0, 1, (size, COVARIATES))
        event = rng.exponential(np.exp(-(x @ np.array(B1))))
        censoring = rng.exponential(2.0, size)
        time_ = np.minimum(event, censoring)
        if tied:
            time_ = np.ceil(np.minimum(time_, 4.9) * DAYS / 5)
        columns = {"time": time_, "seen": event <= censoring, **dict(zip(NAMES, x.T))}
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    return {}


@contextmanager
def timed(name: str, report: dict[str, float]) -> Iterator[None]:
    """CPU seconds of a block, under its name."""
    begin = time.process_time()
    yield
    report[name] = round(time.process_time() - begin, 2)


def ours(path: str, rows: int, tied: bool) -> dict[str, float]:
    """Read, clamp, group once; then the three statistics."""
    from executors.data.bind import open_source
    from executors.data.source import Plain
    from executors.pricing.survival_domain import box
    from executors.statistics.survival import log_ratio
    from executors.statistics.survival_score import score_and_trace
    from executors.summaries.survival_groups import summarise
    from planner.charge_token import Token
    from planner.facts import Column
    from planner.mechanism import Query

    report: dict[str, float] = {}
    zero, one, far = Fraction(0), Fraction(1), Fraction(10_000)
    columns = [Column(name, "real", zero, one) for name in NAMES]
    asked = Query(
        "survival_groups",
        (Column("time", "duration", zero, far), Column("seen", "event"), *columns),
        (
            ("domain", box([zero] * COVARIATES, [one] * COVARIATES)),
            ("parts", ("ratio", "score")),
            ("null", (zero,) * COVARIATES),
            ("alternative", tuple(Fraction(str(round(value, 1))) for value in B1)),
        ),
    )
    reader = open_source(path).open(Token("0" * 64, "0" * 64, ("trial",)))
    with timed("scan alone", report):
        for _ in reader.batches([Plain(column.name) for column in asked.columns]):
            pass
    with timed("scan, clamp and group", report):
        groups = summarise(asked, reader)
    with timed("log ratio", report):
        log_ratio(groups, rows // 10)
    with timed("score and trace", report):
        score_and_trace(groups, rows // 10)
    whole = report["scan, clamp and group"] + report["log ratio"] + report["score and trace"]
    report["all three"] = round(whole, 2)
    report["distinct times"] = len(groups.time)
    report["seconds a million rows"] = round(whole / rows * 1e6, 2)
    return report


def statsmodels(path: str, rows: int, tied: bool) -> dict[str, float]:
    """Two log partial likelihoods, the score, the Hessian."""
    import numpy as np
    import pandas as pd
    from statsmodels.duration.hazard_regression import PHReg

    report: dict[str, float] = {}
    with timed("all three", report):
        data = pd.read_parquet(path)
        x = data[NAMES].to_numpy()
        model = PHReg(data["time"], x, data["seen"].to_numpy().astype(float), ties="breslow")
        zero = np.zeros(COVARIATES)
        model.loglike(np.array(B1)), model.loglike(zero), model.score(zero)
        with timed("of it the Hessian", report):
            model.hessian(zero)
    report["seconds a million rows"] = round(report["all three"] / rows * 1e6, 2)
    return report


def lifelines(path: str, rows: int, tied: bool) -> dict[str, float]:
    """One fit."""
    import pandas as pd
    from lifelines import CoxPHFitter

    report: dict[str, float] = {}
    with timed("fit", report):
        CoxPHFitter().fit(pd.read_parquet(path), "time", "seen")
    report["seconds a million rows"] = round(report["fit"] / rows * 1e6, 2)
    return report


JOBS: dict[str, Callable[[str, int, bool], dict[str, float]]] = {
    "make": make,
    "dpql": ours,
    "statsmodels": statsmodels,
    "lifelines": lifelines,
}


def main(rows: int, others: int, tied: int) -> None:
    """Print one line a package and file."""
    with tempfile.TemporaryDirectory() as folder:
        alone = [("dpql", size, False) for size in sorted({rows, others})]
        beside = [("statsmodels", others, False), ("lifelines", others, False)]
        for name, size, days in (*alone, *beside, ("dpql", tied, True)):
            path = f"{folder}/{size}-{days}.parquet"
            if not Path(path).exists():
                run("make", path, size, days)
            begin = time.perf_counter()
            report = run(name, path, size, days)
            times = "to the day" if days else "distinct"
            wall = time.perf_counter() - begin
            print(f"{name} n={size}, times {times}: {report}, wall {wall:.1f} s", flush=True)


def run(name: str, path: str, size: int, days: bool) -> dict[str, float]:
    """A job in a process of its own."""
    call = [sys.executable, __file__, "--job", name, path, str(size), str(int(days))]
    text = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = json.loads(text.splitlines()[-1])
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        job, path, size, days = sys.argv[2:6]
        found = JOBS[job](path, int(size), days == "1")
        found["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps(found))
    else:
        defaults = ["1000000", "1000000", "10000000"]
        main(*(int(text) for text in (sys.argv[1:] + defaults[len(sys.argv) - 1 :])))
