"""A custodian's signature under the head of a ledger, to be kept elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpql.approvals.signatures import public_text, signature_holds, signature_of
from dpql.errors import LedgerDamaged

__all__ = ["HEAD_PURPOSE", "read_signed_head", "sign_head"]

HEAD_PURPOSE = "dpql/head/1"


def sign_head(head: Mapping[str, Any], private_key: Ed25519PrivateKey) -> dict[str, Any]:
    """The head as `Ledger.head` gives it, with the signer's public key and signature."""
    fields = {**head, "public_key": public_text(private_key)}
    return {**fields, "signature": signature_of(HEAD_PURPOSE, fields, private_key)}


def read_signed_head(signed: Mapping[str, Any], public_key: str) -> dict[str, Any]:
    """The head in a signed one; `LedgerDamaged` unless the owner of the key signed it so."""
    fields = {name: value for name, value in signed.items() if name != "signature"}
    signature = signed.get("signature")
    if (
        fields.get("public_key") != public_key
        or not isinstance(signature, str)
        or not signature_holds(HEAD_PURPOSE, fields, public_key, signature)
    ):
        raise LedgerDamaged(
            "the exported head is not signed with the expected key",
            help="compare with another copy of the head",
        )
    return {name: value for name, value in fields.items() if name != "public_key"}
