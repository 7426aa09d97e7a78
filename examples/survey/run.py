"""A correlation matrix of the 1996 American National Election Study, with its own ledger.

The data (944 people) come with the package statsmodels, which ships them under the BSD licence; the
study itself is in the public domain.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import dpql
from dpql.commands.ledger import cost_of
from dpql.ledger.opening import key_facts

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Plan, open a ledger, run, print."""
    from statsmodels.datasets import anes96

    plan = dpql.plan(HERE / "survey.dpql")
    print(plan)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "anes.parquet"
        anes96.load_pandas().data.to_parquet(data)
        ledger = dpql.Ledger.connect(str(Path(folder) / "ledger.db"), create=True)
        ledger.open_key(key_facts("anes", 944, cost_of("rho=1"), data=[str(data)]))
        done = dpql.run(plan, {"anes": data}, ledger)
        ledger.close()
    print(done)


if __name__ == "__main__":
    main()
