"""The only place that draws: integers from exact laws, fed by the operating system."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, cast

from executors.noise.knorm import draw_knorm
from executors.pricing.drawable import Norm

__all__ = ["LARGEST_SCALE", "OsSampler", "Sampler", "check_scale"]

LARGEST_SCALE = 1 << 52
"""Noise of this scale stays inside 64 bits: it would take 2,048 standard deviations to leave."""

_EDGE = 1 << 62
_Draw = Callable[[list[int]], list[int]]


class Sampler(Protocol):
    """Independent integers from exact laws; a scale is an integer of at most 53 bits."""

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        """`size` integers with P(k) proportional to exp(-k^2 / (2 scale^2))."""

    def discrete_laplace(self, scale: int, size: int) -> list[int]:
        """`size` integers with P(k) proportional to exp(-|k| / scale)."""

    def knorm(self, norm: Norm, rate: Fraction, width: int) -> list[int]:
        """`width` integers with P(z) proportional to exp(-rate |z|); |z|_2 is rounded up."""

    def below(self, n: int) -> int:
        """A uniform integer in [0, n)."""


def check_scale(scale: int) -> None:
    """Raise ValueError unless `scale` is an integer that the samplers take exactly."""
    if not isinstance(scale, int) or isinstance(scale, bool):
        raise ValueError("a noise scale is an integer")
    if not 1 <= scale <= LARGEST_SCALE or int(float(scale)) != scale:
        raise ValueError("a noise scale lies in [1, 2^52] and fits in 53 bits")


class OsSampler:
    """Exact integer samplers, most of them OpenDP's, with the operating system's randomness.

    Data never comes here: noise is drawn on zeros and added elsewhere in exact integers, so the
    64-bit arithmetic of the samplers cannot saturate on a value. It has no seed. It serves the
    process that made it; a forked child must make its own.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        self._gaussians: dict[int, _Draw] = {}
        self._laplaces: dict[int, _Draw] = {}

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        """`size` integers with P(k) proportional to exp(-k^2 / (2 scale^2))."""
        self._confirm()
        if scale not in self._gaussians:
            self._gaussians[scale] = _gaussian(scale)
        return _noise(self._gaussians[scale], size)

    def discrete_laplace(self, scale: int, size: int) -> list[int]:
        """`size` integers with P(k) proportional to exp(-|k| / scale)."""
        self._confirm()
        if scale not in self._laplaces:
            self._laplaces[scale] = _laplace(scale)
        return _noise(self._laplaces[scale], size)

    def knorm(self, norm: Norm, rate: Fraction, width: int) -> list[int]:
        """`width` integers with P(z) proportional to exp(-rate |z|); |z|_2 is rounded up."""
        self._confirm()
        return draw_knorm(secrets.randbelow, norm, rate, width)

    def below(self, n: int) -> int:
        """A uniform integer in [0, n)."""
        self._confirm()
        return secrets.randbelow(n)

    def _confirm(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError("a sampler does not outlive a fork: make a new one")


def _noise(draw: _Draw, size: int) -> list[int]:
    if size < 0:
        raise ValueError("a number of draws is not negative")
    drawn = draw([0] * size) if size else []
    if any(abs(value) >= _EDGE for value in drawn):
        raise RuntimeError("the sampler has left its range")
    return drawn


def _gaussian(scale: int) -> _Draw:
    check_scale(scale)
    dp = _opendp()
    vectors = dp.vector_domain(dp.atom_domain(T="i64"))
    return cast(_Draw, dp.m.make_gaussian(vectors, dp.l2_distance(T=float), scale=float(scale)))


def _laplace(scale: int) -> _Draw:
    check_scale(scale)
    dp = _opendp()
    vectors = dp.vector_domain(dp.atom_domain(T="i64"))
    return cast(_Draw, dp.m.make_laplace(vectors, dp.l1_distance(T="i64"), scale=float(scale)))


def _opendp() -> Any:
    """OpenDP, loaded at the first draw: it takes half a second."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp
