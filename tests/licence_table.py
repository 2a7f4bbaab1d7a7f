"""The tables in LICENSES.md: what an installation brings, by its packages' metadata, and the vendored files.

`python -m tests.licence_table` writes them into the page.
"""

import hashlib
import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "LICENSES.md"
VENDOR = ROOT / "crawler" / "static" / "crawler" / "vendor"
PACKAGES = "| package | licence |\n|---|---|\n"
FILES_OF_PACKAGES = [f"requirements{extra}.txt" for extra in ("", "-auth", "-browser", "-s3", "-scrapy")] + [
    "deploy/container/requirements.txt"
]
FILES = "| file | what | version | licence | SHA-256 |\n|---|---|---|---|---|\n"

_SPDX = {
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "Dual License": "Apache-2.0 OR BSD-3-Clause",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "ISC": "ISC",
    "MIT License": "MIT",
    "MPL-2.0": "MPL-2.0",
}
"""What packages write in place of the identifier of SPDX."""
_EXPRESSION = re.compile(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*")

VENDORED = {
    "pico.css": ("Pico CSS, classless", "2.1.1", "MIT"),
    "htmx.js": ("htmx", "2.0.11", "0BSD"),
    "d3-force/d3-force.js": ("d3-force", "3.0.1", "ISC"),
    "d3-force/d3-quadtree.js": ("d3-quadtree", "3.0.2", "ISC"),
    "d3-force/d3-dispatch.js": ("d3-dispatch", "3.0.2", "ISC"),
    "d3-force/d3-timer.js": ("d3-timer", "3.0.2", "ISC"),
}
"""Path below the folder of vendored files: what it is, its version, its licence."""


def pinned(*files: str) -> list[str]:
    """The packages pinned in requirements files, each once, in their order."""
    names = (
        re.match(r"([\w.-]+)(?:\[\w+\])?==", line) for file in files for line in (ROOT / file).read_text().split("\n")
    )
    return list(dict.fromkeys(match[1] for match in names if match))


def licence_of(package: str) -> str | None:
    """The licence that an installed package states, as SPDX writes it; None if it is not installed here."""
    try:
        about = metadata(package)
    except PackageNotFoundError:
        return None
    classifiers = [text.split(" :: ")[-1] for text in about.get_all("Classifier") or [] if text.startswith("License")]
    stated = [about.get("License-Expression"), about.get("License"), *classifiers]
    known = [_SPDX.get(text, text) for text in stated if text]
    return next((text for text in known if _EXPRESSION.fullmatch(text)), "")


def package_rows(known: dict[str, str]) -> dict[str, str]:
    """The rows of the table; a package that is not installed here keeps the row that it has."""
    names = pinned(*FILES_OF_PACKAGES)
    return {name: licence_of(name) or known.get(name, "") for name in sorted(names, key=str.lower)}


def rows(page: str, head: str) -> list[list[str]]:
    """The cells of a table in the page."""
    body = page.partition(head)[2].partition("\n\n")[0]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in body.strip().split("\n")]


def table_of_packages(known: dict[str, str]) -> str:
    return PACKAGES + "".join(f"| {name} | {licence} |\n" for name, licence in package_rows(known).items())


def table_of_files() -> str:
    digests = {path: hashlib.sha256((VENDOR / path).read_bytes()).hexdigest() for path in VENDORED}
    return FILES + "".join(
        f"| `{path}` | {what} | {version} | {licence} | `{digests[path]}` |\n"
        for path, (what, version, licence) in VENDORED.items()
    )


if __name__ == "__main__":
    page = PAGE.read_text()
    known = {name: licence for name, licence, *_ in (row for row in rows(page, PACKAGES) if len(row) > 1)}
    for head, table in ((PACKAGES, table_of_packages(known)), (FILES, table_of_files())):
        page = re.sub(re.escape(head) + r"(?:\|.*\n)*", lambda _, table=table: table, page)
    PAGE.write_text(page)
