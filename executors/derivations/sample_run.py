"""From a released covariance to synthetic rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executors.derivations.released_moments import ReleasedMoments, not_measured_note
from executors.derivations.sample import SampleParams
from executors.statistics.gaussian_rows import gaussian_rows

__all__ = ["run"]


def run(params: SampleParams, release: Mapping[str, Any]) -> dict[str, Any]:
    """A table of draws; they know of the data what the release knows, and nothing more."""
    moments = ReleasedMoments.of(release)
    rows = gaussian_rows(moments.matrix, moments.place, moments.units, params.rows, params.seed)
    notes = [
        "synthetic rows of a Gaussian model: means, variances and covariances are those of the "
        "release, every other feature (bounds, whole numbers, skewness) is the model's",
    ]
    if moments.mean is None:
        notes.append(
            "uncentred: no mean was released, so the rows lie about the public centre, with the "
            "second moments of the data about it"
        )
    return {
        "value": {
            "columns": list(moments.names),
            "model": "Gaussian",
            "rows": params.rows,
            "seed": params.seed,
            "about": "released mean" if moments.mean is not None else "public centre",
        },
        "uncertainty": {
            "standard_error": None,
            "of": "none is given: an analysis of these rows cannot know the noise of the release, "
            "nor that they are a model's",
        },
        "notes": [*notes, *not_measured_note(moments.measured)],
        "tables": {"sample": {name: rows[:, j].tolist() for j, name in enumerate(moments.names)}},
    }
