"""Leaves: what each kind takes, its JSON, persons with several rows."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grammar.source import Span
from planner.calculus.group import grouped
from planner.calculus.leaves import Kind, Leaf, Loss

F = Fraction
amounts = st.fractions(min_value=F(1, 10**9), max_value=10**9)
LEAVES = [
    Leaf.lap(2, 4),
    Leaf.gauss(F(1, 3), 7, count=3, width=4, role="measure", dataset="d", site="north"),
    Leaf.br(2, 20, count=20, role="select"),
    Leaf.pure(1, 3, 2),
    Leaf.dgauss(5, 2048, width=9),
    Leaf.cap("gdp", F(1, 2), ("br", "gauss"), dataset="d"),
    Leaf.cap("zcdp", 1, ("zcdp", "dgauss")),
    Leaf.cap("pure", 1, ("lap",)),
    Leaf.declared("gdp", 1),
    Leaf.declared("zcdp", F(1, 7)),
    Leaf.declared("pure", 2, count=2),
    Leaf.declared("adp", F(1, 10), F(1, 10**6)),
]


def test_the_parameter_follows_from_sensitivity_and_scale():
    assert Leaf.lap(2, 4).param == F(1, 2)
    assert Leaf.gauss(2, 4).param == F(1, 2)
    assert Leaf.br(2, 4).param == 1
    assert Leaf.pure(2, 4).param == F(1, 2)
    assert Leaf.pure(2, 4, factor=2).param == 1
    assert Leaf.dgauss(2, 1024).param == F(2, 1024) * (1 + F(1, 20 * 1024**2))


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.kind + leaf.role)
def test_json_holds_the_leaf(leaf):
    written = leaf.json()
    assert Leaf.from_json(written) == leaf
    assert list(written) == [
        "kind", "count", "params", "sensitivity", "scale", "width", "role", "factor", "of",
        "dataset", "site",
    ]  # fmt: skip
    assert all(isinstance(text, str) for text in written["params"].values())


@given(amounts, amounts, st.sampled_from(["lap", "gauss", "br"]), st.integers(1, 99))
def test_any_leaf_survives_json(sensitivity, scale, kind, count):
    leaf = getattr(Leaf, kind)(sensitivity, scale, count=count)
    assert Leaf.from_json(leaf.json()) == leaf


def test_names_of_parameters_are_those_of_the_field():
    names = {leaf.kind: tuple(leaf.json()["params"]) for leaf in LEAVES}
    assert names == {
        "lap": ("eps0",),
        "gauss": ("mu",),
        "br": ("eta",),
        "pure": ("eps0",),
        "dgauss": ("mu",),
        "gdp": ("mu",),
        "zcdp": ("rho",),
        "adp": ("eps0", "delta"),
    }
    assert set(names) == set(get_args(Kind))


def test_an_adp_leaf_with_delta_0_is_pure():
    assert Leaf.declared("adp", 1, 0).kind == "pure"


def test_the_place_in_the_text_is_no_part_of_a_leaf():
    assert Leaf.lap(1, 1, span=Span(0, 4)) == Leaf.lap(1, 1)
    assert "span" not in Leaf.lap(1, 1, span=Span(0, 4)).json()


@pytest.mark.parametrize("bad", [0, -1, F(-1, 2), F(1, 10**61), 10**41])
@pytest.mark.parametrize("make", [Leaf.lap, Leaf.gauss, Leaf.br, Leaf.pure])
def test_sensitivities_and_scales_are_positive_and_in_range(make, bad):
    with pytest.raises(ValueError):
        make(bad, 1)
    with pytest.raises(ValueError):
        make(1, bad)


@pytest.mark.parametrize("bad", [0.5, float("nan"), float("inf"), "1", True, None])
@pytest.mark.parametrize("make", [Leaf.lap, Leaf.gauss, Leaf.br, Leaf.pure, Leaf.dgauss])
def test_a_float_is_refused(make, bad):
    with pytest.raises(TypeError):
        make(bad, 1)
    with pytest.raises(TypeError):
        make(1, bad)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Leaf.lap(1, 1, count=0),
        lambda: Leaf.lap(1, 1, width=0),
        lambda: Leaf.pure(1, 1, factor=0),
        lambda: Leaf.lap(1, 1, factor=2),
        lambda: Leaf.dgauss(1, 1023),
        lambda: Leaf.dgauss(1, F(2049, 2)),
        lambda: Leaf.lap(1, 1, of=("lap",)),
        lambda: Leaf.lap(1, 1, role="cap", of=("lap",)),
        lambda: Leaf.pure(1, 1, role="cap", of=("lap",)),
        lambda: Leaf.cap("pure", 1, ()),
        lambda: Leaf.cap("pure", 1, ("gauss",)),
        lambda: Leaf.cap("pure", 1, ("lap", "zcdp")),
        lambda: Leaf.cap("gdp", 1, ("zcdp",)),
        lambda: Leaf.cap("zcdp", 1, ("adp",)),
        lambda: Leaf.cap("adp", 1, ("lap",)),
        lambda: Leaf.cap("br", 1, ("br",)),
        lambda: Leaf.cap("none", 1, ("br",)),
        lambda: Leaf.cap("gdp", 1, ("br",), count=2),
        lambda: Leaf.declared("gauss", 1),
        lambda: Leaf.declared("lap", 1),
        lambda: Leaf.declared("gdp", 0),
        lambda: Leaf.declared("gdp", 1, F(1, 10)),
        lambda: Leaf.declared("adp", 1, 1),
        lambda: Leaf.declared("adp", 1, -1),
        lambda: Leaf.declared("pure", 1, factor=2),
        lambda: Leaf("lap", 1, None, None, F(1)),
        lambda: Leaf("gdp", 1, F(1), F(1), F(1)),
        lambda: Leaf("gdp", 1, F(1), None, F(1)),
        lambda: Leaf("lap", 1, F(1), F(1), F(1, 2)),
        lambda: Leaf("none", 1, F(1), F(1), F(1)),
        lambda: replace(Leaf.lap(1, 1), scale=F(2)),
        lambda: Loss(()),
    ],
)
def test_parts_that_do_not_agree_are_refused(make):
    with pytest.raises(ValueError):
        make()


@pytest.mark.parametrize("name", ["count", "width", "factor"])
@pytest.mark.parametrize("bad", [1.0, True, "1", F(1)])
def test_counts_are_ints(name, bad):
    with pytest.raises(TypeError):
        Leaf.pure(1, 1, **{name: bad})


def test_parameters_given_directly_are_fractions():
    with pytest.raises(TypeError):
        Leaf("gdp", 1, None, None, 1.0)
    with pytest.raises(TypeError):
        Leaf("gdp", 1, None, None, F(1), delta=0)


def test_a_leaf_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Leaf.lap(1, 1).count = 2


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.kind + leaf.role)
def test_one_row_a_person_changes_nothing(leaf):
    assert grouped(leaf, 1) == leaf


def test_three_rows_a_person_cost_as_three_steps():
    assert grouped(Leaf.lap(2, 4), 3) == Leaf.lap(6, 4)
    assert grouped(Leaf.dgauss(2, 2048), 3) == Leaf.dgauss(6, 2048)
    assert grouped(Leaf.declared("gdp", F(1, 2)), 3).param == F(3, 2)
    assert grouped(Leaf.declared("pure", 1), 3).param == 3
    assert grouped(Leaf.declared("zcdp", F(1, 10)), 3).param == F(9, 10)
    cap = Leaf.cap("zcdp", 1, ("br",))
    assert grouped(cap, 3) == cap


def test_three_rows_under_eps_delta_follow_the_induction():
    """(eps, d) three times in a row: d (1 + e^eps + e^(2 eps))."""
    import math

    leaf = grouped(Leaf.declared("adp", F(1, 2), F(1, 10**6)), 3)
    assert leaf.param == F(3, 2)
    expected = 1e-6 * (1 + math.exp(0.5) + math.exp(1))
    assert float(leaf.delta) == pytest.approx(expected, rel=1e-14)
    with pytest.raises(ValueError):
        grouped(Leaf.declared("adp", 5, F(1, 10)), 3)


@pytest.mark.parametrize(
    ("rows", "error"), [(0, ValueError), (-1, ValueError), (1.0, TypeError), (True, TypeError)]
)
def test_a_person_owns_a_whole_number_of_rows(rows, error):
    with pytest.raises(error):
        grouped(Leaf.lap(1, 1), rows)
