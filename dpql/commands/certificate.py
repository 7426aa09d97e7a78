"""`dpql certificate verify`: the independent check of a plan's cost."""

from __future__ import annotations

from pathlib import Path

from dpql import checker
from dpql.errors import UsageError
from dpql.failing import FINDINGS, OK, say
from dpql.json_file import read_object

__all__ = ["verify"]


def verify(plan: Path, certificate: Path | None) -> int:
    """Check the certificate of a plan file, or another one against it."""
    content = read_object(plan, "a plan file")
    if not isinstance(content.get("body"), dict):
        raise UsageError(f"`{plan}` holds no plan", help="`dpql plan FILE -o plan.json` writes one")
    proof = (
        content.get("certificate")
        if certificate is None
        else read_object(certificate, "a certificate")
    )
    if not isinstance(proof, dict) or "nodes" not in proof:
        raise UsageError(
            f"`{certificate or plan}` holds no certificate",
            help="`dpql plan FILE -o plan.json` writes a plan with its certificate",
        )
    try:
        checker.check(proof, checker.canonical(content["body"]).encode(), None)
    except checker.Rejected as reason:
        say(f"error[DPQL-E083]: the certificate does not prove the plan's cost: {reason}")
        return FINDINGS
    print("the certificate proves:")
    for total in proof["totals"]:
        where = total["dataset"] + (f" at {total['site']}" if total["site"] else "")
        claims = ", ".join(f"{unit} <= {value}" for unit, value in total["out"].items())
        print(f"  {where}: {claims}")
    return OK
