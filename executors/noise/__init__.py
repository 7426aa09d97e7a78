"""Where all randomness comes from: exact integer samplers behind declared leaves."""

from executors.noise.filter import Filter, FilterExhausted
from executors.noise.sampler import OsSampler, Sampler
from executors.noise.statement import NoiseMismatch, StatementNoise

__all__ = [
    "Filter",
    "FilterExhausted",
    "NoiseMismatch",
    "OsSampler",
    "Sampler",
    "StatementNoise",
]
