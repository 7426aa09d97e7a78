"""The price of a peeling, from its leaves alone, and what is refused before any data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executors.mechanisms.peel import MECHANISM
from executors.mechanisms.peel.breakeven import aim, aims
from executors.mechanisms.peel.design import Design
from executors.mechanisms.peel.forecast import resolve
from executors.mechanisms.peel.params import EvaluesParams
from executors.noise import StatementNoise
from executors.pricing.allowance import Allowance
from planner.calculus.compose import total
from planner.calculus.convert import gdp_to_rho
from planner.calculus.cost import Cost
from planner.calculus.inverse import Unsolvable, declared
from planner.calculus.leaves import Loss
from planner.calculus.profiles import gdp_mu
from planner.facts import Column, Facts, SourceFacts
from suites.samplers import ScriptedSampler

MU = Cost("mu", Fraction(1))
RHO = Cost("rho", Fraction(1, 2))
APPROXIMATE = Cost("eps_delta", Fraction(2), Fraction(1, 10**6))


def facts(rows: int = 1000, sensitivity: str = "0.3", **more: Any) -> Facts:
    column = Column("log_e", "log_evalue", sensitivity=Fraction(sensitivity), asserted_by="J. Doe")
    return Facts((SourceFacts("hits", rows, (column,), **more),), ())


def priced(params: EvaluesParams, about: Facts, cost: Cost) -> tuple[EvaluesParams, Loss]:
    solved = resolve(params, about, cost)
    needs = MECHANISM.need(solved, about, {"hits": cost.unit})
    assert MECHANISM.solve is not None
    return solved, MECHANISM.solve(solved, about, needs, cost)


def budget(cost: Cost) -> Fraction:
    return gdp_mu(cost.amount, cost.delta) ** 2 if cost.unit == "eps_delta" else cost.additive


@given(
    st.integers(1, 400),
    st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=1000),
    st.fractions(Fraction(1, 20), Fraction(6), max_denominator=1000),
    st.sampled_from(["mu", "rho", "eps_delta"]),
    st.sampled_from(["0.001", "0.3", "2.5"]),
)
@settings(max_examples=60, deadline=None)
def test_the_leaves_of_a_fixed_size_cost_no_more_than_the_budget(
    size: int, share: Fraction, amount: Fraction, unit: Any, sensitivity: str
) -> None:
    cost = Cost(unit, amount, Fraction(1, 10**5) if unit == "eps_delta" else Fraction(0))
    about = facts(400, sensitivity)
    _, loss = priced(EvaluesParams(size=size, share=share), about, cost)
    native = "rho" if unit == "rho" else "mu_squared"
    spent = total(loss.leaves, native)
    assert spent is not None
    assert spent <= budget(cost)
    assert spent >= budget(cost) * (1 - Fraction(1, 10**8))
    # Whatever the unit, what a budget in another unit is charged bounds what is drawn.
    needs = MECHANISM.need(EvaluesParams(size=size, share=share), about, {"hits": unit})
    for other in ("rho", "mu_squared"):
        charged, drawn = total(declared(needs, cost), other), total(loss.leaves, other)
        assert charged is not None
        assert drawn is not None
        assert drawn <= charged


@pytest.mark.parametrize("cost", [MU, RHO, APPROXIMATE])
def test_the_cost_is_met_within_a_billionth(cost: Cost) -> None:
    _, loss = priced(EvaluesParams(size=50), facts(), cost)
    spent = total(loss.leaves, "rho" if cost.unit == "rho" else "mu_squared")
    assert spent is not None
    assert budget(cost) * (1 - Fraction(1, 10**9)) <= spent <= budget(cost)


@pytest.mark.parametrize("cost", [MU, RHO, APPROXIMATE])
def test_every_size_that_can_be_reached_stays_within_the_cap(cost: Cost) -> None:
    """The filter itself charges the draws, exactly as a run makes them."""
    params, loss = priced(EvaluesParams(adaptive=True), facts(600), cost)
    cap = loss.leaves[0]
    assert (cap.kind, cap.role, len(loss.leaves)) == (
        "zcdp" if cost.unit == "rho" else "gdp",
        "cap",
        1,
    )
    design = Design.of(params, facts(600), Allowance.behind(cap))
    assert design.choice is not None
    for weighed in design.sizes:
        size = design.reached(weighed)
        filtered = StatementNoise(ScriptedSampler(), loss).cap(cap)
        whole = filtered.left
        filtered.select(design.choice.eta(), design.steps, [0] * len(design.sizes), 1)
        selection = design.rounds(size).selection
        assert selection is not None
        filtered.select(selection.eta(), design.steps, [0] * 600, size)
        for _ in range(size):
            filtered.dgauss(design.steps, design.scale(size), [0])
        assert 0 <= filtered.left <= whole / 10**9


def test_without_a_choice_of_size_nothing_is_paid_for_it() -> None:
    for rows, params in (
        (1, EvaluesParams(adaptive=True)),
        (9, EvaluesParams(adaptive=True, max_size=1)),
    ):
        solved, loss = priced(params, facts(rows), MU)
        design = Design.of(solved, facts(rows), Allowance.behind(loss.leaves[0]))
        assert design.choice is None
        assert design.rest.amount == 1
        assert design.sizes == (1,)


def test_all_released_has_no_selection() -> None:
    _, loss = priced(EvaluesParams(size=20), facts(20), MU)
    (values,) = loss.leaves
    assert (values.kind, values.count) == ("dgauss", 20)
    assert float(values.scale or 0) / 2**40 == pytest.approx(0.3 * 20**0.5, rel=1e-10)


def test_the_leaves_of_a_fixed_size() -> None:
    _, loss = priced(EvaluesParams(size=50), facts(), MU)
    select, measure = loss.leaves
    assert (select.kind, select.count, select.role) == ("br", 50, "select")
    assert (measure.kind, measure.count, measure.role) == ("dgauss", 50, "measure")
    assert float(select.scale or 0) == pytest.approx(4.203360572, rel=1e-9)
    assert float(measure.scale or 0) / 2**40 == pytest.approx(2.738612788, rel=1e-9)


def test_a_scale_without_the_extra_step_is_smaller() -> None:
    """D / s alone is a bound in mu only by a numerical finding; (D + 1) / s is proved."""
    _, loss = priced(EvaluesParams(size=50), facts(), MU)
    measure = loss.leaves[1]
    assert measure.sensitivity is not None
    assert measure.scale is not None
    allowed = Fraction(3, 5) / 50
    assert ((measure.sensitivity + 1) / measure.scale) ** 2 <= allowed


def test_aims_of_the_size_draw() -> None:
    """m = 1000, level 0.05, sensitivity 0.3, mu = 1."""
    params, loss = priced(EvaluesParams(adaptive=True), facts(), MU)
    design = Design.of(params, facts(), Allowance.behind(loss.leaves[0]))
    for size, expected in ((1, 9.748952877), (10, 8.376625422), (50, 11.01569201)):
        found = aim(size, design.sigma(size), 1000, 0.05, True, 1.0)
        assert found == pytest.approx(expected, rel=1e-9)
        assert aims(design, 0.05, True, 1.0)[design.sizes.index(size)] == found
    assert aim(200, design.sigma(200), 1000, 0.05, True, 1.0) == pytest.approx(
        24.35892048, rel=1e-9
    )
    assert design.choice is not None
    assert float(2 * design.sensitivity / design.choice.eta()) == pytest.approx(
        1.187646092, rel=1e-9
    )


def test_an_aim_out_of_reach_is_cut_off() -> None:
    params, loss = priced(EvaluesParams(adaptive=True), facts(1000, "50"), MU)
    design = Design.of(params, facts(1000, "50"), Allowance.behind(loss.leaves[0]))
    assert aims(design, 0.05, True, 1.0)[-1] == 4096.0


@pytest.mark.parametrize(
    ("sensitivity", "cost"),
    [("0.000000001", Cost("mu", Fraction(10**6))), ("1000000", Cost("mu", Fraction(1, 10**12)))],
)
def test_noise_that_cannot_be_drawn_is_refused(sensitivity: str, cost: Cost) -> None:
    for params in (EvaluesParams(size=5), EvaluesParams(adaptive=True)):
        with pytest.raises(Unsolvable):
            priced(params, facts(10, sensitivity), cost)


def test_a_size_that_cannot_be_drawn_is_found_when_planned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not when it comes out of a draw, which would depend on data."""
    honest = Design.draws

    def dearer(self: Design, size: int) -> Any:
        return honest(self, size) * (2 if size == 23 else 1)

    monkeypatch.setattr(Design, "draws", dearer)
    with pytest.raises(Unsolvable, match="23 hypotheses"):
        priced(EvaluesParams(adaptive=True), facts(), MU)


