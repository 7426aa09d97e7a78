"""How good a peeling will be, from public assumptions only."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log
from typing import Any

from executors.mechanisms.peel.breakeven import aims, needed
from executors.mechanisms.peel.cost import need
from executors.mechanisms.peel.design import Design, asserted
from executors.mechanisms.peel.params import EvaluesParams, largest_size
from executors.mechanisms.peel.power import Alternatives, power
from executors.pricing.allowance import Allowance
from executors.pricing.evalues import finest_grid, size_grid
from executors.statistics.evalue_constant import log_k
from planner.calculus.cost import Cost
from planner.calculus.inverse import declared, solve
from planner.calculus.leaves import Loss
from planner.facts import Facts
from planner.mechanism import AUTO

__all__ = ["forecast", "resolve"]

LARGEST_LOSS = 30.0
"""Nats; a centring that takes more than this from every value leaves little to find."""

GOOD_POWER = 0.5
_SHOWN_SIZES = 1000


def resolve(params: EvaluesParams, facts: Facts, cost: Cost) -> EvaluesParams:
    """`max_size` and `grid` as numbers; the grid is the finest on which the noise can be drawn."""
    largest = largest_size(params, facts.rows)
    grid = params.grid
    if grid == AUTO:
        grid = finest_grid(asserted(facts), _least_value(params, facts, cost))
    values = {name: getattr(params, name) for name in type(params).model_fields}
    written = params.model_fields_set
    return type(params).model_construct(written, **{**values, "max_size": largest, "grid": grid})


def forecast(params: EvaluesParams, facts: Facts, loss: Loss) -> dict[str, Any]:
    """Noise, the evidence that is needed, the same for other sizes, and power where assumed.

    `needed` is the log e-value at which about that many equal discoveries are made, `floor` the
    evidence below which the selection picks by chance, both in nats. `power` needs the options
    `signals` and `strength`. Numbers are estimates; no privacy claim rests on them.
    """
    design = _design(params, facts, loss)
    level, boosted = float(params.level), params.rule == "boosted"
    assumed = _assumed(params, facts)

    def row(size: int) -> dict[str, Any]:
        sigma, gumbel = design.sigma(size), design.gumbel(size)
        base = log(design.hypotheses) - log(level) + (log_k(sigma) if boosted else 0.0)
        shown: dict[str, Any] = {
            "size": size,
            "sigma": sigma,
            "gumbel_scale": gumbel,
            "needed": needed(size, sigma, design.hypotheses, level, boosted),
            "floor": 0.0 if gumbel is None else gumbel * log(design.hypotheses / size),
        }
        if assumed is not None:
            shown["power"] = power(assumed, size, gumbel, sigma, base)
        return shown

    table = [row(size) for size in _table_sizes(design)]
    weights = _weights(design, params, assumed)
    expected = max(weights, key=lambda size: weights[size])
    here = row(expected)
    result: dict[str, Any] = {
        "sensitivity": float(design.sensitivity),
        "grid": design.grid,
        **here,
        "log_k": log_k(here["sigma"]),
        "sizes": table,
        "all_released": _all_released(design),
    }
    if assumed is not None:
        result["power"] = sum(
            weight * (here if size == expected else row(size))["power"]
            for size, weight in weights.items()
            if weight > 1e-6
        )
        result["best_size"] = max(table, key=lambda one: one["power"])["size"]
    result["warnings"] = _warnings(params, here, table)
    return result


def _least_value(params: EvaluesParams, facts: Facts, cost: Cost) -> Fraction:
    """The least that a value may cost, in mu squared, over all sizes that may come out."""
    needs = need(params, facts, {facts.source.name: cost.unit})
    if not params.adaptive:
        drafts = declared(needs, cost)
        return min(draft.mu_squared for draft in drafts if draft.mu_squared is not None)
    design = Design.of(params, facts, Allowance.behind(solve(needs, cost).leaves[0]))
    sizes = (design.reached(weighed) for weighed in design.sizes)
    return min(design.rounds(size).value.mu_squared for size in sizes)


def _design(params: EvaluesParams, facts: Facts, loss: Loss) -> Design:
    """The design behind the leaves; the allowance of a fixed size is recovered from its scales."""
    if params.adaptive:
        return Design.of(params, facts, Allowance.behind(loss.leaves[0]))
    value = next(leaf for leaf in loss.leaves if leaf.kind == "dgauss")
    selection = next((leaf for leaf in loss.leaves if leaf.kind == "br"), None)
    if value.sensitivity is None or value.scale is None:
        raise ValueError("a noisy value has a scale")
    spent = value.count * ((value.sensitivity + 1) / value.scale) ** 2
    if selection is None:
        return Design.of(params, facts, Allowance("mu_squared", spent))
    whole = spent / (1 - params.share)
    by_mu, by_rho = Allowance("mu_squared", whole), Allowance("rho", whole / 2)
    part = params.share / selection.count
    is_rho = abs(by_rho.part(part).eta() - selection.param) < abs(
        by_mu.part(part).eta() - selection.param
    )
    return Design.of(params, facts, by_rho if is_rho else by_mu)


def _assumed(params: EvaluesParams, facts: Facts) -> Alternatives | None:
    if params.signals is None or params.strength is None:
        return None
    return Alternatives(facts.rows, params.signals, float(params.strength))


def _weights(
    design: Design, params: EvaluesParams, assumed: Alternatives | None
) -> dict[int, float]:
    """How likely each size is: certain where fixed; else by the size draw, if it can be foreseen.

    Without assumptions the size with the lowest aim stands for all.
    """
    if design.size is not None:
        return {design.size: 1.0}
    goals = aims(design, float(params.level), params.rule == "boosted", float(params.kappa))
    if design.choice is None:
        return {design.reached(design.sizes[0]): 1.0}
    if assumed is None:
        lowest = min(zip(goals, design.sizes, strict=True))[1]
        return {design.reached(lowest): 1.0}
    scale = float(2 * design.sensitivity / design.choice.eta())
    utilities = [
        -abs(assumed.order_statistic(size) - goal) / scale
        for size, goal in zip(design.sizes, goals, strict=True)
    ]
    best = max(utilities)
    masses = [exp(utility - best) for utility in utilities]
    weights: dict[int, float] = {}
    for size, mass in zip(design.sizes, masses, strict=True):
        reached = design.reached(size)
        weights[reached] = weights.get(reached, 0.0) + mass / sum(masses)
    return weights


def _table_sizes(design: Design) -> tuple[int, ...]:
    if design.size is None:
        return tuple(dict.fromkeys(design.reached(size) for size in design.sizes))
    shown = size_grid(min(design.hypotheses, max(_SHOWN_SIZES, design.size)))
    return tuple(sorted({*shown, design.size}))


def _all_released(design: Design) -> dict[str, float]:
    """The noise if the whole cost were spent on releasing every value."""
    spent = design.rest.mu_squared + (design.choice.mu_squared if design.choice else 0)
    sigma = float(design.hypotheses / spent) ** 0.5 * float(design.sensitivity)
    return {"sigma": sigma, "loss_nats": sigma * sigma / 2}


def _warnings(
    params: EvaluesParams, here: dict[str, Any], table: list[dict[str, Any]]
) -> list[dict[str, str]]:
    """A warning where noise hides what a table can show, unless the assumed power is good.

    ADAPTIVE avoids sizes that suffer from it, so it is warned only if none is left.
    """
    calm = [row["size"] for row in table if not _is_drowned(row)]
    if not _is_drowned(here) or (params.adaptive and calm) or here.get("power", 0.0) >= GOOD_POWER:
        return []
    smaller = [size for size in calm if size < here["size"]]
    remedy = "raise the cost of this statement"
    if smaller and max(smaller) > 1:
        remedy += f", or write `size={max(smaller)}` or less"
    lost = here["sigma"] ** 2 / 2
    if lost > LARGEST_LOSS:
        message = f"the noise takes {lost:.0f} nats from every released log e-value"
    else:
        message = (
            f"the selection is sharp only above {here['floor']:.0f} nats, a discovery needs "
            f"{here['needed']:.0f}"
        )
        remedy += ", or give the selection a larger `share`"
    return [{"code": "DPQL-W226", "message": message, "help": remedy}]


def _is_drowned(row: dict[str, Any]) -> bool:
    return bool(row["sigma"] ** 2 / 2 > LARGEST_LOSS or row["floor"] > row["needed"])
