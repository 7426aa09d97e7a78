"""From a released covariance to its principal components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from executors.derivations.pca import PcaParams
from executors.derivations.released_moments import ReleasedMoments, not_measured_note
from executors.statistics.covariance_matrix import Vector
from executors.statistics.principal_components import principal_components

__all__ = ["run"]

_SCALES = {
    "range": "columns in units of their half ranges",
    "correlation": "columns in units of their standard deviations",
    "original": "columns as they are",
}


def run(params: PcaParams, release: Mapping[str, Any]) -> dict[str, Any]:
    """Variances, shares and loadings; a component within the spectrum of pure noise is marked."""
    moments = ReleasedMoments.of(release)
    unseen = moments.unseen()
    used = [j for j, name in enumerate(moments.names) if name not in unseen]
    if params.scale != "correlation":
        used = list(range(len(moments.names)))
    scale = _scale(params, moments)[used]
    matrix = moments.matrix[np.ix_(used, used)] * np.outer(scale, scale)
    found = principal_components(matrix, params.components or len(used))
    noise = np.nan_to_num(moments.noise[np.ix_(used, used)]) * np.outer(scale, scale)
    np.fill_diagonal(noise, 0.0)
    edge = 2.0 * float(noise.max(initial=0.0)) * float(np.sqrt(len(used)))
    names = [moments.names[j] for j in used]
    beyond = [bool(value >= edge) for value in found.variance]
    return {
        "value": {
            "columns": names,
            "scale": params.scale,
            "variance": found.variance.tolist(),
            "share": found.share.tolist(),
            "loadings": found.axes.tolist(),
            "beyond_noise": beyond,
            "noise_edge": edge,
        },
        "uncertainty": {
            "standard_error": None,
            "of": "none is given; `noise_edge` is the largest eigenvalue that the noise alone "
            "would show, about 2 sd sqrt(d)",
        },
        "notes": [
            *_notes(params, moments, beyond),
            *_not_measured(moments.measured[np.ix_(used, used)]),
            *(
                ["left out, variance not distinguishable from 0: " + ", ".join(unseen)]
                if unseen and params.scale == "correlation"
                else []
            ),
        ],
        "tables": {
            "components": {
                "component": list(range(1, len(beyond) + 1)),
                "variance": found.variance.tolist(),
                "share": found.share.tolist(),
                "beyond_noise": beyond,
                **{name: found.axes[:, j].tolist() for j, name in enumerate(names)},
            }
        },
    }


def _not_measured(measured: npt.NDArray[np.bool_]) -> list[str]:
    notes = list(not_measured_note(measured))
    if notes:
        notes.append("the edge of noise is that of a matrix measured in full; here it lies lower")
    return notes


def _scale(params: PcaParams, moments: ReleasedMoments) -> Vector:
    """What each column of the unit box is multiplied by."""
    if params.scale == "original":
        return moments.units
    if params.scale == "correlation":
        variance = np.diag(moments.matrix)
        return np.asarray(1.0 / np.sqrt(np.where(variance > 0.0, variance, 1.0)))
    return np.ones(len(moments.names))


def _notes(params: PcaParams, moments: ReleasedMoments, beyond: list[bool]) -> list[str]:
    notes = [_SCALES[params.scale]]
    if moments.mean is None:
        notes.append("these are axes of a second moment about public constants, not of a variance")
    if not all(beyond):
        lost = ", ".join(str(k + 1) for k, is_seen in enumerate(beyond) if not is_seen)
        notes.append(f"components within what noise alone would show: {lost}")
    return notes
