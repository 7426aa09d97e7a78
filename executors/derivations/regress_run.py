"""From a released covariance to the coefficients of a regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from executors.derivations.regress import RegressParams
from executors.derivations.released_moments import ReleasedMoments, not_measured_note
from executors.statistics.covariance_matrix import Matrix, Vector
from executors.statistics.moments_bootstrap import MomentsModel
from executors.statistics.regression import Regression, regression, ridge_of

__all__ = ["run"]


def run(params: RegressParams, release: Mapping[str, Any]) -> dict[str, Any]:
    """Coefficients in the units of the data, with the ridge that kept noise out of them."""
    moments = ReleasedMoments.of(release)
    y = moments.index(params.y)
    x = [j for j in range(len(moments.names)) if j != y]
    if params.x is not None:
        x = [moments.index(name) for name in params.x]
    fit = _fit(moments, moments.matrix, y, x)
    coefficients, intercept = _original(moments, fit, moments.place, y, x)
    names = [moments.names[j] for j in x]
    uncertainty = _uncertainty(params, moments, y, x)
    places = sorted([y, *x])
    notes = [*_notes(moments, fit), *not_measured_note(moments.measured[np.ix_(places, places)])]
    unseen = [name for name in moments.unseen() if name in (params.y, *names)]
    if unseen:
        notes.append("variance not distinguishable from 0: " + ", ".join(unseen))
    return {
        "value": {
            "response": params.y,
            "predictors": names,
            "coefficients": coefficients,
            "intercept": intercept,
            "residual_variance": fit.residual * float(moments.units[y]) ** 2,
            "explained": fit.explained,
            "ridge": fit.ridge,
        },
        "uncertainty": uncertainty,
        "notes": notes,
        "tables": {
            "coefficients": {
                "term": ["(intercept)", *names],
                "estimate": [intercept, *coefficients],
                "standard_error": [
                    uncertainty["intercept_standard_error"],
                    *(uncertainty["standard_error"] or [None] * len(names)),
                ],
            }
        },
    }


def _uncertainty(
    params: RegressParams, moments: ReleasedMoments, y: int, x: list[int]
) -> dict[str, Any]:
    """Standard errors by bootstrap, or the statement that there are none."""
    nothing = {"standard_error": None, "intercept_standard_error": None}
    if params.errors == "none":
        return {**nothing, "of": "none is given: the noise of a covariance is not that of a slope"}
    model = _model(moments)
    if model is None:
        return {
            **nothing,
            "of": "none is given: not every covariance was measured once, so that the mechanism "
            "cannot be simulated from its release",
        }
    draws = model.draws(params.draws, params.seed)
    drawn = np.array([_drawn(moments, matrix, mean, y, x) for matrix, mean in draws])
    low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
    errors = drawn.std(axis=0, ddof=1)
    return {
        "standard_error": errors[1:].tolist(),
        "intercept_standard_error": float(errors[0]),
        "lower": low[1:].tolist(),
        "upper": high[1:].tolist(),
        "draws": params.draws,
        "seed": params.seed,
        "of": "approximate: parametric bootstrap of rows and noise at the released matrix",
    }


def _fit(moments: ReleasedMoments, matrix: Matrix, y: int, x: list[int]) -> Regression:
    ridge = 0.0
    if moments.model != "reconstructed":
        ridge = ridge_of(matrix, x, moments.largest_noise([y, *x]))
    return regression(matrix, y, x, ridge)


def _original(
    moments: ReleasedMoments, fit: Regression, place: Vector, y: int, x: list[int]
) -> tuple[list[float], float]:
    """Slopes and intercept in the units of the data; the plane passes through `place`."""
    slopes = fit.slopes * moments.units[y] / moments.units[x]
    return slopes.tolist(), float(place[y] - slopes @ place[x])


def _drawn(
    moments: ReleasedMoments, matrix: Matrix, mean: Vector, y: int, x: list[int]
) -> list[float]:
    place = moments.center + moments.units * mean
    slopes, intercept = _original(moments, _fit(moments, matrix, y, x), place, y, x)
    return [intercept, *slopes]


def _model(moments: ReleasedMoments) -> MomentsModel | None:
    """The model of the bootstrap; None unless every entry was measured once."""
    if moments.model != "measured":
        return None
    order = len(moments.names)
    noise, mean_noise = np.full((order, order), np.nan), np.zeros(order)
    table = moments.measurements
    for name, other, sd in zip(table["j"], table["k"], table["sd"], strict=True):
        j = moments.index(name)
        if other is None:
            mean_noise[j] = sd / moments.units[j]
            continue
        k = moments.index(other)
        if not np.isnan(noise[j, k]):
            return None
        noise[j, k] = noise[k, j] = sd / moments.units[j] / moments.units[k]
    if np.isnan(noise).any():
        return None
    mean = None if moments.mean is None else (moments.mean - moments.center) / moments.units
    return MomentsModel(moments.matrix, mean, moments.rows, noise, mean_noise)


def _notes(moments: ReleasedMoments, fit: Regression) -> list[str]:
    notes = []
    if moments.mean is None:
        notes.append(
            "no mean was released: this is a regression through the public centre, and the "
            "intercept only says where that lies"
        )
    if fit.ridge > 1e-6:
        notes.append(
            f"a ridge of {fit.ridge:.3g} (in units of the half ranges squared) keeps directions "
            "that are noise out of the slopes, and shrinks them"
        )
    return notes
