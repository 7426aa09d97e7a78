"""Gaussian noise of which some parts carry less than the leaf that pays for it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from executors.noise.sampler import Sampler
from executors.pricing.weighted import weighted_scale

__all__ = ["weighted_gaussians"]


def weighted_gaussians(
    sampler: Sampler, scale: int, count: int, weights: Sequence[Fraction] | None
) -> list[int]:
    """`count` integers of noise: each of scale `scale`, or of `weighted_scale` at its weight.

    Raises ValueError unless there is one weight for each number.
    """
    if weights is None:
        return sampler.discrete_gaussian(scale, count)
    if len(weights) != count:
        raise ValueError("one weight for each number")
    noise: list[int] = []
    for each, run in groupby(weighted_scale(scale, one) for one in weights):
        noise += sampler.discrete_gaussian(each, len(list(run)))
    return noise
