"""The evidence that makes a selected hypothesis worth its noise, by the number selected."""

from __future__ import annotations

from math import log

from executors.mechanisms.peel.design import Design
from executors.statistics.evalue_constant import log_k

__all__ = ["aim", "aims", "needed"]

HIGHEST_AIM = 4096.0
"""Nats; above every value that a table can hold, so higher aims are all out of reach."""


def needed(size: int, sigma: float, hypotheses: int, level: float, boosted: bool) -> float:
    """log(m / (level s)) + sigma^2 / 2 + log K(sigma): the log e-value of s equal discoveries.

    That many hypotheses with this log e-value are rejected in about half of all runs. Without
    `boosted` the last term is left out.
    """
    base = log(hypotheses) - log(level) - log(size) + sigma * sigma / 2
    return base + log_k(sigma) if boosted else base


def aim(
    size: int, sigma: float, hypotheses: int, level: float, boosted: bool, kappa: float
) -> float:
    """`needed`, and `kappa` standard deviations more."""
    return needed(size, sigma, hypotheses, level, boosted) + kappa * sigma


def aims(design: Design, level: float, boosted: bool, kappa: float) -> tuple[float, ...]:
    """The aim of every weighed size, at most 4096 nats."""
    return tuple(
        min(aim(size, design.sigma(size), design.hypotheses, level, boosted, kappa), HIGHEST_AIM)
        for size in design.sizes
    )
