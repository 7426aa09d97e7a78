"""Select genes from a made-up table of log e-values, with its own ledger.

The table is simulated: 50 of 2,000 genes carry a signal. A real one comes from a laboratory, which
answers for its sensitivity.
"""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpql
from dpql.commands.ledger import cost_of
from dpql.ledger.opening import key_facts

HERE = Path(__file__).resolve().parent


def table() -> pa.Table:
    """Log likelihood ratios: nulls about -32, signals about 32."""
    draws = np.random.default_rng(7).normal(size=2000)
    shift = np.where(np.arange(2000) < 50, 8.0, 0.0)
    names = [f"gene{index:04}" for index in range(2000)]
    return pa.table({"gene": names, "log_e": 8.0 * (draws + shift) - 32.0})


def main() -> None:
    """Plan, open a ledger, run, print."""
    plan = dpql.plan(HERE / "evalues.dpql")
    print(plan)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "genes.parquet"
        pq.write_table(table(), data)
        ledger = dpql.Ledger.connect(str(Path(folder) / "ledger.db"), create=True)
        facts = key_facts(
            "genes",
            2000,
            cost_of("mu=1"),
            data=[str(data)],
            sensitivities={"log_e": Fraction("0.3")},
        )
        ledger.open_key(facts)
        done = dpql.run(plan, {"genes": data}, ledger)
        ledger.close()
    print(done)


if __name__ == "__main__":
    main()
