"""Certificates that the planner writes are accepted, and claim the least that is known."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpql
from dpql import checker
from dpql.checker import Rejected, check
from planner import certificate_steps
from planner.calculus.compose import eps_at, total
from planner.calculus.cost import Cost
from planner.calculus.dominating_pairs import parts_of
from planner.calculus.exact import number, round_up, text
from planner.calculus.group import grouped
from planner.calculus.inverse import declared, solve
from planner.calculus.joint_total import joint_total
from planner.calculus.leaves import Leaf
from planner.calculus.need import Need
from planner.certificate import CertificateError
from planner.certificate_steps import TooMuchToCheck
from suites.certificates import canonical, certified, dataset, plan, reserve, statement
from suites.prices import charged
from suites.queries import findings

F = Fraction
SMALL = F(1, 10**5)
NATIVE = {"eps": "eps", "rho": "rho", "mu2": "mu_squared"}
MEMBERS = {"max": 2, "members": [{"name": name, "rows": 300} for name in "abc"]}

sizes = st.fractions(min_value=F(1, 1000), max_value=10, max_denominator=10**6)
leaves = st.builds(
    lambda kind, size, scale, count, site: getattr(Leaf, kind)(
        size, 1024 if kind == "dgauss" else scale, count=count, dataset="d", site=site
    ),
    st.sampled_from(["lap", "gauss", "br", "pure", "dgauss"]),
    sizes,
    sizes,
    st.integers(1, 30),
    st.sampled_from([None, None, "a", "b", "c"]),
)


def accepted(body, *reservations):
    certificate, data, reserved = certified(body, *reservations)
    check(certificate, data, reserved)
    return certificate


@settings(max_examples=60, deadline=None)
@given(st.lists(leaves, min_size=1, max_size=6), st.sampled_from(list(NATIVE)))
def test_the_composed_cost_is_always_proved(some, unit):
    body = plan([dataset("d", sites=MEMBERS)], statement("one", *some))
    amount = total(some, NATIVE[unit], 2)
    if amount is None:
        with pytest.raises(CertificateError):
            certified(body, reserve(unit, F(10**6)))
    else:
        accepted(body, reserve(unit, round_up(amount, 30)))
        least = joint_total(some, 2).mu_squared if unit == "mu2" else amount
        with pytest.raises(CertificateError, match="more than the reserved"):
            certified(body, reserve(unit, least * F(999, 1000)))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["lap", "br", "gauss"]), sizes), min_size=1, max_size=5),
    st.sampled_from(["eps", "rho", "mu"]),
    sizes,
)
def test_what_is_reserved_from_declared_costs_is_proved_by_the_solved_leaves(draws, own, amount):
    """Own unit: the share exactly; another one: the declared leaves converted."""
    cost = Cost(own, amount)
    statements, owed = [], dict.fromkeys(NATIVE, F(0))
    for i, (kind, sensitivity) in enumerate(draws):
        if kind == "gauss" and own == "eps":
            kind = "lap"
        needs = (Need(kind, lambda s=sensitivity: s, 3, dataset="d"),)
        statements.append(statement(f"s{i}", *solve(needs, cost).leaves))
        for unit in NATIVE:
            part = charged(needs, cost, "mu" if unit == "mu2" else unit)
            owed[unit] = None if part is None or owed[unit] is None else owed[unit] + part
    wanted = [reserve(unit, value) for unit, value in owed.items() if value is not None]
    accepted(plan([dataset("d")], *statements), *wanted)


def test_a_share_of_an_eps_delta_statement_is_charged_by_its_leaves():
    cost = Cost("eps_delta", F(1), SMALL)
    for kind in ("lap", "pure", "br", "gauss", "dgauss"):
        needs = (Need(kind, lambda: F(10**6), dataset="d"),)
        body = plan([dataset("d")], statement("s", *solve(needs, cost).leaves))
        for unit in NATIVE:
            amount = charged(needs, cost, "mu" if unit == "mu2" else unit)
            if amount is not None:
                accepted(body, reserve(unit, amount))


WAYS = {
    "all by eps": [Leaf.lap(1, 100)],
    "all by rho": [Leaf.br(1, 10, count=50), Leaf.gauss(1, 10, count=50)],
    "all by mu": [Leaf.gauss(1, 3)],
    "bounded by eps, rest by mu": [Leaf.lap(10, 1), Leaf.gauss(1, 10)],
    "bounded by eps, rest by rho": [Leaf.lap(10, 1), Leaf.declared("zcdp", F(1, 200))],
    "hardly anything": [Leaf.gauss(1, 10**7)],
}


@pytest.mark.parametrize("way", WAYS)
def test_an_amount_in_eps_and_delta_is_derived_by_the_best_way(way):
    some = [Leaf.from_json({**leaf.json(), "dataset": "d"}) for leaf in WAYS[way]]
    bound = eps_at(some, SMALL, grid=False)
    amount = max(bound.eps, F(1, 1000)) if bound.by != "C11" else total(some, "eps")
    body = plan([dataset("d")], statement("s", *some))
    accepted(body, reserve("adp", amount, delta=text(SMALL)))
    if bound.eps > F(1, 1000):
        with pytest.raises(CertificateError):
            certified(body, reserve("adp", bound.eps * F(99, 100), delta=text(SMALL)))


def test_a_pair_of_eps_and_delta_from_elsewhere_adds_up_with_the_rest():
    pair = Leaf.declared("adp", F(1, 10), SMALL, dataset="d", count=2)
    body = plan([dataset("d")], statement("s", pair, Leaf.gauss(1, 1, dataset="d")))
    best = eps_at([pair, Leaf.gauss(1, 1, dataset="d")], 3 * SMALL)
    accepted(body, reserve("adp", best.eps * F(10001, 10000), delta=text(3 * SMALL)))
    with pytest.raises(CertificateError, match="more than the reserved"):
        certified(body, reserve("adp", best.eps * F(99, 100), delta=text(3 * SMALL)))
    for unit in ("eps", "rho", "mu2"):
        with pytest.raises(CertificateError, match="cannot be charged"):
            certified(body, reserve(unit, F(9)))


def test_a_pair_from_elsewhere_alone_is_what_it_says():
    for rows, eps, delta in ((1, F(1, 5), 2 * SMALL), (2, F(2, 5), F(4211, 10**8))):
        pair = Leaf.declared("adp", F(1, 10), SMALL, dataset="d", count=2)
        body = plan([dataset("d", rows=rows)], statement("s", pair))
        accepted(body, reserve("adp", eps, delta=text(delta)))
        with pytest.raises(CertificateError):
            certified(body, reserve("adp", eps, delta=text(delta * F(99, 100))))


GOLDEN_B = [
    Leaf.pure(1, 1, dataset="d"),
    Leaf.br(F(1, 20), 1, dataset="d", count=20),
    Leaf.gauss(F(8, 100), 1, dataset="d", count=20),
    Leaf.gauss(F(4472136, 10**7), 1, dataset="d"),
]


def test_mixed_leaves_are_composed_where_that_is_less():
    """Plan B: 3.5247 where the best of the sums is above 5."""
    body = plan([dataset("d")], statement("s", *GOLDEN_B))
    certificate = accepted(body, reserve("adp", F(35247, 10**4), delta=text(SMALL)))
    assert [node["rule"] for node in certificate["nodes"]][-2:] == ["pld_adp", "sum_adp"]
    with pytest.raises(CertificateError):
        certified(body, reserve("adp", F(35246, 10**4), delta=text(SMALL)))


def test_a_budget_in_eps_and_delta_is_proved_at_its_delta_besides_what_is_reserved():
    budgeted = {**dataset("d"), "budget": {"eps": "4", "delta": text(SMALL)}}
    body = plan([budgeted], statement("s", *GOLDEN_B))
    certificate = accepted(body, reserve("rho", total(GOLDEN_B, "rho")))
    first, second = certificate["totals"]
    assert [*first["out"]] == ["rho"]
    assert F(second["out"]["eps"]) == eps_at(GOLDEN_B, SMALL).eps < F(35247, 10**4)
    unbounded = plan(
        [{**dataset("d"), "budget": {"eps": "4", "delta": text(SMALL)}}],
        statement("s", Leaf.declared("adp", 1, F(1, 10), dataset="d")),
    )
    assert certified(unbounded)[0]["totals"] == []


@pytest.mark.parametrize("most", [1, 2])
def test_sites_have_the_largest_of_their_eps_where_nobody_is_at_two(most):
    members = {"max": most, "members": [{"name": name, "rows": 300} for name in "ab"]}
    at = [
        Leaf.gauss(1, 2, dataset="d", site="a"),
        Leaf.lap(1, 9, dataset="d", site="a", count=3),
        Leaf.gauss(1, 1, dataset="d", site="b"),
    ]
    body = plan([dataset("d", sites=members)], statement("s", *at))
    best = eps_at(at, SMALL, most, grid=most == 1)
    accepted(body, reserve("adp", best.eps * F(1001, 1000), delta=text(SMALL)))
    single = eps_at(at[2:], SMALL).eps
    assert (best.eps <= single * F(1001, 1000)) == (most == 1)
    with pytest.raises(CertificateError):
        certified(body, reserve("adp", single * F(99, 100), delta=text(SMALL)))


def test_gaussian_noise_has_no_bound_without_a_delta():
    body = plan([dataset("d")], statement("s", Leaf.gauss(1, 1, dataset="d")))
    with pytest.raises(CertificateError, match="no bound"):
        certified(body, reserve("adp", F(9), delta="0"))


@pytest.mark.parametrize(
    "leaf",
    [
        Leaf.declared("gdp", F(1, 9), dataset="d"),
        Leaf.declared("zcdp", F(1, 9), dataset="d"),
        Leaf.declared("pure", F(1, 9), dataset="d"),
    ],
    ids=lambda leaf: leaf.kind,
)
def test_rows_of_a_person_multiply_what_is_declared_for_one(leaf):
    body = plan([dataset("d", rows=4)], statement("s", leaf))
    person = total([grouped(leaf, 4)], "rho")
    accepted(body, reserve("rho", person))
    with pytest.raises(CertificateError):
        certified(body, reserve("rho", total([leaf], "rho")))


def test_a_filter_is_reserved_whole():
    cap = Leaf.cap("zcdp", F(1, 10), ("br", "gauss"), dataset="d")
    body = plan([dataset("d", rows=4)], statement("s", cap))
    accepted(body, reserve("rho", F(1, 10)))
    with pytest.raises(CertificateError, match="cannot be charged"):
        certified(body, reserve("mu2", F(9)))


def test_two_datasets_of_one_population_are_reserved_each():
    body = plan(
        [dataset("d", population="people"), dataset("e", population="people")],
        statement("s", Leaf.lap(1, 2, dataset="d"), Leaf.lap(1, 4, dataset="e")),
    )
    accepted(
        body,
        reserve("eps", F(1, 2), key="people"),
        reserve("eps", F(1, 4), "e", key="people"),
    )


def test_a_site_is_reserved_alone_or_within_its_dataset():
    at = [Leaf.lap(1, 4, dataset="d", site="a"), Leaf.lap(1, 3, dataset="d", site="b")]
    body = plan([dataset("d", sites=MEMBERS)], statement("s", *at))
    accepted(body, reserve("eps", F(1, 4), site="a"))
    accepted(body, reserve("eps", F(7, 12)), reserve("eps", F(1, 3), site="b"))


@pytest.mark.parametrize(
    ("reservations", "word"),
    [
        ([reserve("eps", F(1), "e")], "charges nothing"),
        ([reserve("eps", F(1), site="a")], "charges nothing"),
        ([reserve("eps", F(1)), reserve("eps", F(1))], "twice"),
        ([reserve("mu", F(1))], "no total has the unit"),
    ],
)
def test_reservations_that_make_no_sense_are_refused(reservations, word):
    body = plan([dataset("d"), dataset("e")], statement("s", Leaf.lap(1, 2, dataset="d")))
    with pytest.raises(CertificateError, match=word):
        certified(body, *reservations)


def test_long_fractions_are_claimed_with_sixty_places():
    odd = [Leaf.gauss(F(1, 7**40 + i), F(3, 11**33), dataset="d") for i in range(9)]
    body = plan([dataset("d")], statement("s", *odd))
    certificate = accepted(body, reserve("rho", F(100)), reserve("mu2", F(100)))
    for node in certificate["nodes"]:
        for claim in node["out"].values():
            assert len(claim) <= 201
    places = [node["out"].get("rho", "").partition(".")[2] for node in certificate["nodes"]]
    assert any(len(behind) > 55 for behind in places)


def test_a_large_plan_is_written_and_checked_in_linear_time():
    some = [Leaf.lap(1, 1000 + i, dataset="d") for i in range(400)]
    body = plan([dataset("d")], *(statement(f"s{i}", leaf) for i, leaf in enumerate(some)))
    certificate = accepted(body, reserve("mu2", total(some, "mu_squared")))
    assert len(certificate["nodes"]) == 401


def test_many_draws_with_unrelated_scales_are_composed_without_growing_digits():
    # Exact sums of their squares have 20,000 digits.
    some = [Leaf.gauss(1, F(10**20 + 7 * i, 10**18), dataset="d") for i in range(500)]
    some += [Leaf.lap(1, F(10**20 + 7 * i, 10**19), dataset="d") for i in range(20)]
    (gaussian,) = (part for part in parts_of(some) if part.kind == "gdp")
    assert gaussian.param.denominator <= 10**60
    least = joint_total(some)
    assert least.by == "PLD"
    body = plan([dataset("d")], statement("s", *some))
    certificate = accepted(body, reserve("mu2", least.mu_squared))
    assert sum(node["rule"] == "pld_mu2" for node in certificate["nodes"]) == 1


@pytest.mark.parametrize(
    "some",
    [
        [Leaf.lap(1, 3, dataset="d", count=9), Leaf.br(1, 9, dataset="d")],
        [Leaf.lap(1, 3, dataset="d"), Leaf.gauss(1, 1, dataset="d"), Leaf.br(1, 30, dataset="d")],
        [Leaf.lap(1, F(7 + i, 3), dataset="d") for i in range(40)],
    ],
)
@pytest.mark.parametrize("unit", ["mu2", "adp"])
def test_what_a_checker_would_not_follow_to_its_end_is_not_written(some, unit, monkeypatch):
    assert certificate_steps._MOST_WORK == checker.WORK
    body = plan([dataset("d")], statement("s", *some))
    if unit == "mu2":
        asked = reserve(unit, joint_total(some).mu_squared)
    else:
        asked = reserve(unit, eps_at(some, SMALL).eps + SMALL, delta=text(SMALL))
    refused = 0
    for bits in range(10, 27):
        monkeypatch.setattr(certificate_steps, "_MOST_WORK", 1 << bits)
        try:
            certificate, data, reserved = certified(body, asked)
        except TooMuchToCheck:
            refused += 1
            continue
        assert any("pld" in node["rule"] for node in certificate["nodes"])
        monkeypatch.setattr(checker, "WORK", 1 << bits)
        check(certificate, data, reserved)
        break
    assert refused > 0


def test_a_plan_that_no_checker_follows_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(certificate_steps, "_MOST_WORK", 1 << 8)
    query = (
        "DATASET d ROWS 5000 COLUMNS (t DURATION IN [0, 9], e EVENT, b BOOLEAN) BUDGET mu=2\n"
        "TEST logrank group=b eps=0.5 AS a\nTEST logrank group=b eps=0.4 AS c\n"
    )
    planned = dpql.plan(query)
    assert not planned.ok
    assert [one.code for one in planned.diagnostics if one.severity == "error"] == ["DPQL-E075"]


def test_parts_by_a_private_column_are_no_parallel_parts():
    """A replaced row may move from one part to another: `BY` is refused, and so is `site_top`."""
    query = (
        "DATASET s ROWS 100 COLUMNS (x REAL IN [0, 1], y REAL IN [-1, 1], part BOOLEAN)\n"
        "COVARIANCE ssp COLUMNS (x, y) BY part mu=1 AS each\n"
    )
    assert "DPQL-E042" in [finding.code for finding in findings(query)]
    parts = [Leaf.gauss(1, 4, dataset="d"), Leaf.gauss(1, 4, dataset="d")]
    body = plan([dataset("d")], statement("a", parts[0]), statement("b", parts[1]))
    honest = accepted(body, reserve("mu2", F(1, 8)))
    assert honest["nodes"][-1]["rule"] == "sum_mu2"
    top = honest["nodes"][-1]
    top.update(rule="site_top", out={"mu2": "0.0625"})
    honest["totals"][0]["out"] = top["out"]
    with pytest.raises(Rejected):
        check(honest, canonical(body), [reserve("mu2", F(1, 16))])


mixed_draws = st.builds(
    lambda kind, size, count: getattr(Leaf, kind)(size, 1, count=count, dataset="d"),
    st.sampled_from(["lap", "gauss", "br", "pure"]),
    st.fractions(min_value=F(1, 20), max_value=1, max_denominator=100),
    st.integers(1, 12),
)


@settings(max_examples=4, deadline=None, derandomize=True)
@given(st.lists(mixed_draws, min_size=2, max_size=5), st.sampled_from([F(1, 10**4), F(1, 10**8)]))
def test_two_programs_that_share_no_code_compose_random_plans_alike(some, delta):
    """What the planner composes the checker accepts in full, and a thousandth less it refuses."""
    budgeted = {**dataset("d"), "budget": {"eps": "99", "delta": text(delta)}}
    body = plan([budgeted], statement("s", *some))
    certificate, data, _ = certified(body)
    check(certificate, data, None)
    (claim,) = certificate["totals"]
    assert F(claim["out"]["eps"]) <= eps_at(some, delta, grid=False).eps
    if certificate["nodes"][-2]["rule"] == "pld_adp":
        for node in certificate["nodes"][-2:]:
            node["out"] = {**node["out"], "eps": text(F(node["out"]["eps"]) * F(999, 1000))}
        claim["out"] = certificate["nodes"][-1]["out"]
        with pytest.raises(Rejected, match="too low"):
            check(certificate, data, None)


def test_a_thousand_tests_of_one_cost_are_proved_at_what_was_reserved():
    """Their sensitivities differ, so do the last digits of what they draw: not what is composed."""
    cost, drafts, leaves = Cost("eps", F(1, 30)), [], []
    for i in range(1000):
        need = Need("lap", lambda i=i: F(10**6 + 7919 * i, 3 + i % 991), dataset="d")
        drafts += declared((need,), cost)
        leaves += solve((need,), cost).leaves
    assert len({leaf.param for leaf in leaves}) > 900
    reserved = joint_total(drafts)
    assert reserved.by == "PLD"
    assert joint_total(leaves).mu_squared <= reserved.mu_squared
    body = plan([dataset("d")], statement("s", *leaves))
    accepted(body, reserve("mu2", reserved.mu_squared))


def at_sites(count, rounds):
    """A plan of so many sites, with what is reserved in mu squared for all and for each."""
    names = [f"s{i}" for i in range(count)]
    members = {"max": 1, "members": [{"name": name, "rows": 300} for name in names]}
    at = [
        Leaf.lap(1, F(500 + i, 10), dataset="d", site=name, count=rounds)
        for i, name in enumerate(names)
    ]
    body = plan([dataset("d", sites=members)], statement("each", *at))
    whole = reserve("mu2", joint_total(at).mu_squared)
    own = [reserve("mu2", joint_total([leaf]).mu_squared, site=leaf.site) for leaf in at]
    return body, whole, *own


def test_the_losses_of_a_site_are_composed_once_for_all_totals():
    body, *reservations = at_sites(3, 20)
    certificate, data, _ = certified(body, *reservations)
    composed = [node["in"]["of"] for node in certificate["nodes"] if node["rule"] == "pld_mu2"]
    assert sorted(composed) == [["l0.0"], ["l0.1"], ["l0.2"]]
    check(certificate, data, reservations)


@pytest.mark.parametrize(("points", "rules"), [(24000, {"pld_adp"}), (10000, set())])
def test_pairs_of_sites_are_composed_as_long_as_the_checker_follows(monkeypatch, points, rules):
    monkeypatch.setattr("planner.certificate_pairs._AT_SITES", points)
    names = "abc"
    members = {"max": 1, "members": [{"name": name, "rows": 300} for name in names]}
    at = [
        Leaf.lap(F(60 + i, 100), 1, dataset="d", site=name, count=10)
        for i, name in enumerate(names)
    ]
    several = dataset("d", sites=members) | {"budget": {"eps": "99", "delta": "0.00001"}}
    certificate, data, _ = certified(plan([several], statement("each", *at)))
    assert {node["rule"] for node in certificate["nodes"]} & {"pld_adp"} == rules
    check(certificate, data, None)


@given(
    st.sampled_from(["lap", "pure", "br"]),
    st.integers(10, 6000).map(lambda thousandths: F(thousandths, 1000)),
    st.sampled_from(["0.01", "0.00001", "0.00000001", "0.000000000001"]),
)
def test_a_single_draw_is_proved_at_just_the_pair_that_it_was_solved_for(kind, eps, delta):
    need = Need(kind, lambda: F(7, 3), dataset="d")
    leaves = solve((need,), Cost("eps_delta", eps, F(delta))).leaves
    body = plan([dataset("d")], statement("s", *leaves))
    accepted(body, reserve("adp", eps, delta=delta))
    with pytest.raises(CertificateError, match="more than the reserved"):
        certified(body, reserve("adp", eps * (1 - F(1, 10**12)), delta=delta))


NEAR_AND_FAR = (
    "DATASET d ROWS 600 SITES (x ROWS 300, y ROWS 300) MAX 2\n"
    "  COLUMNS (t DURATION IN [0, 9], e EVENT) BUDGET eps={}, delta=1e-5\n"
    "RELEASE survival ON x mu=0.2\n"
    "RELEASE hazard ON y tree=haar eps=0.6\n"
    "RELEASE hazard ON d tree=haar eps=0.3"
)


@pytest.mark.parametrize(("budget", "said"), [("1.5", True), ("1.7", False)])
def test_a_pair_that_is_proved_above_the_budget_of_a_plan_that_fits_is_said(budget, said):
    made = dpql.plan(NEAR_AND_FAR.format(budget))
    assert made.ok
    (pair,) = [one["out"] for one in made.json()["certificate"]["totals"] if "delta" in one["out"]]
    assert (number(pair["eps"]) > F(budget)) == said
    notes = [one.message for one in made.diagnostics if one.code == "DPQL-W232"]
    assert len(notes) == said
    assert not said or "proves eps=1.62553 at delta=0.00001 for `d`" in notes[0]
