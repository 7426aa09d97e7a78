"""Reviewers' key files: a private one that is never overwritten, a public one to hand on."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpql.approvals.signatures import public_text
from dpql.errors import ApprovalRefused

__all__ = ["new_key", "read_private_key"]


def new_key(path: str | Path, password: str | None = None) -> str:
    """Make a key pair and return the public key's text.

    Writes the private key as PEM to `path` (readable by its owner only, encrypted if there is a
    password) and the public key's text to `path` with `.pub` added. Refuses where either exists.
    """
    private_path = Path(path)
    public_path = private_path.with_name(private_path.name + ".pub")
    for taken in (private_path, public_path):
        if taken.exists() or taken.is_symlink():
            raise ApprovalRefused(
                f"`{taken}` exists and is not overwritten",
                note="a lost key cannot be made again, and nobody else can sign with it",
                help="choose another name for the new key",
            )
    key = Ed25519PrivateKey.generate()
    lock: serialization.KeySerializationEncryption = (
        serialization.NoEncryption()
        if password is None
        else serialization.BestAvailableEncryption(password.encode())
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock)
    text = public_text(key)
    _write_new(private_path, pem, 0o600)
    _write_new(public_path, f"{text}\n".encode(), 0o644)
    return text


def _write_new(path: Path, data: bytes, mode: int) -> None:
    """Write a file that does not exist yet, to disk before returning."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise ApprovalRefused(f"`{path}` cannot be written", note=error.strerror or "") from error


def read_private_key(path: str | Path, password: str | None = None) -> Ed25519PrivateKey:
    """The private key of a file that `new_key` wrote."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ApprovalRefused(f"`{path}` cannot be read", note=error.strerror or "") from error
    try:
        key = serialization.load_pem_private_key(
            data, None if password is None else password.encode()
        )
    except (ValueError, TypeError) as error:
        is_public = data.startswith(b"ed25519:")
        raise ApprovalRefused(
            f"`{path}` is the public half of a key"
            if is_public
            else f"`{path}` is not a private key that opens with this password",
            help="sign with the private half, which lies beside it without `.pub`"
            if is_public
            else "`dpql key new` makes a key",
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ApprovalRefused(f"`{path}` is not an Ed25519 key", help="`dpql key new` makes one")
    return key
