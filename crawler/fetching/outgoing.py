"""The headers each request goes out with: what every server is told, and the credentials for the crawl's own hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from requests.structures import CaseInsensitiveDict

from crawler.core.belonging import is_own
from crawler.core.credentials import Credentials, request_headers
from crawler.core.urls import origin_of
from crawler.fetching.encodings import ACCEPTED

Headers = CaseInsensitiveDict[str]


class Outgoing:
    """Of the dictionaries handed out none may be changed."""

    def __init__(self, user_agent: str, credentials: Credentials, own_hosts: Sequence[str]) -> None:
        self._own_hosts = frozenset(own_hosts)
        usual = {"User-Agent": user_agent, "Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
        needed = {"Accept-Encoding": ACCEPTED}
        self._public: Headers = CaseInsensitiveDict({**usual, **needed})
        self.public_names = frozenset(name.lower() for name in self._public)
        private = request_headers(credentials)
        self._private: Headers | None = CaseInsensitiveDict({**usual, **private, **needed}) if private else None
        self._trusted: dict[str, bool] = {}  # origin -> whether it is the crawl's own

    def headers(self, url: str, added: Mapping[str, str], *, anonymous: bool) -> Headers:
        """Those for a request to this normalised URL; `added` in place of others of the same name."""
        known = self._private if not anonymous and self._private is not None and self._trusts(url) else self._public
        return CaseInsensitiveDict({**known, **added}) if added else known

    def _trusts(self, url: str) -> bool:
        origin = origin_of(url)
        if origin not in self._trusted:
            self._trusted[origin] = is_own(url, self._own_hosts)
        return self._trusted[origin]
