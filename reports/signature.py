"""Signatures of packages, by OpenSSH: `ssh-keygen -Y sign` and `verify`; no cryptography of ours.

What is signed is the manifest, which holds the SHA-256 of every other file. The signature is a file
of the package, `manifest.sig`. No call asks for anything: a key with a passphrase is used through
ssh-agent, or not at all.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sessrun.reports.printable import shortened

__all__ = ["NAMESPACE", "SignatureCheck", "SigningError", "check_signature", "sign"]

#: What the signature is for, as OpenSSH calls it: one made for anything else does not count.
NAMESPACE: Final = "sessrun"
_SECONDS: Final = 60
_TOOL: Final = "ssh-keygen"


class SigningError(Exception):
    """A package cannot be signed, or its signature not be looked at; the message says why."""


@dataclass(frozen=True, slots=True)
class SignatureCheck:
    """What is known of who signed a package.

    Attributes:
      signed: whether it carries a signature at all.
      signer: the signer, by the list of allowed signers; None without such a list.
      key: the kind and the fingerprint of the signing key, where the signature is one.
      fault: what speaks against it; None if nothing does.

    """

    signed: bool
    signer: str | None = None
    key: str | None = None
    fault: str | None = None

    @property
    def face(self) -> str:
        """In a few words."""
        if not self.signed:
            return "UNSIGNED"
        if self.fault is not None:
            return "BAD SIGNATURE" if self.key is None else "SIGNED by an unknown signer"
        if self.signer is not None:
            return f"SIGNED by {self.signer} ({self.key})"
        return f"SIGNED with {self.key}, by whom is not known"


def sign(content: bytes, key: Path) -> bytes:
    """The signature of some bytes, as OpenSSH writes it.

    Args:
      content: what is signed.
      key: the file of a private key, or of a public one whose other half ssh-agent holds.

    Raises:
      SigningError: there is no such key, it asks for a passphrase, or there is no ssh-keygen.

    """
    if not key.is_file():
        raise SigningError(f"{key} is no file of a key")
    with tempfile.TemporaryDirectory(prefix="sessrun-") as folder:
        path = Path(folder) / "manifest.json"
        path.write_bytes(content)
        done = _run(["-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(path)])
        signature = path.with_name("manifest.json.sig")
        if done.returncode or not signature.is_file():
            raise SigningError(_refusal(key, done))
        return signature.read_bytes()


def _refusal(key: Path, done: subprocess.CompletedProcess[bytes]) -> str:
    output = _said(done)
    if "passphrase" in output.lower():
        return (
            f"the key {key} has a passphrase, and nobody is asked for it here: "
            f"give it to ssh-agent first (ssh-add {key})"
        )
    return f"{_TOOL} does not sign with {key}: {output}"


def check_signature(
    content: bytes, signature: bytes | None, signers: Path | None
) -> SignatureCheck:
    """Who signed some bytes.

    Args:
      content: what should be signed.
      signature: the signature; None if there is none.
      signers: a file of allowed signers (`man ssh-keygen`), one of whom must have signed; without
        one only the key is returned.

    Raises:
      SigningError: there is no ssh-keygen, or no such file of signers.

    """
    if signers is not None and not signers.is_file():
        raise SigningError(f"{signers} is no file of allowed signers")
    if signature is None:
        fault = None if signers is None else "It is not signed, and --signers demands a signature."
        return SignatureCheck(signed=False, fault=fault)
    with tempfile.TemporaryDirectory(prefix="sessrun-") as folder:
        path = Path(folder) / "manifest.sig"
        path.write_bytes(signature)
        checked = _run(["-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(path)], content)
        if checked.returncode:
            fault = f"The signature is not one of this manifest: {_said(checked)}"
            return SignatureCheck(signed=True, fault=fault)
        key = _said(checked).rpartition(" with ")[2]
        if signers is None:
            return SignatureCheck(signed=True, key=key)
        return _by_whom(content, path, signers, key)


def _by_whom(content: bytes, signature: Path, signers: Path, key: str) -> SignatureCheck:
    asked = _run(["-Y", "find-principals", "-s", str(signature), "-f", str(signers)])
    names = "" if asked.returncode else asked.stdout.decode("utf-8", "replace")
    for name in filter(None, map(str.strip, re.split(r"[,\n]", names))):
        done = _run(
            ["-Y", "verify", "-f", str(signers), "-I", name, "-n", NAMESPACE, "-s", str(signature)],
            content,
        )
        if not done.returncode:
            return SignatureCheck(signed=True, signer=name, key=key)
    fault = f"It is signed with {key}, which is no key of an allowed signer in {signers}."
    return SignatureCheck(signed=True, key=key, fault=fault)


def _run(arguments: Sequence[str], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    tool = shutil.which(_TOOL)
    if tool is None:
        raise SigningError(f"there is no {_TOOL} here: signatures are made and checked by OpenSSH")
    # No terminal and no window to ask for a passphrase: a CI would wait for ever.
    quiet = {"SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C"}
    try:
        return subprocess.run(  # noqa: S603 - a list of arguments, no shell
            [tool, *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            start_new_session=True,
            env={**os.environ, **quiet},
        )
    except subprocess.TimeoutExpired as error:
        raise SigningError(f"{_TOOL} {arguments[1]} takes more than {_SECONDS} s") from error


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last line that the tool has written, on either stream."""
    text = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return shortened(lines[-1], 300) if lines else f"it ended with status {done.returncode}"
