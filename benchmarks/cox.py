"""`TEST cox` on a Parquet file beside other packages: `python benchmarks/cox.py [rows] [others]`.

Every figure comes from a fresh process: CPU seconds, wall seconds, peak memory. The others get
`others` rows (default 200 000) and the same job, reading the file included: the log partial
likelihood at two points for statsmodels, a fit for lifelines. Goal: 20 times faster a row.
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


def make(path: str, rows: int) -> dict[str, float]:
    """A file of records with distinct times; a job, since a child inherits peak memory."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, (rows, COVARIATES))
    event = rng.exponential(np.exp(-(x @ np.array(B1))))
    censoring = rng.exponential(2.0, rows)
    columns = dict(zip(NAMES, x.T))
    time_ = np.minimum(event, censoring)
    pq.write_table(pa.table({"time": time_, "seen": event <= censoring, **columns}), path)
    return {}


@contextmanager
def timed(name: str, report: dict[str, float]) -> Iterator[None]:
    """CPU seconds of a block, under its name."""
    begin = time.process_time()
    yield
    report[name] = round(time.process_time() - begin, 3)


def ours(path: str, rows: int) -> dict[str, float]:
    """Price, read, sum, noise: the sections of a run."""
    from executors.data.bind import open_source
    from executors.mechanisms.cox.cost import need, query
    from executors.mechanisms.cox.design import design_of
    from executors.mechanisms.cox.run import run
    from executors.noise import OsSampler, StatementNoise
    from executors.statistics.survival import log_ratio
    from executors.summaries.survival_groups import summarise
    from planner.calculus.cost import Cost
    from planner.calculus.inverse import solve
    from planner.spending import Token
    from suites.survival_cases import facts, options, unit

    report: dict[str, float] = {}
    where = facts(rows, unit(*NAMES))
    params = options([0] * COVARIATES, B1, shrink=Fraction(1, 10))
    with timed("price", report):
        cost = Cost("eps", Fraction(1))
        loss = solve(need(params, where, {where.source.name: "eps"}), cost)
    asked = query(params, where)
    reader = open_source(path).open(Token("0" * 64, "0" * 64, ("trial",)))
    with timed("scan alone", report):
        from executors.data.source import Plain

        for _ in reader.batches([Plain(column.name) for column in asked.columns]):
            pass
    with timed("read and group", report):
        groups = summarise(asked, reader)
    with timed("ratio", report):
        log_ratio(groups, design_of(params, where).floor)
    with timed("release", report):
        run(params, where, loss, lambda _: groups, StatementNoise(OsSampler(), loss))
    report["seconds a million rows"] = round(
        (report["read and group"] + report["release"]) / rows * 1e6, 3
    )
    return report


def statsmodels(path: str, rows: int) -> dict[str, float]:
    """Two values of the log partial likelihood."""
    import numpy as np
    import pandas as pd
    from statsmodels.duration.hazard_regression import PHReg

    report: dict[str, float] = {}
    with timed("two values", report):
        data = pd.read_parquet(path)
        model = PHReg(data["time"], data[NAMES].to_numpy(), data["seen"].to_numpy(), ties="breslow")
        model.loglike(np.array(B1)), model.loglike(np.zeros(COVARIATES))
    report["seconds a million rows"] = round(report["two values"] / rows * 1e6, 3)
    return report


def lifelines(path: str, rows: int) -> dict[str, float]:
    """One fit."""
    import pandas as pd
    from lifelines import CoxPHFitter

    report: dict[str, float] = {}
    with timed("fit", report):
        CoxPHFitter().fit(pd.read_parquet(path), "time", "seen")
    report["seconds a million rows"] = round(report["fit"] / rows * 1e6, 3)
    return report


JOBS: dict[str, Callable[[str, int], dict[str, float]]] = {
    "make": make,
    "dpql": ours,
    "statsmodels": statsmodels,
    "lifelines": lifelines,
}


def main(rows: int, others: int) -> None:
    """Print one line a package."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = [("make", size) for size in sorted({rows, others})]
        jobs += [("dpql", rows), ("dpql", others), ("statsmodels", others), ("lifelines", others)]
        for name, size in jobs:
            begin = time.perf_counter()
            call = [sys.executable, __file__, "--job", name, f"{folder}/{size}.parquet", str(size)]
            text = subprocess.run(call, check=True, capture_output=True, text=True).stdout
            report = json.loads(text.splitlines()[-1])
            if name != "make":
                print(f"{name} n={size}: {report}, wall {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        job, path, size = sys.argv[2:5]
        found = JOBS[job](path, int(size))
        found["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps(found))
    else:
        main(*(int(text) for text in (sys.argv[1:] + ["1000000", "200000"][len(sys.argv) - 1 :])))
