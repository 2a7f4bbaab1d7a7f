"""What `bin/up` leaves in the data folder about the installation that it runs: its address, and with which settings.

The file is locked as long as `bin/up` lives, so one that was left behind by a killed process is recognised.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "running.json"
OTHERS = frozenset({"SECRET_KEY", "SECRET_KEY_FILE", "EMAIL_URL", "EMAIL_URL_FILE"})
NOT_OF_WORKERS = frozenset(
    {
        "CRAWLER_API_PER_MINUTE",
        "CRAWLER_AUDIT_DAYS",
        "CRAWLER_BASE_URL",
        "CRAWLER_DATA_DIR",
        "CRAWLER_LOGIN_TRIES",
        "CRAWLER_LOG_FORMAT",
        "CRAWLER_LOG_LEVEL",
        "CRAWLER_LOG_URLS",
        "CRAWLER_METRICS_TOKEN",
        "CRAWLER_SESSION_DAYS",
        "CRAWLER_SESSION_IDLE_HOURS",
        "CRAWLER_STARTUP_TIMEOUT",
        "CRAWLER_GRACE_SECONDS",
        "CRAWLER_TRUSTED_PROXIES",
    }
)
"""Settings of one process, or of the web server alone."""

LOCK_TIMEOUT_S = 2.0  # a command that reads the file holds its lock for an instant


@dataclass(frozen=True)
class RunningInstallation:
    """An installation that runs."""

    address: str  # of the web server, such as http://127.0.0.1:8000
    redis: str  # the digest of its URL
    settings: Mapping[str, str]  # name -> digest: some are secrets
    salt: str  # of these digests

    def digest(self, value: str) -> str:
        return _digest(self.salt, value)


@contextmanager
def announced(
    folder: Path, address: str, redis_url: str, settings: Mapping[str, str], *, timeout: float = LOCK_TIMEOUT_S
) -> Iterator[None]:
    """Leave the note for the time of this block. A second installation on the same data folder leaves none."""
    salt = secrets.token_hex(16)
    digests = {name: _digest(salt, value) for name, value in settings.items()}
    note = RunningInstallation(address, _digest(salt, redis_url), digests, salt)
    file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        is_ours = _locked(file, timeout)
        if is_ours:
            os.ftruncate(file, 0)
            os.write(file, json.dumps(asdict(note)).encode())
        try:
            yield
        finally:
            if is_ours:
                os.ftruncate(file, 0)  # not removed: another process may wait for its lock
    finally:
        os.close(file)


def running(folder: Path) -> RunningInstallation | None:
    """The installation that runs on this data folder; None if there is none, or its note cannot be read."""
    try:
        file = os.open(folder / FILE, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # its process lives
        return _read(file)
    except OSError:
        return None
    finally:
        os.close(file)
    return None


def settings_of_workers(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings in this environment that workers go by."""
    return {
        name: value
        for name, value in environment.items()
        if (name.startswith("CRAWLER_") or name in OTHERS) and name.removesuffix("_FILE") not in NOT_OF_WORKERS
    }


def lacking(note: RunningInstallation, environment: Mapping[str, str]) -> list[str]:
    """The settings in this environment that the workers of a running installation do not have, or not with this
    value."""
    given = settings_of_workers(environment)
    return sorted(name for name, value in given.items() if note.settings.get(name) != note.digest(value))


def _read(file: int) -> RunningInstallation | None:
    try:
        return RunningInstallation(**json.loads(os.read(file, 1 << 20)))
    except (OSError, ValueError, TypeError):  # it is being written, or of another version
        return None


def _locked(file: int, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        else:
            return True


def _digest(salt: str, value: str) -> str:
    return hmac.new(salt.encode(), value.encode(), hashlib.sha256).hexdigest()
