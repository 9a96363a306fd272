"""RocksDB: options are loaded by db_bench and read back; the program's line is compiled and run."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.lines.devices import NotHereError, RefusedError, loop, mounted, ran
from tests.lines.line import Line

PROGRAM = """#include <rocksdb/options.h>
#include <rocksdb/rate_limiter.h>
#include <cstdio>
int main() {{
    rocksdb::Options options;
    {line}
    std::printf("%lld", static_cast<long long>(options.rate_limiter->GetBytesPerSecond()));
}}
"""
SECTION = re.compile(r"under (\[.*\])")


def _need(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            raise NotHereError(f"{tool} is not installed")


def options(line: Line) -> None:
    """Put the lines into a new database's OPTIONS, open it with them, and see what it writes.

    Raises
    ------
    RefusedError
        If it opens without one of them.
    """
    _need("ldb", "db_bench")
    with loop(line.block_bytes, 512 << 20) as device, mounted(device) as at:
        ran("ldb", f"--db={at}/first", "--create_if_missing", "put", "a", "b")
        text = _latest(at / "first").read_text()
        section = SECTION.search(line.typed_in)
        assert section, line.typed_in
        for each in line.text.splitlines():
            text = _put(text, section[1], each)
        typed = at / "OPTIONS"
        typed.write_text(text)
        words = ["--benchmarks=fillseq", "--num=100", f"--options_file={typed}"]
        ran("db_bench", *words, f"--db={at}/second")
        stands = _latest(at / "second").read_text()
        for each in line.text.splitlines():
            if f"\n  {each}\n" not in stands:
                raise RefusedError(f"{line.text}: it opens without {each}")


def _latest(database: Path) -> Path:
    return max(database.glob("OPTIONS-*"))


def _put(text: str, section: str, setting: str) -> str:
    """Replace a setting of a section."""
    name = setting.split("=")[0]
    before, head, rest = text.partition(section)
    changed, count = re.subn(rf"(?m)^  {name}=.*$", f"  {setting}", rest, count=1)
    if not head or not count or "[" in rest[: rest.index(f"  {name}=")].replace("[]", ""):
        raise RefusedError(f"{section} has no {name}")
    return before + head + changed


def program(line: Line) -> None:
    """Compile it in a program, run that, and see the rate.

    Raises
    ------
    RefusedError
        If it has another one.
    """
    _need("g++")
    if not Path("/usr/include/rocksdb/options.h").exists():
        raise NotHereError("librocksdb-dev is not installed")
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "line.cpp", Path(folder) / "line"
        source.write_text(PROGRAM.format(line=line.text))
        ran("g++", "-std=c++17", str(source), "-lrocksdb", "-o", str(made))
        found = subprocess.run([made], capture_output=True, text=True, timeout=60).stdout
        if f"({found})" not in line.text:
            raise RefusedError(f"{line.text}: the rate is {found}")
