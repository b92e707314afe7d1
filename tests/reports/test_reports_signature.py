"""Signatures by ssh-keygen: made, told on the face, refused where they are not what they say."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sessrun.cli.main import main
from sessrun.reports import signature as signatures
from sessrun.reports.archive import PackageError, pack
from sessrun.reports.json_forms import json_bytes
from sessrun.reports.package import SIGNATURE, open_package, write_package
from sessrun.reports.signature import SignatureCheck, SigningError, check_signature, sign
from sessrun.reports.verify import Verification, verify

_KEYGEN, _AGENT, _ADD = (
    shutil.which(name) or name for name in ("ssh-keygen", "ssh-agent", "ssh-add")
)
needs_openssh = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="signatures are made by OpenSSH"
)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the keys `ours`, `theirs`, `locked` (a passphrase) and the file `signers`."""
    folder = tmp_path_factory.mktemp("keys")
    for name, passphrase in (("ours", ""), ("theirs", ""), ("locked", "secret")):
        subprocess.run(
            [_KEYGEN, "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", name],
            cwd=folder,
            check=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
    (folder / "signers").write_text(f"lab@example {(folder / 'ours.pub').read_text()}")
    return folder


def signed(certified: Any, key: Path, path: Path) -> Any:
    run = certified.run
    write_package(
        path,
        run.path,
        run.plan,
        run.clauses,
        replay_of=certified.installed.replay_of,
        sign=lambda manifest: sign(manifest, key),
    )
    return open_package(path.read_bytes(), path.name)


def checked(package: Any, signers: Path | None) -> SignatureCheck:
    return check_signature(package.files["manifest.json"], package.signature, signers)


def verified(certified: Any, package: Any, signers: Path | None) -> Verification:
    return verify(package, certified.installed, signature=checked(package, signers))


@needs_openssh
def test_a_signed_package_says_who_signed(good: Any, keys: Path, tmp_path: Path) -> None:
    package = signed(good, keys / "ours", tmp_path / "p.zip")
    assert package.manifest["signature"] == SIGNATURE
    found = verified(good, package, keys / "signers")
    assert found.verified
    assert found.verdict == "CERTIFIED"
    assert found.signature.face.startswith("SIGNED by lab@example (ED25519 key SHA256:")
    form = found.to_json()
    assert form["signed"] is True
    assert form["signer"] == "lab@example"
    assert "UNSIGNED" not in " ".join(found.limits)


@needs_openssh
def test_without_a_list_of_signers_the_key_is_told_and_no_name(
    good: Any, keys: Path, tmp_path: Path
) -> None:
    found = verified(good, signed(good, keys / "ours", tmp_path / "p.zip"), None)
    assert found.verified
    assert "by whom is not known" in found.signature.face


@needs_openssh
def test_an_unknown_signer_is_refused(good: Any, keys: Path, tmp_path: Path) -> None:
    found = verified(good, signed(good, keys / "theirs", tmp_path / "p.zip"), keys / "signers")
    assert found.status == "REFUSED"
    assert found.verdict is None
    assert "no key of an allowed signer" in " ".join(found.faults)
    assert found.to_json()["signed"] is False


@needs_openssh
def test_a_package_that_was_changed_is_refused(good: Any, keys: Path, tmp_path: Path) -> None:
    package = signed(good, keys / "ours", tmp_path / "p.zip")
    manifest = package.files["manifest.json"].replace(b"2026-11-21", b"2026-11-22")
    changed = open_package(pack({**package.files, "manifest.json": manifest}), "p.zip")
    found = verified(good, changed, keys / "signers")
    assert found.signature.face == "BAD SIGNATURE"
    assert "not one of this manifest" in " ".join(found.faults)


@needs_openssh
def test_a_signature_for_something_else_is_none(good: Any, keys: Path, tmp_path: Path) -> None:
    package = signed(good, keys / "ours", tmp_path / "p.zip")
    path = tmp_path / "m.json"
    path.write_bytes(package.files["manifest.json"])
    subprocess.run(
        [_KEYGEN, "-q", "-Y", "sign", "-n", "file", "-f", keys / "ours", path],
        check=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    found = check_signature(
        path.read_bytes(), path.with_name("m.json.sig").read_bytes(), keys / "signers"
    )
    assert found.fault is not None


@needs_openssh
def test_a_signature_taken_away_is_missed(good: Any, keys: Path, tmp_path: Path) -> None:
    files = dict(signed(good, keys / "ours", tmp_path / "p.zip").files)
    del files[SIGNATURE]
    package = open_package(pack(files), "p.zip")
    assert "its signature is not there" in " ".join(verified(good, package, None).faults)


def test_a_signature_that_the_manifest_does_not_name_is_refused(good: Any) -> None:
    package = open_package(pack({**good.open().files, SIGNATURE: b"?"}), "p.zip")
    found = verify(package, good.installed, signature=SignatureCheck(signed=False))
    assert "of which the manifest says nothing" in " ".join(found.faults)


def test_a_package_says_that_it_is_unsigned(good: Any) -> None:
    found = verified(good, good.open(), None)
    assert found.verified
    assert found.signature.face == "UNSIGNED"
    assert "It is UNSIGNED." in [text for check in found.checks for text in check.sentences]


def test_whoever_names_signers_takes_no_unsigned_package(good: Any, tmp_path: Path) -> None:
    (tmp_path / "signers").write_text("")
    found = verified(good, good.open(), tmp_path / "signers")
    assert found.status == "REFUSED"
    assert found.signature.face == "UNSIGNED"


def test_another_word_for_the_signature_is_no_package(good: Any) -> None:
    files = dict(good.open().files)
    manifest = good.open().manifest | {"signature": "other.sig"}
    with pytest.raises(PackageError):
        open_package(pack({**files, "manifest.json": json_bytes(manifest)}), "p.zip")


@needs_openssh
def test_a_passphrase_is_asked_of_nobody(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with pytest.raises(SigningError, match="ssh-add"):
        sign(b"content", keys / "locked")


@needs_openssh
@pytest.mark.skipif(shutil.which("ssh-agent") is None, reason="needs ssh-agent")
def test_a_key_with_a_passphrase_signs_through_the_agent(
    keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = tmp_path / "ask"
    asking.write_text("#!/bin/sh\necho secret\n")
    asking.chmod(0o700)
    socket = tmp_path / "agent"
    agent = subprocess.Popen([_AGENT, "-D", "-a", socket], stdout=subprocess.DEVNULL)
    try:
        while not socket.exists():
            assert agent.poll() is None
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        subprocess.run(
            [_ADD, "-q", keys / "locked"],
            check=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "SSH_ASKPASS": str(asking), "SSH_ASKPASS_REQUIRE": "force"},
        )
        for name in ("locked", "locked.pub"):
            assert check_signature(b"content", sign(b"content", keys / name), None).fault is None
    finally:
        agent.terminate()
        agent.wait()


def test_what_is_no_key_is_told(tmp_path: Path) -> None:
    with pytest.raises(SigningError, match="is no file of a key"):
        sign(b"content", tmp_path / "gone")
    with pytest.raises(SigningError, match="is no file of allowed signers"):
        check_signature(b"content", b"?", tmp_path / "gone")


def test_without_openssh_that_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text("")
    monkeypatch.setenv("PATH", str(tmp_path))
    for call in (lambda: sign(b"", tmp_path / "key"), lambda: check_signature(b"", b"?", None)):
        with pytest.raises(SigningError, match="there is no ssh-keygen here"):
            call()
    assert check_signature(b"", None, None).face == "UNSIGNED", "that needs no tool"


def test_a_key_that_does_not_sign_is_told_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["certify", "reference", "--sign", str(tmp_path / "gone")]) == 2
    assert "is no file of a key" in capsys.readouterr().err


def test_a_tool_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "ssh-keygen"
    tool.write_text("#!/bin/sh\nexec sleep 60\n")
    tool.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(signatures, "_SECONDS", 0.2)
    with pytest.raises(SigningError, match="takes more than"):
        check_signature(b"", b"?", None)
