"""Signatures of reviewers over a plan's hash."""

from __future__ import annotations

from dpql.approvals.approve import sign, verify_approvals
from dpql.approvals.keys import new_key, read_private_key
from dpql.approvals.signatures import public_text, signature_holds, signature_of

__all__ = [
    "new_key",
    "public_text",
    "read_private_key",
    "sign",
    "signature_holds",
    "signature_of",
    "verify_approvals",
]
