"""Take the pictures of the page that the README and the documentation show, from a real page.

    python scripts/screenshots.py [--page out/report.html] [--out docs/images]

Without a page it makes one: `ssdscope characterize` of a drive of the papers, some minutes. Needs
chromium. Pictures keep 256 colours: a page has few, and a repository keeps every version.
"""

import argparse
import html
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

DRIVE = "sim:kuo-samsung-slc"
SEED = 1
ROOT = Path(__file__).resolve().parents[1]
BYTES_MAX = 300_000
SHOTS: dict[str, tuple[str, int, int, bool]] = {
    "report.png": ("", 1160, 1010, False),
    "report-findings.png": ("findings", 1160, 1130, False),
    "report-dark.png": ("performance", 1160, 1180, True),
}
"""By file: the section on top, width and height in pixels, and whether the page is dark."""


def make_page(folder: Path) -> Path:
    """Characterise the drive and give its page."""
    page = folder / "report.html"
    call = ["ssdscope", "characterize", DRIVE, "--seed", str(SEED), "-O", str(page)]
    subprocess.run([str(Path(sys.executable).parent / call[0]), *call[1:]], check=True)
    return page


def at(page: Path, section: str, width: int, height: int) -> str:
    """Put the page into a frame that shows a section: a browser without a head scrolls nowhere."""
    source = html.escape(page.read_text(encoding="utf-8"), quote=True)
    style = f"width:{width}px;height:{height}px;border:0"
    return (
        f'<body style="margin:0"><iframe id="page" style="{style}" srcdoc="{source}"></iframe>'
        "<script>onload = () => document.getElementById('page').contentDocument"
        f".getElementById('{section}')?.scrollIntoView()</script>"
    )


def shoot(page: Path, shot: tuple[str, int, int, bool], to: Path) -> None:
    """Take one picture, with few colours."""
    section, width, height, dark = shot
    browser = shutil.which("chromium")
    if browser is None:
        sys.exit("chromium is not installed\n\nhint: on Debian, apt-get install chromium")
    look = ["--blink-settings=preferredColorScheme=0"] if dark else []
    with tempfile.TemporaryDirectory() as profile:
        framed = Path(profile) / "frame.html"
        framed.write_text(at(page, section, width, height), encoding="utf-8")
        subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--force-prefers-reduced-motion", f"--user-data-dir={profile}", *look,
                f"--window-size={width},{height}", f"--screenshot={to}", framed.as_uri(),
            ],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
    with Image.open(to) as taken:
        small = taken.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(to, optimize=True)
    size = to.stat().st_size
    if size > BYTES_MAX:
        sys.exit(f"{to} takes {size:,} bytes, more than {BYTES_MAX:,}")
    print(f"{to}: {size:,} bytes")


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, help="a page that is there already")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = asked.page or make_page(Path(folder))
        for name, shot in SHOTS.items():
            shoot(page, shot, asked.out / name)


if __name__ == "__main__":
    main()
