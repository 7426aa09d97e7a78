"""Exact numbers: text and back, rounding in one direction, roots, sums."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.calculus.exact import (
    double_above,
    exact,
    number,
    positive,
    root_above,
    root_down,
    root_up,
    round_down,
    round_up,
    step_down,
    step_up,
    sum_up,
    text,
)

positives = st.fractions(min_value=Fraction(1, 10**30), max_value=10**30)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Fraction(1, 10), "0.1"),
        (Fraction(5), "5"),
        (Fraction(0), "0"),
        (Fraction(-5, 2), "-2.5"),
        (Fraction(1, 3), "1/3"),
        (Fraction(-1, 3), "-1/3"),
        (Fraction(1, 8), "0.125"),
        (Fraction(123, 5**7), "0.0015744"),
        (Fraction(1, 10**60), "0." + "0" * 59 + "1"),
        (Fraction(1, 10**61), "1/1" + "0" * 61),
        (Fraction(1, 5**70), f"1/{5**70}"),
        (Fraction(10**20), "1" + "0" * 20),
    ],
)
def test_the_text_of_a_number_is_the_shortest_plain_one(value, written):
    assert text(value) == written
    assert number(written) == value


@given(st.fractions())
def test_text_is_read_back_exactly(value):
    if len(str(value.denominator)) <= 100 and len(str(abs(value.numerator))) <= 100:
        assert number(text(value)) == value


NO_NUMBERS = """nan NaN inf -inf 1e3 1E3 0.1e-400 +1 1_0 0x1 .5 5. 1/0 1/-2 1/2/3 ٣ --1 1/2.5"""


@pytest.mark.parametrize(
    "written",
    [*NO_NUMBERS.split(" "), "", "1 ", " 1", "1\n", "1" * 101, "0." + "1" * 61],
)
def test_other_texts_are_no_numbers(written):
    with pytest.raises(ValueError):
        number(written)


@pytest.mark.parametrize("value", [0.1, 1, None, Fraction(1)])
def test_only_a_text_is_read(value):
    with pytest.raises(TypeError):
        number(value)


@pytest.mark.parametrize("value", [0.5, float("nan"), float("inf"), True, "1", None, 1j])
def test_a_float_is_no_exact_number(value):
    with pytest.raises(TypeError):
        exact(value)


@pytest.mark.parametrize("value", [0, -1, Fraction(-1, 2), Fraction(1, 10**61), 10**41])
def test_what_is_out_of_range_is_named(value):
    with pytest.raises(ValueError, match="eps must lie"):
        positive(value, "eps")


@given(positives)
def test_rounding_brackets_the_value_within_one_unit(value):
    low, high = round_down(value), round_up(value)
    assert low <= value <= high
    assert high - low <= value * Fraction(1, 10**17)
    assert round_up(high) == high
    assert round_down(low) == low


@given(positives)
def test_roots_bracket_the_true_one(value):
    low, high = root_down(value), root_up(value)
    assert low**2 <= value <= high**2
    assert high - low <= high * Fraction(1, 10**17)


@pytest.mark.parametrize("shift", [-6000, 0, 6000])
def test_fractions_of_thousands_of_digits_are_rounded_and_have_roots(shift):
    value = Fraction(7**8000 + 1, 10**6761 + 1) * Fraction(10) ** shift
    low, high = round_down(value), round_up(value)
    assert low < value < high <= low * (1 + Fraction(1, 10**17))
    assert root_down(value) ** 2 < value < root_up(value) ** 2


@given(st.integers(1, 10**8), st.integers(-20, 20))
def test_the_root_of_a_square_is_exact(base, shift):
    value = base * Fraction(10) ** shift
    assert root_up(value**2) == root_down(value**2) == value


@given(positives)
def test_a_step_is_the_smallest_change(value):
    rounded = round_up(value)
    assert step_down(rounded) < rounded < step_up(rounded)
    assert step_down(step_up(rounded)) == rounded
    assert step_up(rounded) - rounded <= rounded * Fraction(1, 10**17)


@given(st.fractions(min_value=0, max_value=10**40))
def test_the_root_above_is_the_least(square):
    root = root_above(square)
    assert root**2 >= square
    assert root == 0 or (root - 1) ** 2 < square


@given(st.integers(1, 10**40))
def test_the_integer_above_is_the_least_that_a_double_holds(whole):
    above = double_above(whole)
    assert above >= whole
    assert int(float(above)) == above
    assert int(float(whole)) != whole or above == whole
    assert above - whole < max(1, whole >> 52)


def test_zero_rounds_to_zero_and_less_is_refused():
    assert round_up(Fraction(0)) == root_up(Fraction(0)) == 0
    with pytest.raises(ValueError):
        round_up(Fraction(-1))
    with pytest.raises(ValueError):
        root_up(Fraction(-1))


def test_ten_tenths_and_three_thirds_are_one():
    assert sum_up([Fraction(1, 10)] * 10) == 1
    assert sum_up([Fraction(1, 3)] * 3) == 1
    assert sum_up([Fraction(1, 11)] * 11) == 1


@given(st.lists(positives, max_size=8), st.randoms(use_true_random=False))
def test_a_sum_rounds_up_and_ignores_order(values, shuffler):
    total = sum_up(values)
    assert sum(values, Fraction(0)) <= total <= sum(values, Fraction(0)) + Fraction(20, 10**60)
    shuffled = list(values)
    shuffler.shuffle(shuffled)
    assert sum_up(shuffled) == total


def test_a_sum_of_unrelated_fractions_stays_short():
    total = sum_up(Fraction(1, 10**20 + prime) for prime in range(1, 2000, 2))
    assert total.denominator <= 10**60
