"""Where Chromium is, how it is started, and whether in its sandbox."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

from crawler.capabilities.browser import conf
from crawler.core.errors import MissingHere
from crawler.extras import BROWSER

logger = logging.getLogger(__name__)

NAMES = (
    "chromium-headless-shell",  # without windows: half of the CPU time
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
_MAC_OS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
HOW_TO_INSTALL = """\
  Debian:  sudo apt install chromium
  macOS:   brew install --cask google-chrome
  Fedora:  sudo dnf install chromium
  others:  .venv/bin/python -m playwright install --with-deps chromium"""
NO_CHROMIUM = (
    "Pages cannot be rendered: Chromium was not found. Install it (Debian: sudo apt install chromium; macOS: brew "
    "install --cask google-chrome; Fedora: sudo dnf install chromium), or name the program in CRAWLER_CHROMIUM."
)
NO_SANDBOX_HERE = (
    "Pages cannot be rendered: Chromium cannot start its sandbox, for which this user needs user namespaces. Allow "
    "them (kernel.apparmor_restrict_unprivileged_userns=0, or the container's seccomp profile for Chromium)."
)
_AS_ROOT = "Running as root without --no-sandbox"
_UNUSABLE = "No usable sandbox"
_PROBE_S = 30

FEATURES_OFF = (
    # those that Playwright switches off: of this switch the browser takes the last one alone
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "TcpPortRandomizationWin",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "msForceBrowserSignIn",
    "msEdgeUpdateLaunchServicesPreferredVersion",
    # the list below the address bar of a window, which is a page and a process of its own
    "WebUIOmniboxPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxAimPopup",
    "SpareRendererForSitePerProcess",  # a process for the next page of a context, which has only one
)
FLAGS = (
    "--disable-quic",  # QUIC and WebTransport would not go through the proxy
    "--dns-prefetch-disable",  # names are looked up by the proxy, where the guard is
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",  # no UDP of WebRTC past the proxy
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # the headless shell knows this name alone
    "--no-pings",  # <a ping> informs third parties of clicks
    "--disable-domain-reliability",  # reports to Google
    "--disable-gpu",  # nothing looks at the page
    f"--disable-features={','.join(FEATURES_OFF)}",
    "--js-flags=--max-old-space-size=512",  # MB; a page whose scripts need more crashes alone
)
"""Besides those that Playwright always gives: headless, no background networking, component updates, sync, default
browser check, first run, crash reporter, metrics or extensions; shared memory in files, because a container's /dev/shm
is small."""
WITHOUT = (
    "--disable-popup-blocking",  # of Playwright's: pages here have no user who clicks, so no popup is wanted
    "--disable-ipc-flooding-protection",  # of Playwright's: a page may not call history.pushState without end
)
NOWHERE = "http://127.0.0.1:9"
"""The proxy of requests that belong to no page, such as Chromium's own: a port on which nothing listens. A page has
its own proxy. Loopback has no exception, which it has by default: `BYPASS`."""
BYPASS = "<-loopback>"
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME")


class BrowserMissing(MissingHere):
    """This machine cannot render pages; the message says what to install. Trying again helps once it is."""


def installed(named: str = "") -> Path | None:
    """The program `named`, else an installed Chromium or Chrome, else None."""
    if named:
        return Path(named)
    on_path = [Path(found) for name in NAMES if (found := shutil.which(name))]
    return next(iter([*on_path, *(Path(name) for name in _MAC_OS if Path(name).exists())]), None)


def find(named: str = "") -> Path | None:
    """The program `named`, else an installed Chromium or Chrome, else the one Playwright downloaded, else None."""
    return installed(named) or next(iter(_downloaded()), None)


def _downloaded() -> list[Path]:
    from playwright.sync_api import Error, sync_playwright  # slow to import, and rarely needed

    try:
        with sync_playwright() as playwright:
            program = Path(playwright.chromium.executable_path)
    except Error:
        return []
    return [program] if program.exists() else []


def require_here() -> None:
    """Raises BrowserMissing, with what to install, if pages cannot be rendered here."""
    if BROWSER.missing:
        raise BrowserMissing(BROWSER.missing)
    if find(conf.chromium()) is None:
        raise BrowserMissing(NO_CHROMIUM)


def require(downloaded: str) -> Path:
    """CRAWLER_CHROMIUM, else an installed one, else the one that Playwright downloads, if it is there. Raises
    BrowserMissing."""
    program = installed(conf.chromium()) or Path(downloaded)
    if not program.exists():
        raise BrowserMissing(NO_CHROMIUM)
    return program


@lru_cache(maxsize=4)
def is_sandboxed(program: Path) -> bool:
    """Whether Chromium runs in its sandbox here. As any user but root it does, or does not run at all; as root it
    refuses to, which is tried. Takes a second or two then."""
    if os.geteuid() != 0:
        return True
    with tempfile.TemporaryDirectory(prefix="crawler-chromium-") as profile:
        tried = subprocess.run(
            [program, "--headless", f"--user-data-dir={profile}", "--dump-dom", "about:blank"],
            env=environment(),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_S,
            check=False,
        )
    if _AS_ROOT not in tried.stderr:
        return True
    logger.warning("Chromium runs without its sandbox, because this process runs as root: use another user.")
    return False


def environment() -> dict[str, str]:
    """What Chromium gets of this process's environment: no secret."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


def explain_failure(text: str) -> str:
    """One line for a Chromium that did not start, from what it said."""
    if _UNUSABLE in text:
        return NO_SANDBOX_HERE
    lines = [line.strip() for line in text.splitlines() if "[err]" in line]
    said = (lines or text.strip().splitlines() or ["no reason given"])[-1].partition("[err]")
    return f"Pages cannot be rendered: Chromium does not start: {(said[2] or said[0]).strip()[:300]}"