def test_a_grid_fits_every_size_up_to_all_of_them() -> None:
    """Just below all hypotheses the values get the least, since a selection is paid as well."""
    for sensitivity in range(9, 21):
        about = facts(40, str(2**sensitivity))
        for cost in (MU, RHO, APPROXIMATE):
            priced(EvaluesParams(adaptive=True), about, cost)


def test_a_coarser_grid_is_taken_where_the_noise_is_large() -> None:
    params, loss = priced(EvaluesParams(size=5), facts(10, "1000000"), Cost("mu", Fraction(1, 10)))
    assert params.grid != "auto"
    assert 20 <= params.grid < 40
    assert all(leaf.scale is not None and leaf.scale < 2**52 for leaf in loss.leaves)


def complaints(params: EvaluesParams, about: Facts, unit: Any = "mu") -> list[tuple[str, str]]:
    found = MECHANISM.check(params, about, {about.source.name: unit})
    assert all(one.message and not one.message.endswith(".") for one in found)
    return [(one.code, one.option) for one in found]


def test_a_good_statement_has_nothing_against_it() -> None:
    assert complaints(EvaluesParams(adaptive=True), facts()) == []
    assert complaints(EvaluesParams(size=1000), facts()) == []
    assert complaints(EvaluesParams(size=3, signals=2, strength=Fraction(5)), facts()) == []


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({}, [("DPQL-E051", "")]),
        ({"adaptive": True, "size": 3}, [("DPQL-E051", "size")]),
        ({"size": 1001}, [("DPQL-E051", "size")]),
        ({"adaptive": True, "max_size": 1001}, [("DPQL-W224", "max_size")]),
        ({"size": 5, "accounting": "numeric"}, [("DPQL-E053", "accounting")]),
        ({"size": 5, "signals": 3}, [("DPQL-E054", "signals")]),
        ({"size": 5, "strength": Fraction(3)}, [("DPQL-E054", "strength")]),
        ({"size": 5, "signals": 1001, "strength": Fraction(3)}, [("DPQL-E054", "signals")]),
        ({"size": 5, "kappa": Fraction(2)}, [("DPQL-W225", "kappa")]),
        ({"size": 5, "max_size": 9}, [("DPQL-W225", "max_size")]),
        ({"size": 1000, "share": Fraction(1, 2)}, [("DPQL-W225", "share")]),
    ],
)
def test_options_that_do_not_fit(written: Any, expected: list[tuple[str, str]]) -> None:
    assert complaints(EvaluesParams(**written), facts()) == expected


