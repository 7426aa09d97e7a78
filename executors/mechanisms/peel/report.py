"""What a peeling releases: nothing about a hypothesis that was not selected."""

from __future__ import annotations

from statistics import NormalDist

from executors.mechanisms.peel.params import EvaluesParams
from executors.release import NoiseNote, Outcome
from executors.statistics.ebh import ebh, threshold
from executors.statistics.evalue_constant import log_k

__all__ = ["CAVEAT", "outcome"]

CAVEAT = (
    "a single selected value is not by itself an e-value for its hypothesis, since it was selected "
    "for being large; the vector that holds the released values and 0 for every hypothesis not "
    "selected is one of e-values, and only rules that use that vector (e-BH, Bonferroni with all "
    "hypotheses counted) are valid"
)
CONFIDENCE = 0.95


def outcome(
    params: EvaluesParams,
    names: tuple[str | int, ...],
    log_evalues: tuple[float, ...],
    sigma: float,
    hypotheses: int,
    notes: tuple[NoiseNote, ...],
) -> Outcome:
    """The outcome of a run from what was drawn.

    The released log e-values carry their centring, sigma^2 / 2. The boosted ones that decide are
    not released: they are no e-values.
    """
    level = float(params.level)
    boost = log_k(sigma)
    used = boost if params.rule == "boosted" else 0.0
    decisions = ebh(log_evalues, hypotheses, level, used)
    rejected = [name for name, is_rejected in zip(names, decisions, strict=True) if is_rejected]
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * sigma
    before = [value + sigma * sigma / 2 for value in log_evalues]
    return Outcome(
        value={
            "selected": list(names),
            "log_evalue": list(log_evalues),
            "rejected": rejected,
            "size": len(names),
            "hypotheses": hypotheses,
            "level": level,
            "rule": params.rule,
            "threshold": threshold(hypotheses, level, max(1, len(rejected)), used),
        },
        uncertainty={
            "sigma": sigma,
            "log_k": boost,
            "caveat": CAVEAT,
            "without_noise": {
                "confidence": CONFIDENCE,
                "lower": [value - half for value in before],
                "upper": [value + half for value in before],
            },
        },
        noise=notes,
        notes=(
            "log e-values are natural logarithms; every hypothesis that was not selected has "
            "e-value 0",
            f"the expected share of false discoveries among the rejected is at most {level:g} "
            f"({params.rule} e-BH), however the e-values depend on each other",
            "the intervals are about the log e-value of the table without the noise",
        ),
        tables={
            "selected": {
                "hypothesis": names,
                "log_evalue": log_evalues,
                "rejected": decisions,
            }
        },
    )
