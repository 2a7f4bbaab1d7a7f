"""Whose certificates are believed."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import lru_cache

from requests.adapters import DEFAULT_CA_BUNDLE_PATH

Trust = Callable[[], ssl.SSLContext]


@lru_cache(maxsize=1)
def public_trust() -> ssl.SSLContext:
    """The certificates browsers trust and those this machine does; loaded on first use, once for the process."""
    context = ssl.create_default_context(cafile=DEFAULT_CA_BUNDLE_PATH)
    context.load_default_certs()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # Python 3.13 and later would refuse what browsers take
    context.hostname_checks_common_name = False  # browsers have not looked there since 2017
    context.options |= ssl.OP_NO_TICKET  # no session is taken up again
    context.set_alpn_protocols(["http/1.1"])
    return context
