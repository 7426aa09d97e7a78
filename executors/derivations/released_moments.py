"""A released covariance or second-moment matrix, read back as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from executors.statistics.covariance_matrix import Matrix, Vector

__all__ = ["ReleasedMoments", "not_measured_note"]


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedMoments:
    """What a release says, with columns divided by their public `units`.

    `matrix` and `noise`, its standard error, have shape (d, d); noise is NaN where nothing was
    measured. `mean` is about `center`, both in the units of the data; it is None for a second
    moment about `center`. `measured` tells which entries rest on their own measurement; the
    others follow from a model. `model` says how the matrix came from what was measured: `measured`
    (each entry is its own, but for a projection), `reconstructed` (a positive definite fit), or
    another word.
    """

    names: tuple[str, ...]
    units: Vector
    center: Vector
    rows: int
    matrix: Matrix
    noise: Matrix
    mean: Vector | None
    measured: npt.NDArray[np.bool_]
    measurements: Mapping[str, Sequence[Any]]
    model: str

    @classmethod
    def of(cls, release: Mapping[str, Any]) -> ReleasedMoments:
        """From a release's JSON."""
        value = release["value"]
        units = np.array(value["units"], dtype=float)
        outer = np.outer(units, units)
        noise = np.array(release["uncertainty"]["standard_error"], dtype=float)
        mean = value["mean"]
        return cls(
            names=tuple(str(name) for name in value["columns"]),
            units=units,
            center=np.array(value["center"], dtype=float),
            rows=int(value["rows"]),
            matrix=np.array(value["matrix"], dtype=float) / outer,
            noise=noise / outer,
            mean=None if mean is None else np.array(mean, dtype=float),
            measured=~np.isnan(noise),
            measurements=value["measurements"],
            model=str(value.get("model", "measured")),
        )

    @property
    def place(self) -> Vector:
        """Where the distribution lies: the released mean, or else the public centre."""
        return self.center if self.mean is None else self.mean

    def index(self, name: str) -> int:
        """The place of a column."""
        return self.names.index(name)

    def largest_noise(self, places: Sequence[int]) -> float:
        """The largest standard error of a covariance among these columns, in the unit box.

        Where no covariance was measured it is that of a variance.
        """
        part = self.noise[np.ix_(places, places)]
        pairs = part[~np.eye(len(places), dtype=bool)]
        pairs = pairs[~np.isnan(pairs)]
        values = pairs if len(pairs) else np.diag(part)[~np.isnan(np.diag(part))]
        return float(values.max()) if len(values) else 0.0

    def unseen(self) -> tuple[str, ...]:
        """The columns whose variance is within three standard errors of 0."""
        variance, noise = np.diag(self.matrix), np.nan_to_num(np.diag(self.noise))
        return tuple(
            name
            for name, one, sd in zip(self.names, variance, noise, strict=True)
            if not one > max(0.0, 3.0 * sd)
        )


def not_measured_note(measured: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    """A sentence about pairs of columns that were not measured, if there are any."""
    order = len(measured)
    missing = order * (order - 1) // 2 - int(np.triu(measured, 1).sum())
    if not missing:
        return ()
    if missing == order * (order - 1) // 2:
        return ("no covariance was measured: all are taken as 0 or follow from a model",)
    return (f"{missing} covariances were not measured; they follow from a model",)
