"""Numbers, costs, noise laws in the words of somebody who does not program."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Any

from grammar.characters import hidden
from planner.calculus.exact import number
from planner.calculus.leaves import SEARCH_FACTOR
from planner.number_format import read_as, short_delta, shown

__all__ = [
    "amount",
    "cost",
    "counted",
    "counted_rows",
    "declared",
    "drawn_on",
    "figure",
    "in_hundred",
    "is_known",
    "label",
    "noise",
    "of_hundred",
    "one_in",
    "options",
    "percent_down",
    "percent_up",
    "person",
    "small",
    "tables_of_hypotheses",
    "visible",
]

_LABELS = {
    "power": "chance to detect the effect if it is as assumed",
    "power_error": "error of that chance, which is counted from draws",
    "detectable_effect": "least effect that four studies in five would find",
    "noise_to_sampling": "noise added for privacy, against that of drawing people at all",
    "reliable_to": "time up to which the curve is expected to be reliable",
    "half_width": "half the width of the band up to there, at most",
    "precision": "precision (1 / typical error of the whole matrix)",
    "rms_error": "typical error of the whole matrix, in squared half-ranges, at the worst means",
    "rms_error_at_zero_mean": "that error with every mean in the middle of its range",
    "threshold": "threshold of the decision",
    "sensitivity": "how far one person can move the result",
    "noise_scale": "scale of the noise",
    "noise_law": "law of the noise",
    "trace": "variance of the statistic, all its columns together, for each record",
    "trace_sensitivity": "how far one person can move the variance",
    "trace_noise_scale": "scale of the noise on the variance",
    "riskfloor_records": "records at risk below which an event weighs less",
    "statistic_mean": "mean of the statistic if the effect is as assumed",
    "statistic_sd": "its standard deviation without noise",
    "noise_sd_variance": "noise on each variance, in units of the squared half-range",
    "noise_sd_covariance": "noise on each covariance, in units of the two half-ranges' product",
    "noise_sd_mean": "noise on each mean, in units of the half-range",
    "sees": "what this cost can show",
    "rho_for_covariances": "cost in rho above which covariances can be seen",
    "noise_sd_correlation": "noise on each correlation if all are released",
    "noise_edge": "what noise alone adds to the largest eigenvalue",
    "noise_sd_first_pair": "noise on a covariance of the first round, in the same units",
    "least_visible_correlation": "correlations below this cannot be seen by a search",
    "error_median": "error of the whole matrix in half of the simulated runs, at most",
    "sigma": "standard deviation of the noise on each released value",
    "needed": "evidence that a discovery needs, in natural logarithms",
    "floor": "evidence below which the selection picks by chance",
    "size": "how many are selected",
    "missed_at_most": "what is missed by leaving the covariances out, at most",
}
_LAWS = {
    "lap": "Laplace noise",
    "gauss": "Gaussian noise",
    "dgauss": "Gaussian noise on a fine grid",
    "br": "noisy selection",
    "pure": "bounded random choice",
}
_ROLES = {
    "at_risk": "numbers at risk",
    "length": "squared length of a row",
    "measure": "measured numbers",
    "select": "selection",
    "trace": "variance",
}
_VECTOR = "noise in the shape of the declared ranges"
"""A `pure` leaf on several numbers at once."""
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def amount(written: str, digits: int = 4) -> str:
    """An exact number, rounded up to a few digits where it is longer; the last do not count."""
    return written if len(written) <= 8 else read_as(number(written), digits=digits)


def declared(written: Mapping[str, str]) -> str:
    """A declared cost as it stands in the query."""
    return ", ".join(
        f"{unit} = {amount(value)}" for unit, value in written.items() if unit != "mu_squared"
    )


def cost(total: Mapping[str, Any]) -> str:
    """A cost in every unit in which it may be claimed."""
    pure = amount(total["eps"]) if total.get("eps") else None
    parts = [f"{unit} = {amount(total[unit])}" for unit in ("eps", "rho", "mu") if total.get(unit)]
    parts += [
        f"eps = {amount(pair['eps'])} at delta = {small(pair['delta'])}"
        for pair in total.get("eps_delta", ())
        if pair["delta"] != "0" and amount(pair["eps"]) != pure
    ]
    return "; ".join(parts) or "nothing"


def counted(count: int, one: str) -> str:
    """`three results`; numbers beyond ten in figures."""
    word = _SMALL[count] if 0 <= count < len(_SMALL) else f"{count:,}"
    return f"{word} {one if count == 1 else one + 's'}"


def small(delta: str) -> str:
    """A delta as a plain decimal where it is short, rounded up elsewhere."""
    return delta if len(delta) <= 12 else short_delta(number(delta))


def percent_up(value: float) -> str:
    """A share in percent, rounded up in its last digit."""
    hundred = value * 100
    if hundred >= 10:
        return f"{ceil(hundred - 1e-9)} %"
    places = 1 if hundred >= 1 else 2 if hundred >= 0.1 else 4
    return f"{ceil(hundred * 10**places - 1e-9) / 10**places:g} %"


def percent_down(value: float) -> str:
    """A share in percent, rounded down to one place."""
    return f"{floor(value * 1000 + 1e-9) / 10:g} %"


def of_hundred(share: float) -> str:
    """`3.4 of 100`, rounded up to one place, to none from 10 on."""
    return f"{percent_up(share).removesuffix(' %')} of 100"


def in_hundred(chance: float) -> str:
    """`74 of 100`, rounded up."""
    return f"{ceil(chance * 100 - 1e-9)} of 100"


def one_in(delta: Fraction) -> str:
    """A small chance as `one in 100,000`, rounded up."""
    return f"one in {int(1 / delta):,}"


def figure(value: Any) -> str:
    """A forecast figure with four digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(figure(part) for part in value)
    return "not known" if value is None else str(value)


