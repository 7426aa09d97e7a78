"""Multiple testing with e-values of which only some were released.

The hypotheses that were not released count as e-value 0; `hypotheses` is the number of all of
them. Nothing here needs the e-values to be independent. Which hypotheses were released may depend
on the data in any way, but the noise of each released value must be independent of everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log

__all__ = ["bonferroni", "ebh", "threshold"]


def ebh(
    log_evalues: Sequence[float], hypotheses: int, level: float, log_k: float = 0.0
) -> tuple[bool, ...]:
    """Which of the released log e-values are rejected by the e-BH rule at FDR `level`.

    The R largest are rejected, R the largest k for which the k-th largest `value - log_k` is at
    least `log(hypotheses / (level k))`. With `log_k = 0` this is plain e-BH; with log K of the
    noise (`evalue_constant.log_k`) it is the boosted rule. FDR <= level times the share of true
    nulls, under any dependence. Raises ValueError for a level outside (0, 1), for fewer hypotheses
    than values, and for a value that is not finite.
    """
    _guard(log_evalues, hypotheses, level, log_k)
    ranked = sorted(log_evalues, reverse=True)
    rejections = 0
    for k, value in enumerate(ranked, 1):
        if value >= threshold(hypotheses, level, k, log_k):
            rejections = k
    if rejections == 0:
        return (False,) * len(log_evalues)
    border = threshold(hypotheses, level, rejections, log_k)
    return tuple(value >= border for value in log_evalues)


def bonferroni(
    log_evalues: Sequence[float], hypotheses: int, level: float, log_k: float = 0.0
) -> tuple[bool, ...]:
    """Which of the released log e-values reach `log(hypotheses / level) + log_k`.

    The chance of any false rejection is at most `level`, under any dependence, also where the
    number of released values depended on the data. The threshold is of the form `K / level` on
    purpose: the least threshold at `level / hypotheses` for noise of a fixed scale may be smaller,
    and would not be valid there.
    """
    _guard(log_evalues, hypotheses, level, log_k)
    border = threshold(hypotheses, level, 1, log_k)
    return tuple(value >= border for value in log_evalues)


def threshold(hypotheses: int, level: float, rejections: int, log_k: float = 0.0) -> float:
    """`log(hypotheses / (level rejections)) + log_k`: what a value needs among so many others."""
    return log(hypotheses) - log(level) + log_k - log(rejections)


def _guard(log_evalues: Sequence[float], hypotheses: int, level: float, log_k: float) -> None:
    if not 0 < level < 1:
        raise ValueError("a level lies between 0 and 1")
    if len(log_evalues) > hypotheses:
        raise ValueError("there are more values than hypotheses")
    if not all(isfinite(value) for value in log_evalues) or not isfinite(log_k):
        raise ValueError("a released log e-value is a finite number")
