"""A clinical trial: a log-rank test, a Cox test, a survival curve, from one budget.

The data are those of the German Breast Cancer Study Group 2 (686 women), loaded from the package
lifelines, which ships them under the MIT licence. `python examples/trial/run.py FOLDER` keeps the
releases, tables and plots there.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import dpql
from dpql.commands.ledger import cost_of
from dpql.ledger.opening import key_facts

HERE = Path(__file__).resolve().parent


def table() -> pa.Table:
    """The columns that the query names."""
    from lifelines.datasets import load_gbsg2

    frame = load_gbsg2()
    return pa.table(
        {
            "days": frame["time"].to_numpy(float),
            "relapse": frame["cens"].to_numpy() == 1,
            "hormones": frame["horTh"].to_numpy() == "yes",
            "nodes": frame["pnodes"].to_numpy(float),
        }
    )


def main() -> None:
    """Plan, open a ledger, run, print."""
    plan = dpql.plan(HERE / "trial.dpql")
    print(plan)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "gbsg2.parquet"
        pq.write_table(table(), data)
        ledger = dpql.Ledger.connect(str(Path(folder) / "ledger.db"), create=True)
        ledger.open_key(key_facts("gbsg2", 686, cost_of("mu=1.5"), data=[str(data)]))
        out = sys.argv[1] if len(sys.argv) > 1 else None
        done = dpql.run(plan, {"gbsg2": data}, ledger, out=out)
        ledger.close()
    print(done)


if __name__ == "__main__":
    main()
