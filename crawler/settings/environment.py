"""Reads settings from the environment and from `.env`; other modules do not read them.

An invalid value stops the start with a message that names the variable and says what to do.
"""

from __future__ import annotations

import math
import os
import re
import secrets
import ssl
import stat
import sys
import threading
import warnings
from collections.abc import Container, Iterable
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import environ
from django.core.exceptions import ImproperlyConfigured
from environ.fileaware_mapping import FileAwareMapping

from crawler import extras
from crawler.core.access.client_address import Network, parse_networks
from crawler.core.errors import BadInput
from crawler.core.installation import redis_url as redis_url_rules
from crawler.core.installation.deployment import is_guarded
from crawler.core.urls.addresses import DEFAULT_PORTS, Proxy, parse_ports
from crawler.home import data_folder_of, home_of

FILES, S3 = "django.core.files.storage.FileSystemStorage", "storages.backends.s3.S3Storage"
SQLITE, POSTGRESQL = "django.db.backends.sqlite3", "django.db.backends.postgresql"
LIBPQ_TIMEOUTS = {
    "connect_timeout": 5,  # seconds
    "keepalives_idle": 5,  # seconds
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
}
"""Parameters of libpq: a lost server is detected within 14 s. DATABASE_URL may override them. The server's side, and
the reason: `crawler.storage.database`."""
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,  # seconds
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536;",
}
FOR_OTHERS = 0o077
"""The permissions of group and others."""
MAX_SOCKET_PATH_BYTES = 103
"""Of a Unix socket, on macOS; Linux has 107."""
ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds the package: that of a clone, or the one that pip fills."""
HOME = home_of(ROOT)


class _Variables(FileAwareMapping):  # type: ignore[misc]  # django-environ has no types
    """The environment, in which NAME_FILE names a file with the value of NAME, such as a secret of a container."""

    def __getitem__(self, name: str) -> str:
        file = self.env.get(f"{name}_FILE")
        try:
            value: str = super().__getitem__(name)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise ImproperlyConfigured(f"{name}_FILE is {file!r}, which cannot be read: {reason}.") from None
        if not file:
            return value
        if not value.strip():
            raise ImproperlyConfigured(f"{name}_FILE is {file!r}, which is empty. Write the value of {name} into it.")
        return value.strip()  # an editor or `echo` ends it with a newline


class _Env(environ.Env):  # type: ignore[misc]  # django-environ has no types
    ENVIRON = _Variables(cache=False)


_env = _Env()
_Env.read_env(HOME / ".env")


def keep_files_private() -> None:
    """Files that this process and its children create can be read by its user alone. Those of `collectstatic` are for
    web servers of other users."""
    if "collectstatic" not in sys.argv:
        os.umask(FOR_OTHERS)


def data_dir() -> Path:
    """The folder of the database, mails and the embedded Redis; created if missing, and closed to other users."""
    path = Path(_env.str("CRAWLER_DATA_DIR", default=str(data_folder_of(ROOT))))
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        _close_to_others(path)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {path} cannot be created ({error.strerror}). "
            "Make it writable, or set CRAWLER_DATA_DIR to another folder."
        ) from None
    if not os.access(path, os.W_OK):
        raise ImproperlyConfigured(
            f"The data folder {path} is not writable. Make it writable, or set CRAWLER_DATA_DIR to another folder."
        )
    return path


def _close_to_others(folder: Path) -> None:
    """Take the rights of other users from a data folder of this user, and from files directly in it or in that of the
    embedded Redis: earlier versions left them by the umask. The folder comes last: it says whether this was done."""
    found = folder.stat()
    if found.st_uid != os.geteuid() or not found.st_mode & FOR_OTHERS or found.st_mode & stat.S_ISVTX:
        return  # one like /tmp is not ours to close
    for path in (*folder.iterdir(), *folder.glob("redis/*"), folder):
        with suppress(FileNotFoundError):  # a temporary file of another process
            one = path.lstat()
            if one.st_uid == found.st_uid and not stat.S_ISLNK(one.st_mode):
                path.chmod(stat.S_IMODE(one.st_mode) & ~FOR_OTHERS)


def folder_of(package: str) -> Path:
    """The folder of a package, without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ImproperlyConfigured(f"The package {package} is missing: pip install -r requirements.txt.")
    return Path(spec.origin).parent


