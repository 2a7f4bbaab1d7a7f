"""Query parameters that say nothing about the page: campaign marks and session ids."""

from __future__ import annotations

USUAL = (
    "utm_*",
    "gclid",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "_ga",
    "_gl",
    "PHPSESSID",
    "JSESSIONID",
    "ASPSESSIONID*",
    "CFID",
    "CFTOKEN",
)
"""Names in any case; "*" stands for any characters."""
