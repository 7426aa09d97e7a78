"""Numbers for readers: upwards, but not for the rounding that costs carry themselves."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.calculus.exact import number
from planner.number_format import read_as, short_delta, shown

_TINY = Fraction(1, 10**18)


@pytest.mark.parametrize("cost", ["1", "0.3", "0.1", "12.5", "0.00025"])
def test_the_last_digits_of_a_cost_do_not_lift_the_first(cost: str) -> None:
    """1 + 1e-18 reads 1; strictly rounded up it would read 1.0001."""
    assert read_as(Fraction(cost) * (1 + _TINY), digits=5) == cost
    assert shown(Fraction(cost) * (1 + _TINY), digits=5) != cost


def test_a_zero_in_the_twelfth_digit_does_not_show_the_others() -> None:
    assert read_as(Fraction("3.87618671210"), digits=5) == "3.8762"
    assert read_as(Fraction("0.2405830611"), digits=5) == "0.24059"


def test_a_delta_is_short_and_never_lower_than_it_is() -> None:
    assert [short_delta(Fraction(d)) for d in ("0.00001", "0.0000025", "0.01", "1e-30")] == [
        "1e-5",
        "2.5e-6",
        "0.01",
        "1e-30",
    ]
    assert short_delta(Fraction("0.0000123456")) == "1.24e-5"
    assert short_delta(Fraction(1, 3)) == "0.334"


def test_an_excess_that_matters_is_seen() -> None:
    """From the twelfth digit on it lifts what is read."""
    assert read_as(1 + Fraction(1, 10**11), digits=5) == "1.0001"
    assert read_as(Fraction("0.9999999"), digits=5) == "0.9999999"
    assert read_as(Fraction(2, 3), digits=5) == "0.66667"
    assert read_as(Fraction(0), digits=5) == "0"


@settings(max_examples=200, derandomize=True)
@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**12), st.integers(3, 8))
def test_a_cost_never_reads_lower_than_it_is_by_more_than_a_part_in_1e11(
    cost: Fraction, digits: int
) -> None:
    """And never higher than rounding up alone would show it."""
    read = number(read_as(cost, digits))
    assert cost * (1 - Fraction(1, 10**11)) <= read
    assert read <= cost * (1 + Fraction(1, 10 ** (digits - 1)))