def api_documentation() -> tuple[str, Path]:
    """The static files of Swagger UI, with their prefix. django-ninja is not an installed app: every worker would load
    it and pydantic."""
    return "ninja", folder_of("ninja") / "static" / "ninja"


def redis_url() -> str:
    """REDIS_URL; without it, the address of the embedded Redis."""
    return given_redis_url() or redis_url_rules.of_socket(str(embedded_socket(data_dir())))


def given_redis_url() -> str | None:
    """REDIS_URL if it is set."""
    url: str = _env.str("REDIS_URL", default="")
    if not url:
        return None
    try:
        redis_url_rules.check(url)
    except BadInput as error:
        raise ImproperlyConfigured(f"REDIS_URL is {redis_url_rules.without_secrets(url)!r}. {error}") from None
    return url


def embedded_socket(data: Path) -> Path:
    """The socket of the embedded Redis of this data folder. Systems limit its path: if it is too long, the socket is in
    a folder of /tmp that only this user can enter. Every process finds the same."""
    data = data.resolve()
    path = data / "redis" / "redis.sock"
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES:
        return path
    user = os.getuid()
    folder = Path(f"/tmp/crawler-{user}-{sha256(os.fsencode(data)).hexdigest()[:16]}")  # noqa: S108 (checked below)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise ImproperlyConfigured(
            f"The folder {folder} cannot be created ({error.strerror}). Set CRAWLER_DATA_DIR to a shorter path, or "
            "REDIS_URL to a server."
        ) from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != user or found.st_mode & 0o077:
        raise ImproperlyConfigured(
            f"{folder} is not a folder of this user with the permissions 0700, so the embedded Redis cannot use it. "
            "Remove it, set CRAWLER_DATA_DIR to a shorter path, or REDIS_URL to a server."
        )
    return folder / path.name


def require_redis_password(url: str) -> None:
    """Raise ImproperlyConfigured unless REDIS_URL is set, and has a password even on this machine: another user, or a
    web page that makes this machine request its own ports, could run code in the workers."""
    if given_redis_url() is None:
        raise ImproperlyConfigured(
            "REDIS_URL is not set. Production requires it, such as redis://:PASSWORD@127.0.0.1:6379/0."
        )
    if not is_guarded(url):
        from crawler.redis_client import UNGUARDED_HINT  # with it all of redis-py, which must not delay other starts

        raise ImproperlyConfigured(f"REDIS_URL has no password, which production requires. {UNGUARDED_HINT}")


def database(default_file: Path) -> dict[str, Any]:
    """Django's database dictionary. SQLite writers wait for the lock at the start of a transaction (IMMEDIATE) instead
    of failing in its middle, and readers never wait (WAL)."""
    try:
        with warnings.catch_warnings(action="error"):  # it only warns of some invalid URLs
            config: dict[str, Any] = _env.db("DATABASE_URL", default=f"sqlite:///{default_file}")
    except (ValueError, KeyError, UserWarning, environ.ImproperlyConfigured):
        config = {}
    engine = config.get("ENGINE")
    if engine not in (SQLITE, POSTGRESQL):  # the page table needs ON CONFLICT
        raise ImproperlyConfigured(
            "DATABASE_URL cannot be read. Examples: sqlite:////path/to/file, postgres://user:password@host/name."
        )
    if engine == POSTGRESQL and extras.POSTGRES.missing and find_spec("psycopg2") is None:
        raise ImproperlyConfigured(extras.POSTGRES.missing)
    if engine == POSTGRESQL:
        options = {**LIBPQ_TIMEOUTS, **config.get("OPTIONS", {})}
        config["DISABLE_SERVER_SIDE_CURSORS"] = _is_pooled_by_transaction(options.pop("pool_mode", "session"))
        config["OPTIONS"] = options
    if engine == SQLITE:
        config["OPTIONS"] = {**SQLITE_OPTIONS}
    return config


