"""Ed25519 signatures over RFC 8785 bytes, each bound to one purpose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

__all__ = ["public_text", "signature_holds", "signature_of"]

_PUBLIC = re.compile(r"ed25519:([0-9a-f]{64})")
_SIGNATURE = re.compile(r"[0-9a-f]{128}")


def public_text(key: Ed25519PrivateKey | Ed25519PublicKey) -> str:
    """`ed25519:` and the 32 bytes of the public key in hexadecimal."""
    public = key.public_key() if isinstance(key, Ed25519PrivateKey) else key
    return f"ed25519:{public.public_bytes_raw().hex()}"


def _message(purpose: str, fields: Mapping[str, Any]) -> bytes:
    # The purpose cannot be mistaken for the JSON after it: no purpose holds a line break.
    return purpose.encode("ascii") + b"\n" + rfc8785.dumps(dict(fields))


def signature_of(purpose: str, fields: Mapping[str, Any], key: Ed25519PrivateKey) -> str:
    """The signature, in hexadecimal, of the fields for one purpose such as `dpql/approval/1`."""
    return key.sign(_message(purpose, fields)).hex()


def signature_holds(purpose: str, fields: Mapping[str, Any], public: str, signature: str) -> bool:
    """Whether the owner of the public key signed exactly these fields for this purpose."""
    key = _PUBLIC.fullmatch(public)
    if key is None or _SIGNATURE.fullmatch(signature) is None:
        return False
    try:
        message = _message(purpose, fields)
        owner = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key[1]))
        owner.verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError, rfc8785.CanonicalizationError):
        return False
    return True