def test_sources_that_do_not_fit() -> None:
    params = EvaluesParams(size=5)
    people = Facts((SourceFacts("trial", 99, (Column("age", "real"),)),), ())
    assert complaints(params, people) == [("DPQL-E050", "on")]
    unsigned = Facts(
        (SourceFacts("hits", 99, (Column("e", "log_evalue", sensitivity=Fraction(1)),)),), ()
    )
    assert complaints(params, unsigned) == [("DPQL-E050", "on")]
    assert complaints(params, facts(unit="person", max_rows=2)) == [("DPQL-E050", "on")]
    assert complaints(params, facts(sites=(("a", 500), ("b", 500)))) == [("DPQL-E050", "on")]
    assert complaints(params, facts(50_000_001)) == [("DPQL-E052", "on")]
    assert complaints(EvaluesParams(size=2_000_000), facts(3_000_000)) == [("DPQL-E052", "size")]
    many = EvaluesParams(adaptive=True, max_size=2_000_000)
    assert complaints(many, facts(3_000_000)) == [("DPQL-E052", "max_size")]


def test_pure_eps_is_not_a_unit_of_it() -> None:
    assert "eps" not in MECHANISM.units
    assert "Gaussian noise" in MECHANISM.unit_advice["eps"]


def test_options_out_of_range_are_refused() -> None:
    wrong: list[dict[str, Any]] = [
        {"size": 0},
        {"level": Fraction(1)},
        {"share": Fraction(0)},
        {"size_share": Fraction(1)},
        {"kappa": Fraction(-1)},
        {"max_size": 0},
        {"grid": 41},
        {"strength": Fraction(0)},
        {"rule": "holm"},
        {"level": 0.05},
    ]
    for written in wrong:
        with pytest.raises(ValueError):
            EvaluesParams(**written)


def test_resolving_keeps_what_the_author_wrote() -> None:
    before = EvaluesParams(size=5)
    after = resolve(before, facts(), MU)
    assert (after.max_size, after.grid) == (5, 40)
    assert after.model_fields_set == before.model_fields_set
    assert complaints(after, facts()) == []
    assert resolve(EvaluesParams(adaptive=True), facts(), MU).max_size == 500
    assert resolve(EvaluesParams(adaptive=True), facts(30), MU).max_size == 30
    assert resolve(EvaluesParams(size=5, grid=33), facts(), MU).grid == 33


def test_what_is_asserted_is_said() -> None:
    said = MECHANISM.assumptions(EvaluesParams(size=5), facts())
    asserted = [one for one in said if "asserted by J. Doe, not verified" in one]
    assert len(asserted) == 4
    assert "0.3 nats" in asserted[0]
    assert any("becomes the" in one or "become the e-value 0" in one for one in said)
    assert any("row in the file" in one for one in said)


def test_rho_is_charged_to_mu_as_a_bound() -> None:
    """Solved under rho, the values' mu is at most the root of twice their rho."""
    _, loss = priced(EvaluesParams(size=50), facts(), RHO)
    values = loss.leaves[1]
    assert gdp_to_rho(values.param**2) * 50 <= RHO.amount * Fraction(3, 5)
