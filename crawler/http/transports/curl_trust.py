"""Which certificates libcurl trusts: the certificates of an `ssl.SSLContext`, as options of libcurl."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import pycurl
from requests.adapters import DEFAULT_CA_BUNDLE_PATH

from crawler.http.connection import Trust, no_trust, public_trust

_HASHED = re.compile(r"[0-9a-f]{8}\.0")  # a file's name in a folder prepared by `openssl rehash`


Options = Mapping[int, str | bytes | int | None]
"""Libcurl's options to their values; None stands for no value."""


def trust_options(trust: Trust) -> Options:
    if trust is public_trust:
        return _public()
    if trust is no_trust:
        return {pycurl.SSL_VERIFYPEER: 0, pycurl.SSL_VERIFYHOST: 0}
    certificates = trust().get_ca_certs(binary_form=True)
    return {pycurl.CAINFO_BLOB: "".join(map(ssl.DER_cert_to_PEM_cert, certificates)).encode(), pycurl.CAPATH: None}


@lru_cache(maxsize=1)
def _public() -> Options:
    """The authorities of this machine, from a folder of which OpenSSL reads only the files it needs (1.7 ms for a
    connection; the whole bundle takes 10.6 ms); those of browsers where there is no such folder."""
    own = os.environ.get("SSL_CERT_FILE") or None
    folder = ssl.get_default_verify_paths().capath
    if folder and any(_HASHED.fullmatch(file.name) for file in Path(folder).iterdir()):
        return {pycurl.CAPATH: folder, pycurl.CAINFO: own}
    return {pycurl.CAINFO: own or DEFAULT_CA_BUNDLE_PATH}