def label(name: str) -> str:
    """A forecast figure's name in words."""
    return _LABELS.get(name, name.replace("_", " "))


def is_known(name: str) -> bool:
    """Whether a forecast figure means something to a reader who is no statistician."""
    return name in _LABELS


def drawn_on(leaf: Mapping[str, Any]) -> str:
    """` on the score`: which part of a statement a leaf hides; nothing where it hides them all."""
    role = leaf["role"]
    return "" if role in ("", "cap") else f" on the {_ROLES.get(role, role)}"


def noise(leaf: Mapping[str, Any]) -> str:
    """One leaf of a plan: what is drawn, how often, how large against one person's reach."""
    if leaf["scale"] is None:
        unit, value = next(iter(leaf["params"].items()))
        return f"steps chosen while it runs, together never above {unit} = {amount(value)}"
    times = f"{leaf['count']:,} times " if leaf["count"] > 1 else ""
    ratio = number(leaf["scale"]) / number(leaf["sensitivity"])
    is_vector = leaf["kind"] == "pure" and leaf["width"] > 1
    law = _VECTOR if is_vector else _LAWS.get(leaf["kind"], leaf["kind"])
    if leaf["kind"] == "pure" and leaf["factor"] == SEARCH_FACTOR:
        law = f"a noisy search for the first of {leaf['width']} values above 0, which alone is told"
    return (
        f"{times}{law}; its scale is "
        f"{shown(ratio, up=False, digits=3)} times the most by which one person can move the "
        "exact result"
    )


def options(params: Mapping[str, Any]) -> list[str]:
    """Options as they could be written, `auto` with what it became; those not set are left out."""
    return [f"{name}={_option(value)}" for name, value in params.items() if value is not None]


def _option(value: Any) -> str:
    if isinstance(value, Mapping):
        if set(value) == {"auto"}:
            return f"{_option(value['auto'])} (auto)"
        return f"{_option(value['left'])} VS {_option(value['right'])}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_option(part) for part in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def counted_rows(most: int) -> str:
    """How many rows a person may own."""
    return "one row" if most == 1 else f"up to {most} rows"


def person(unit: Mapping[str, Any]) -> str:
    """Who is protected in a dataset."""
    if unit["column"] is None:
        return "one record"
    return f"one person (column `{unit['column']}`, {counted_rows(unit['max'])} each)"


def tables_of_hypotheses(body: Mapping[str, Any]) -> frozenset[str]:
    """The datasets whose rows are hypotheses: those with an asserted sensitivity."""
    return frozenset(
        dataset["name"]
        for dataset in body["datasets"]
        if any(column["sensitivity"] is not None for column in dataset["columns"])
    )


def visible(text: str) -> str:
    """The text with every hidden or bidirectional character written out, as `<U+202E>`."""
    for start, end in reversed(list(hidden(text))):
        shown = "".join(f"<U+{ord(character):04X}>" for character in text[start:end])
        text = text[:start] + shown + text[end:]
    return text
