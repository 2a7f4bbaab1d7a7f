"""What went wrong with TLS, in words: by the code of a certificate's check, or by the reason OpenSSL gives."""

from __future__ import annotations

import ssl

# Codes: X509_V_ERR_... of OpenSSL, https://docs.openssl.org/master/man3/X509_STORE_CTX_get_error/.
_CERTIFICATES = {
    9: "its certificate is not valid yet",
    10: "its certificate has expired",
    18: "its certificate is self-signed: nobody vouches for it",
    19: "its certificate comes from an authority that is not trusted here",
    20: "its certificate comes from an authority that is not trusted here, or not the whole chain is sent",
    21: "its certificate comes from an authority that is not trusted here, or not the whole chain is sent",
    23: "its certificate was revoked",
    66: "its certificate's key is too weak",
    67: "its authority's key is too weak",
    68: "its certificate is signed in a way that is too weak",
}

_NOT_TLS = "the server does not speak TLS on this port"
_TOO_OLD = "the server speaks no version of TLS from 1.2 on"
_NO_COMMON = "the server takes none of the ways of encryption offered, or wants a certificate of the visitor"
_VISITOR = "the server wants a certificate of the visitor"

# Names of reasons as Python gives them; not every version of OpenSSL tells all of them apart.
_REASONS = {
    "WRONG_VERSION_NUMBER": _NOT_TLS,
    "HTTP_REQUEST": _NOT_TLS,
    "HTTPS_PROXY_REQUEST": _NOT_TLS,
    "UNKNOWN_PROTOCOL": _NOT_TLS,
    "PACKET_LENGTH_TOO_LONG": _NOT_TLS,
    "RECORD_LAYER_FAILURE": _NOT_TLS,
    "UNSUPPORTED_PROTOCOL": _TOO_OLD,
    "WRONG_SSL_VERSION": _TOO_OLD,
    "TLSV1_ALERT_PROTOCOL_VERSION": _TOO_OLD,
    "SSLV3_ALERT_HANDSHAKE_FAILURE": _NO_COMMON,
    "SSL/TLS_ALERT_HANDSHAKE_FAILURE": _NO_COMMON,
    "TLSV1_ALERT_INSUFFICIENT_SECURITY": _NO_COMMON,
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": _VISITOR,
    "TLSV1_UNRECOGNIZED_NAME": "the server has no site of this name",
    "DH_KEY_TOO_SMALL": "the server's key is too weak",
    "EE_KEY_TOO_SMALL": "its certificate's key is too weak",
    "TLSV1_ALERT_INTERNAL_ERROR": "the server is in trouble itself",
}


def tls_words(error: ssl.SSLError) -> str:
    """What went wrong, with OpenSSL's own words behind it where ours are a guess."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _CERTIFICATES.get(error.verify_code) or error.verify_message.rstrip(".")
    reason: str = getattr(error, "reason", None) or ""  # there is none at those that Python itself makes
    said = reason.replace("_", " ").lower() or error.strerror or str(error)
    return f"{_REASONS[reason]} ({said})" if reason in _REASONS else said
