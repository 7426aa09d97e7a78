"""Real survival data that comes with a package, for comparisons with other programs."""

from __future__ import annotations

import pandas as pd
from lifelines import datasets

__all__ = ["studies"]


def studies() -> dict[str, tuple[pd.DataFrame, str, str, list[str], list[float], list[float]]]:
    """By name: the table, its time, its event, covariates, two coefficient vectors."""
    rossi, breast = datasets.load_rossi(), datasets.load_gbsg2()
    lung, kidney = datasets.load_lung(), datasets.load_kidney_transplant()
    breast["horTh"] = (breast.horTh == "yes").astype(float)
    lung["status"] = lung.status.astype(float)
    return {
        "rossi": (rossi, "week", "arrest", ["fin", "age", "prio"], [0, 0, 0], [-0.4, -0.03, 0.09]),
        "gbsg2": (
            breast, "time", "cens", ["horTh", "age", "tsize", "pnodes"],
            [0.1, 0.01, 0, 0.02], [-0.3, -0.005, 0.01, 0.05],
        ),
        "lung": (lung, "time", "status", ["age", "sex"], [0.01, 0], [0.02, -0.5]),
        "kidney": (kidney, "time", "death", ["age", "black_male"], [0, 0.5], [0.05, -0.2]),
    }  # fmt: skip