def _is_pooled_by_transaction(pool_mode: str) -> bool:
    """Whether DATABASE_URL names a pooler that assigns a connection to the server for one transaction only. A cursor
    that is read over several of them, and what a session SETs, do not survive between them."""
    if pool_mode not in ("session", "transaction"):
        raise ImproperlyConfigured(
            f"DATABASE_URL has pool_mode={pool_mode}. Give it the mode of the pooler, transaction or session; with "
            "statement it cannot be used."
        )
    return pool_mode == "transaction"


def email() -> dict[str, Any]:
    """Settings for Django's mail from EMAIL_URL, such as smtp+tls://user:password@host:587. Empty = the default."""
    url = _env.str("EMAIL_URL", default="")
    if not url:
        return {}
    try:
        config: dict[str, Any] = _env.email_url_config(url)
    except (ValueError, KeyError, environ.ImproperlyConfigured) as error:
        raise ImproperlyConfigured(
            f"EMAIL_URL cannot be read ({error}). Examples: smtp+tls://user:password@host:587, consolemail://."
        ) from None
    return config


def secret_key(data: Path | None) -> str:
    """SECRET_KEY; without it, one generated at the first start and stored in the folder `data`, if given."""
    given: str = _env.str("SECRET_KEY", default="")
    if given:
        return given
    if data is None:
        raise ImproperlyConfigured(
            "SECRET_KEY is not set. Production requires it: any long random text that does not change."
        )
    return kept_secret(data / "secret_key")


def kept_secret(file: Path) -> str:
    """The secret in this file, generated on first use and readable only by its owner."""
    if not file.exists():
        draft = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(48))
        try:
            os.link(draft, file)  # fails if another process was first, whose secret is then used
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return file.read_text().strip()


def content_storage(default_folder: Path) -> dict[str, Any]:
    """Django's storage dictionary for stored content: a folder, a bucket, or any storage class by its dotted name.

    "s3://bucket/prefix?endpoint_url=https://..." names a bucket; options after "?" are passed to the storage.
    """
    value = _env.str("CRAWLER_CONTENT_STORAGE", default="").strip()
    place, _, options = value.partition("?")
    given = dict(parse_qsl(options))
    if not place or place.startswith(("/", ".")):
        modes = {f"{kind}_permissions_mode": given.pop(f"{kind}_permissions_mode", "") for kind in PRIVATE_MODES}
        private = {name: _mode(value, PRIVATE_MODES[name.partition("_")[0]]) for name, value in modes.items()}
        return {"BACKEND": FILES, "OPTIONS": {"location": place or str(default_folder), **private, **given}}
    if place.startswith("s3://"):
        if extras.S3.missing:
            raise ImproperlyConfigured(extras.S3.missing)
        bucket, _, prefix = place.removeprefix("s3://").partition("/")
        return {"BACKEND": S3, "OPTIONS": {"bucket_name": bucket, "location": prefix, "file_overwrite": False, **given}}
    if re.fullmatch(r"\w+(\.\w+)+", place):
        return {"BACKEND": place, "OPTIONS": given}
    raise ImproperlyConfigured(
        f"CRAWLER_CONTENT_STORAGE is {value!r}. It must be a folder such as /srv/content, a bucket such as "
        "s3://bucket/prefix, or the dotted name of a Django storage class."
    )


PRIVATE_MODES = {"file": 0o600, "directory": 0o700}


def _mode(value: str, default: int) -> int:
    """Permissions such as 640."""
    try:
        return int(value, 8) if value else default
    except ValueError:
        raise ImproperlyConfigured(
            f"CRAWLER_CONTENT_STORAGE names the permissions {value!r}; write them as chmod does, such as 640."
        ) from None


