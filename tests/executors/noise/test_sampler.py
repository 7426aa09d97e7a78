"""The exact samplers follow their laws: a gate for every release of OpenDP.

20,000 draws each, seven standard errors, no seed: one run fails by chance once in 10^8.
"""

import math
import os
from collections import Counter
from importlib.metadata import version

import pytest

from executors.noise.sampler import LARGEST_SCALE, OsSampler

DRAWS = 20_000
FAR = 7


def frequencies(drawn, law):
    """The worst distance of a frequency from its probability, in standard errors."""
    counts = Counter(drawn)
    worst = 0.0
    for value, probability in law.items():
        if probability * DRAWS >= 100:  # rarer ones have no normal tails
            error = math.sqrt(probability * (1 - probability) / DRAWS)
            worst = max(worst, abs(counts[value] / DRAWS - probability) / error)
    return worst


def gaussian_law(scale):
    weights = {k: math.exp(-k * k / (2 * scale**2)) for k in range(-40 * scale, 40 * scale + 1)}
    total = math.fsum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


def laplace_law(scale):
    top = math.tanh(1 / (2 * scale))
    return {k: top * math.exp(-abs(k) / scale) for k in range(-60 * scale, 60 * scale + 1)}


def test_the_release_is_one_whose_samplers_were_examined():
    major, minor = (int(part) for part in version("opendp").split(".")[:2])
    assert (major, minor) >= (0, 16)


@pytest.mark.parametrize("scale", [1, 2, 7])
def test_integer_noise_has_its_frequencies(scale):
    sampler = OsSampler()
    assert frequencies(sampler.discrete_gaussian(scale, DRAWS), gaussian_law(scale)) < FAR
    assert frequencies(sampler.discrete_laplace(scale, DRAWS), laplace_law(scale)) < FAR


def test_the_gate_sees_half_the_scale_and_the_other_law():
    sampler = OsSampler()
    drawn = sampler.discrete_gaussian(2, DRAWS)
    assert frequencies(drawn, gaussian_law(4)) > FAR
    assert frequencies(drawn, laplace_law(2)) > FAR
    assert frequencies(sampler.discrete_laplace(1, DRAWS), laplace_law(2)) > FAR


@pytest.mark.parametrize("scale", [1 << 20, (1 << 20) + 1, 1 << 40, LARGEST_SCALE])
def test_moments_at_scales_of_use(scale):
    """Gaussian: mean 0, E|x| = s sqrt(2/pi), E x^2 = s^2. Laplace: E|x| = s, E x^2 = 2 s^2."""
    sampler = OsSampler()
    size = 5000
    for drawn, absolute, square, fourth in (
        (sampler.discrete_gaussian(scale, size), math.sqrt(2 / math.pi), 1.0, 3.0),
        (sampler.discrete_laplace(scale, size), 1.0, 2.0, 24.0),
    ):
        x = [value / scale for value in drawn]
        assert abs(sum(x) / size) < FAR * math.sqrt(square / size)
        spread = math.sqrt((square - absolute**2) / size)
        assert abs(sum(map(abs, x)) / size - absolute) < FAR * spread
        second = sum(value * value for value in x) / size
        assert abs(second - square) < FAR * math.sqrt((fourth - square**2) / size)


def test_low_bits_are_as_random_as_the_high_ones():
    drawn = OsSampler().discrete_gaussian(1 << 40, 4000)
    for bit in range(8):
        ones = sum(value >> bit & 1 for value in drawn)
        assert abs(ones - 2000) < FAR * math.sqrt(1000)


def test_uniform_integers_are_uniform():
    sampler = OsSampler()
    drawn = [sampler.below(6) for _ in range(DRAWS)]
    assert frequencies(drawn, dict.fromkeys(range(6), 1 / 6)) < FAR
    big = 10**60
    assert all(0 <= sampler.below(big) < big for _ in range(100))


@pytest.mark.parametrize("scale", [0, -1, 1.0, True, LARGEST_SCALE + 1, 2**60])
def test_scales_that_are_not_exact_are_refused(scale):
    sampler = OsSampler()
    for draw in (sampler.discrete_gaussian, sampler.discrete_laplace):
        with pytest.raises(ValueError):
            draw(scale, 1)


def test_a_number_of_draws_may_be_zero():
    assert OsSampler().discrete_gaussian(5, 0) == []
    with pytest.raises(ValueError):
        OsSampler().discrete_gaussian(5, -1)


def test_a_forked_child_cannot_draw_with_its_parents_sampler():
    sampler = OsSampler()
    sampler.discrete_laplace(1 << 30, 1)
    child = os.fork()
    if child == 0:
        try:
            sampler.below(2)
        except RuntimeError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_child_with_its_own_sampler_draws_another_stream():
    OsSampler().discrete_gaussian(1 << 40, 4)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        drawn = OsSampler().discrete_gaussian(1 << 40, 4)
        os.write(writer, repr(drawn).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1000).decode() != repr(OsSampler().discrete_gaussian(1 << 40, 4))
    os.close(reader)
    os.close(writer)
