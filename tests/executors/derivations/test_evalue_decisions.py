"""DERIVE ebh and bonferroni on a stored release of a peeling."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from pydantic import ValidationError

from executors.derivations import bonferroni, ebh
from executors.registry import REGISTRY
from executors.statistics.evalue_constant import log_k


def stored(log_evalues: list[float], sigma: float, hypotheses: int) -> dict[str, Any]:
    names = [f"rs{i}" for i in range(len(log_evalues))]
    release = {
        "value": {"selected": names, "log_evalue": log_evalues, "hypotheses": hypotheses},
        "uncertainty": {"sigma": sigma, "log_k": log_k(sigma)},
    }
    return dict(json.loads(json.dumps(release)))


def test_the_boosted_rule_is_the_default() -> None:
    release = stored([3.68, 2.98], 1.2, 5)
    found = ebh.run(ebh.EbhParams(), release)
    assert found["value"]["rejected"] == ["rs0", "rs1"]
    plain = ebh.run(ebh.EbhParams(rule="plain"), release)
    assert plain["value"]["rejected"] == []
    assert plain["value"]["threshold"] == pytest.approx(math.log(5 / 0.05))


def test_a_larger_level_rejects_more() -> None:
    release = stored([6.0, 3.0, 1.0], 0.5, 10)
    strict = ebh.run(ebh.EbhParams(level=Fraction(1, 100)), release)["value"]["rejected"]
    loose = ebh.run(ebh.EbhParams(level=Fraction(1, 2)), release)["value"]["rejected"]
    assert set(strict) < set(loose)


def test_bonferroni_uses_the_constant_of_the_noise() -> None:
    release = stored([5.0, 4.0, 1.0], 3.0, 20)
    found = bonferroni.run(bonferroni.BonferroniParams(), release)["value"]
    border = math.log(20 / 0.05) + log_k(3.0)
    assert found["threshold"] == pytest.approx(border)
    assert found["rejected"] == [f"rs{i}" for i, v in enumerate((5.0, 4.0, 1.0)) if v >= border]
    assert found["rejected"] == ["rs0", "rs1"]


def test_levels_outside_their_range_are_refused() -> None:
    for level in (Fraction(0), Fraction(1), Fraction(3, 2)):
        with pytest.raises(ValidationError):
            ebh.EbhParams(level=level)
        with pytest.raises(ValidationError):
            bonferroni.BonferroniParams(level=level)


def test_both_are_in_the_registry() -> None:
    for name in ("ebh", "bonferroni"):
        found = REGISTRY.derivation(name)
        assert found is not None
        assert found.name == name
        assert found.accepts == ("PEEL evalues",)
