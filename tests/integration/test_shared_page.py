"""A page that is given away: nothing of its owner is in it, in no form, byte by byte."""

import base64
import html
import importlib
import json
import os
import platform
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from ssdscope.errors import DeviceError
from ssdscope.probes.budget import Budget
from ssdscope.report import Disclosure, characterize, stages
from ssdscope.report.replay import TraceFile
from ssdscope.report.tried import TRIED
from ssdscope.targets import open_target
from ssdscope.targets.opening import identify

# The package offers the function under the module's name.
characterizing = importlib.import_module("ssdscope.report.characterize")

HOST, USER, BUILD = "kronos-7", "mallory", "6.1.0-18-made-up-build"
SERIAL = "S4EWNX0M123456"
FOLDER = "Mallory & Söhne's <geheime> 100% Läufe"
NAMES = ("telling-drive", "telling-trace")
QUICK = Budget("default", wall_s=3, repetitions=1)


def forms(secret: str) -> set[bytes]:
    """All ways in which a text may stand in a page, in its JSON, or in a picture."""
    written = {
        secret,
        html.escape(secret, quote=True),
        html.escape(secret, quote=False),
        secret.encode("ascii", "xmlcharrefreplace").decode(),
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
    }
    return {form.casefold().encode() for form in written}


def found(secrets: list[str], written: bytes) -> set[str]:
    """Those that are in what was written, in any form and in any case."""
    # What a link holds is searched as well.
    held = b"".join(base64.b64decode(each) for each in re.findall(rb"base64,([\w+/=]+)", written))
    folded = (written + held).decode().casefold().encode()
    return {secret for secret in secrets if any(form in folded for form in forms(secret))}


@pytest.fixture
def owned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file and a trace in a folder with a telling name, on a machine with one."""
    folder = tmp_path / USER / FOLDER
    folder.mkdir(parents=True)
    (folder / "telling-drive.bin").write_bytes(os.urandom(16 << 20))
    rows = "".join(f"0,{8 * i},4096,r,{i / 10_000}\n" for i in range(50))
    comment = f"# synthetic: made by {USER} on {HOST}\n"
    (folder / "telling-trace.spc").write_text(comment + rows, encoding="utf-8")
    monkeypatch.setattr(platform, "node", lambda: f"{HOST}.example.org")
    monkeypatch.setattr(platform, "release", lambda: BUILD)
    monkeypatch.setenv("LOGNAME", USER)
    in_use = {"serial": SERIAL, "in_use": [f"vda1 is mounted at /srv/{USER}"]}
    monkeypatch.setattr("ssdscope.report.identity.identify", lambda path: identify(path) | in_use)
    return folder


def nothing(*_: Any) -> None:
    """A stage that measures nothing."""


@pytest.fixture
def page(owned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bytes]:
    """Make a page and give all that was ever written for it."""

    def make(disclosure: Disclosure, *, only_replay: bool = False) -> bytes:
        written: list[str] = []
        original = characterizing.write_text

        def write(path: Path, text: str) -> None:
            written.append(text)
            original(path, text)

        monkeypatch.setattr(characterizing, "write_text", write)
        if only_replay:
            left_out = dict.fromkeys(stages.RUN, nothing)
            chosen = left_out | {"trace": stages.RUN["trace"]}
            monkeypatch.setattr(stages, "RUN", chosen)
        try:
            target = open_target(str(owned / "telling-drive.bin"))
        except DeviceError as error:
            pytest.skip(f"no direct I/O here: {error}")
        made = characterize(
            target,
            budget=QUICK,
            seed=1,
            out_html=tmp_path / "page.html",
            out_json=tmp_path / "page.json",
            trace=TraceFile(owned / "telling-trace.spc"),
            disclosure=disclosure,
        )
        files = [(tmp_path / name).read_bytes() for name in ("page.html", "page.json")]
        told = json.dumps(made.to_json(), ensure_ascii=False)
        return b"\n".join([*files, told.encode(), *(text.encode() for text in written)])

    return make


SECRETS = [HOST, USER, BUILD, SERIAL, FOLDER, *NAMES]


def test_an_anonymous_page_holds_nothing_of_its_owner(page: Callable[..., bytes]) -> None:
    written = page(Disclosure.ANONYMOUS)
    assert found(SECRETS, written) == set()
    assert b"<metadata" not in written
    assert b"<svg" in written, "pictures were searched too"
    assert f"…{SERIAL[-4:]}".encode() in written
    assert (
        b"ssdscope characterize FILE --budget default --seed 1 --trace TRACE --anonymous" in written
    )


def test_a_page_without_an_option_names_no_host_and_no_whole_serial(
    page: Callable[..., bytes],
) -> None:
    written = page(Disclosure.MASKED, only_replay=True)
    assert found(SECRETS, written) == {*SECRETS} - {HOST, SERIAL}
    assert f"…{SERIAL[-4:]}".encode() in written


def test_every_page_says_on_what_kinds_of_targets_its_statements_were_tried(
    page: Callable[..., bytes],
) -> None:
    written = page(Disclosure.MASKED, only_replay=True)
    for kind, sentence in TRIED.items():
        assert written.count(html.escape(sentence).encode()) >= 1, kind


def test_a_page_with_identity_names_all(page: Callable[..., bytes]) -> None:
    """And so the search of this test finds what there is to find."""
    assert found(SECRETS, page(Disclosure.WHOLE, only_replay=True)) == {*SECRETS}


def test_a_trace_that_breaks_off_is_quoted_without_its_path(
    page: Callable[..., bytes], owned: Path
) -> None:
    with (owned / "telling-trace.spc").open("a", encoding="utf-8") as trace:
        trace.write(f"written by {USER}\n")
    written = page(Disclosure.ANONYMOUS, only_replay=True)
    assert b"TRACE was not replayed" in written
    assert found(SECRETS, written) == set()


def test_doctor_identifies_a_target_in_full(cli: Any, owned: Path) -> None:
    path = str(owned / "telling-drive.bin")
    said = cli("doctor", "--identify", path, "-o", "json").document["identity"]
    assert said == identify(path)
    assert said["token"] == "FILE:telling-drive.bin"


def test_the_two_options_exclude_each_other(cli: Any, tmp_path: Path) -> None:
    said = cli(
        "characterize", "null:", "-O", str(tmp_path / "p.html"), "--anonymous", "--with-identity"
    )
    assert said.status == 2
    assert "exclude each other" in said.err
    assert not (tmp_path / "p.html").exists()
