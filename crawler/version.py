"""The version of this installation, with the commit that it was built from where that is known."""

from __future__ import annotations

import subprocess
from pathlib import Path

from crawler import __version__

RECORD = "commit.txt"
"""A file that setup.py writes into the package as it builds it. A clone asks Git."""

_PACKAGE = Path(__file__).resolve().parent
_TIMEOUT_S = 5.0


def described() -> str:
    """Such as "Site Crawler 1.0.0 (0123456789ab)"."""
    commit = commit_of(_PACKAGE)
    return f"Site Crawler {__version__}{f' ({commit})' if commit else ''}"


def commit_of(package: Path) -> str:
    """The commit of this package, "" if it is not known; "-dirty" behind it means that files were changed since."""
    record, repository = package / RECORD, package.parent
    if record.is_file():
        return record.read_text(encoding="utf-8").strip()
    if not (repository / ".git").exists():  # else Git would find a repository that the folder happens to be in
        return ""
    command = ["git", "-C", str(repository), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError):
        return ""  # there is no Git, or it does not trust this folder: the version is told without a commit
    return told.stdout.strip()
