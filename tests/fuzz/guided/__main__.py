"""Build the program and let it run for a while; exit code 1 if it found something, which it keeps and names."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from crawler.launch import speedups
from tests.fuzz.scanned import CLEAN, PIECES
from tests.fuzz.seeds import PAGES

ROOT = Path(__file__).parents[3]
SANITIZED = ("-g", "-O1", "-fno-omit-frame-pointer", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all")
MAX_PAGE = 4096  # bytes


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="how long (default: 60)")
    parser.add_argument("--corpus", type=Path, help="folder of the pages found before, to which new ones are added")
    parser.add_argument("--out", type=Path, default=Path(), help="folder for what it finds (default: this one)")
    given = parser.parse_args(arguments)
    clang = shutil.which("clang")
    if clang is None:
        print("clang is missing (Debian, Ubuntu: sudo apt install clang).", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="guided-") as name:
        folder = Path(name)
        corpus = given.corpus or folder / "corpus"
        corpus.mkdir(parents=True, exist_ok=True)
        for number, page in enumerate((*CLEAN, *PAGES)):
            (corpus / f"seed-{number}").write_bytes(page[:MAX_PAGE])
        words = folder / "words"
        words.write_text("".join(f'"{_escaped(piece)}"\n' for piece in PIECES))
        options = [f"-dict={words}", f"-max_len={MAX_PAGE}", f"-max_total_time={given.seconds}", "-timeout=10"]
        options += [f"-artifact_prefix={given.out}/", "-rss_limit_mb=3000", "-print_final_stats=1"]
        ended = subprocess.run([built(clang, folder), *options, corpus], env=_environment(), check=False)
    return int(ended.returncode != 0)


def built(clang: str, folder: Path) -> Path:
    """The program, with Python's library."""
    program, source = folder / "guided", Path(__file__).with_name("target.c")
    library = sysconfig.get_config_var("LIBDIR")
    version = sysconfig.get_config_var("LDVERSION")
    linked = (f"-L{library}", f"-Wl,-rpath,{library}", f"-lpython{version}")
    subprocess.run([clang, *SANITIZED, f"-I{speedups.headers()}", source, *linked, "-o", program], check=True)
    return program


def _environment() -> dict[str, str]:
    """The Python in the program finds the modules of this one."""
    modules = [str(ROOT), *(path for path in sys.path if path)]
    kept = {"ASAN_OPTIONS": "detect_leaks=0"}  # Python does not free everything at its end
    return {**os.environ, **kept, "PYTHONPATH": os.pathsep.join(modules), "PYTHONHOME": sys.base_prefix}


def _escaped(piece: bytes) -> str:
    return "".join(f"\\x{byte:02X}" for byte in piece)


if __name__ == "__main__":
    sys.exit(main())
