"""The tools people will use beside ssdscope: a browser on the page, zstd on a trace."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdscope.cli.app import run_cli
from ssdscope.report import sustaining

pytestmark = pytest.mark.e2e

CHROMIUM = shutil.which("chromium")
ZSTD = shutil.which("zstd")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page by the command line, of few runs."""
    out = tmp_path_factory.mktemp("page") / "page.html"
    words = ("characterize", "sim:msr-4gb", "--budget", "4s", "-O", str(out), "--seed", "1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sustaining, "CORE_NS_PER_S", 2.7e5)  # those at rest are in `test_page`
        assert run_cli(words) == 0
    return out


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_opens_in_a_browser_without_complaints(
    page: Path, tmp_path: Path, width: int
) -> None:
    done = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},800",
            "--enable-logging=stderr", "--dump-dom", page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )  # fmt: skip
    assert "sim:msr-4gb" in done.stdout
    assert "</html>" in done.stdout
    # What a page says on its console: refused styles and scripts, missing files, exceptions.
    assert [line for line in done.stderr.splitlines() if ":CONSOLE" in line] == []


@pytest.mark.skipif(ZSTD is None, reason="zstd is not installed")
def test_a_trace_packed_by_zstd_is_read(cli: Callable[..., Any], tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text(
        "".join(f"{10**15 + i * 1000} 0 {i * 8} 8 1\n" for i in range(100)), encoding="utf-8"
    )
    subprocess.run([str(ZSTD), "--quiet", "-19", "--long=24", str(trace)], check=True, timeout=60)
    said = cli("replay", "sim:mqsim-8g", f"{trace}.zst", "--seed", "1", "-o", "json")
    assert said.document["trace"]["requests"] == 100