def allowed_hosts(default: list[str]) -> list[str]:
    hosts: list[str] = _env.list("ALLOWED_HOSTS", default=default)
    return hosts


def text(name: str, default: str) -> str:
    value: str = _env.str(name, default=default)
    return value


def header_text(name: str) -> str:
    """Text that is allowed in an HTTP header (RFC 9110, 5.5: visible ASCII and blanks)."""
    value = text(name, "")
    if not (value.isascii() and value.isprintable()):
        raise ImproperlyConfigured(f"{name} is {value!r}; it may hold plain ASCII characters only, such as a URL.")
    return value


def proxy(name: str) -> Proxy | None:
    """An HTTP proxy. Its URL may hold a password, so errors do not repeat it."""
    value = text(name, "")
    try:
        return Proxy.parse(value) if value.strip() else None
    except BadInput as error:
        raise ImproperlyConfigured(f"{name} cannot be used. {error}") from None


def client_certificates(name: str) -> dict[str, str]:
    """Host to the PEM file with a certificate and its key, from "host=file" separated by commas."""
    certificates = {}
    for entry in texts(name):
        host, sign, file = (part.strip() for part in entry.partition("="))
        if not (host and sign and file):
            raise ImproperlyConfigured(f"{name} has {entry!r}; write host=file, such as example.com=/etc/ssl/me.pem.")
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(file, password="")
        except OSError as error:  # ssl.SSLError, too
            hint = "It must be a PEM file with a certificate and its key, without a password."
            raise ImproperlyConfigured(f"{name}: {file} cannot be used: {error}. {hint}") from None
        certificates[host.lower().rstrip(".")] = file
    return certificates


def http_client(name: str) -> str:
    """The name of the HTTP transport."""
    value = choice(name, "builtin", ("builtin", "curl", "requests"))
    if value == "curl" and extras.CURL.missing:
        raise ImproperlyConfigured(extras.CURL.missing)
    return value


def program(name: str) -> str:
    """The path of a program; "" = none is named."""
    value = text(name, "").strip()
    if value and not (Path(value).is_file() and os.access(value, os.X_OK)):
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be the path of a program, such as /usr/bin/chromium.")
    return value


def ports(name: str) -> Container[int]:
    """Ports separated by commas, or "*"."""
    values = texts(name)
    try:
        return parse_ports(values) if values else DEFAULT_PORTS
    except BadInput as error:
        raise ImproperlyConfigured(f"{name} cannot be used. {error}") from None


def networks(name: str) -> tuple[Network, ...]:
    """Addresses and networks."""
    try:
        return parse_networks(name, texts(name))
    except BadInput as error:
        raise ImproperlyConfigured(f"{name} cannot be used: {error.message}") from None


def texts(name: str) -> list[str]:
    values: list[str] = _env.list(name, default=[])
    return [value.strip() for value in values if value.strip()]


def number(name: str, default: float, *, least: float, most: float = math.inf) -> float:
    """A number from `least` to `most`."""
    raw = _env.str(name, default="")
    try:
        value = float(raw) if raw else default
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {raw!r}; it must be a number, such as {default:g}.") from None
    if not value >= least:  # "nan" is not, either
        raise ImproperlyConfigured(f"{name} is {raw}; it must be {least:g} or more.")
    if value > most:
        raise ImproperlyConfigured(f"{name} is {raw}; it must be {most:g} or less.")
    return value


def choice(name: str, default: str, among: Iterable[str]) -> str:
    """One of the given words."""
    value = text(name, default).strip().lower()
    if value not in among:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be one of: {', '.join(among)}.")
    return value


def switch(name: str, default: bool) -> bool:
    raw = _env.str(name, default="").strip().lower()
    if raw in {"", "1", "true", "yes", "on", "0", "false", "no", "off"}:
        return default if raw == "" else raw in {"1", "true", "yes", "on"}
    raise ImproperlyConfigured(f"{name} is {raw!r}; it must be true or false.")
