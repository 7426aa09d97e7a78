"""Whether a plan's certificate proves its cost, asked of the independent checker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpql import checker
from dpql.errors import CertificateRefused, PlanRefused
from planner.encode import canonical

__all__ = ["require"]


def require(certificate: Mapping[str, Any], body: Mapping[str, Any]) -> None:
    """Raise `CertificateRefused` unless the checker accepts the derivation of every total."""
    try:
        checker.check(dict(certificate), canonical(body), None)
    except checker.Rejected as reason:
        raise CertificateRefused(
            "the certificate does not prove the plan's cost",
            note=str(reason)[:300],
            help="plan the query anew, and let it be reviewed anew",
        ) from reason
    except (TypeError, ValueError, KeyError) as failure:
        raise PlanRefused("the certificate of the plan is not well formed") from failure
