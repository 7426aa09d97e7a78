"""How long the integer moments take against a plain float product, and how much memory.

    python benchmarks/moments.py [rows] [columns]

Writes a Parquet file of doubles to a temporary folder, reads it through the clamp and sums the
grid integers. The plain product `X.T @ X` gets the matrix ready in memory (`ratio`), or reads the
same file into one (`ratio_with_reading`): what reading costs beside a product differs much between
processors. Each is the best of several runs. Memory is the peak of a process that does nothing
else.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from executors.data.bind import open_source
from executors.summaries.moments import summarise
from planner.charge_token import Token
from planner.facts import Column
from planner.mechanism import Query

_RUNS = 5
_TOKEN = Token("benchmark", "benchmark", ())


def main(rows: int = 1_000_000, columns: int = 100) -> None:
    """Print one JSON line with times in seconds, their ratio, and peak memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        write(path, rows, columns)
        plain = best(partial(product, np.random.default_rng(1).normal(size=(rows, columns))))
        read = best(lambda: product(pq.read_table(path).to_pandas().to_numpy()))
        ours = best(lambda: moments(path, columns))
        peak = [peak_of(path, columns, kind) for kind in ("nothing", "moments")]
    print(
        json.dumps(
            {
                "rows": rows,
                "columns": columns,
                "plain_seconds": plain[0],
                "plain_with_reading_seconds": read[0],
                "moments_seconds": ours[0],
                "ratio": round(ours[0] / plain[0], 2),
                "ratio_with_reading": round(ours[0] / read[0], 2),
                "cpu_ratio": round(ours[1] / plain[1], 2),
                "imports_megabytes": peak[0],
                "peak_megabytes": peak[1],
            }
        )
    )


def write(path: Path, rows: int, columns: int) -> None:
    """A file of standard normal doubles in row groups of 100,000."""
    names = [f"x{j}" for j in range(columns)]
    rng = np.random.default_rng(1)
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for start in range(0, rows, 100_000):
            part = rng.normal(size=(columns, min(100_000, rows - start)))
            writer.write_table(pa.table(dict(zip(names, part, strict=True))))


def moments(path: Path, columns: int) -> object:
    """The integer moments about 0 in [-3, 3]."""
    declared = tuple(Column(f"x{j}", "real", Fraction(-3), Fraction(3)) for j in range(columns))
    center, half = (Fraction(0),) * columns, (Fraction(3),) * columns
    query = Query("moments", declared, (("center", center), ("half", half)))
    return summarise(query, open_source(path).open(_TOKEN))


def product(matrix: npt.NDArray[np.float64]) -> object:
    """The plain float moments."""
    return matrix.T @ matrix


def best(action: Callable[[], object]) -> tuple[float, float]:
    """The least wall time with the least processor time of several runs."""
    wall, work = [], []
    for _ in range(_RUNS):
        began, spent = time.perf_counter(), time.process_time()
        action()
        wall.append(time.perf_counter() - began)
        work.append(time.process_time() - spent)
    return round(min(wall), 3), round(min(work), 3)


def peak_of(path: Path, columns: int, kind: str) -> int:
    """The peak resident memory, in MB, of a process that runs the moments once, or nothing."""
    code = (
        "import re, sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; import moments\n"
        "if sys.argv[4] == 'moments': moments.moments(Path(sys.argv[2]), int(sys.argv[3]))\n"
        "status = Path('/proc/self/status').read_text()\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) // 1024)"
    )
    folder = str(Path(__file__).parent)
    arguments = [sys.executable, "-c", code, folder, str(path), str(columns), kind]
    return int(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
