"""Translates libcurl's errors to the errors of `crawler.http`."""

from __future__ import annotations

import errno
import os
import re
import ssl

from crawler.http.errors import ConnectionClosed, HeadTooLarge, InvalidResponse

# https://curl.se/libcurl/c/libcurl-errors.html
_URL = 3  # a host with a character that libcurl refuses, such as "$"
COULDNT_CONNECT = 7
PARTIAL_FILE, GOT_NOTHING = 18, 52  # the connection ended too early
SEND_ERROR, RECEIVE_ERROR = 55, 56
_FRAMING = 16  # of HTTP/2: its library tells what was wrong, or nothing where the connection just ended
_OUT_OF_MEMORY, _TOO_LARGE = 27, 100  # a line of the head beyond libcurl's own limit
_SSL_CONNECT, _SSL_CERTIFICATE, _SSL_AUTHORITIES = 35, 60, 77

_ENDED = (PARTIAL_FILE, GOT_NOTHING, SEND_ERROR, RECEIVE_ERROR)
_TOO_LARGE_TEXT = "Too large response header"
_FRAMING_LIBRARY = "nghttp2 "
_OTHER_HOST = "no alternative certificate subject name"
_REASON = re.compile(r"error:[0-9A-Fa-f]+:[^:]*:[^:]*:([^,]+)")  # OpenSSL's
_UNEXPECTED_EOF = "UNEXPECTED_EOF_WHILE_READING"


def error_of(
    code: int, text: str, *, verified: int, number: int, host: str, limit: int, has_ended: bool
) -> Exception | None:
    """The exception for libcurl's code and text; None if the connection has just ended.

    `verified` is OpenSSL's verdict on the certificate, `number` the errno of the system, 0 if there is none; `limit`
    that of the head in bytes. `has_ended`: the server has closed the connection.
    """
    if code == _URL:
        return InvalidResponse(f"this address cannot be requested: {text}")
    if code == _SSL_CERTIFICATE:
        return _certificate_error(verified, text, host)
    if code == _SSL_CONNECT and has_ended and _reason(text) in ("", _UNEXPECTED_EOF):
        return ConnectionClosed("the server closed the connection during the TLS handshake")
    if code in (_SSL_CONNECT, _SSL_AUTHORITIES) or (code in _ENDED and _reason(text) not in ("", _UNEXPECTED_EOF)):
        error = ssl.SSLError(1, text)
        error.reason = _reason(text) or text
        return error
    if code in (_OUT_OF_MEMORY, _TOO_LARGE) or _TOO_LARGE_TEXT in text:
        return HeadTooLarge(f"the headers are larger than {limit} bytes")
    if code in _ENDED and number not in (0, errno.EPIPE):
        return OSError(number, os.strerror(number))
    if code == _FRAMING and not text.startswith(_FRAMING_LIBRARY):
        return None
    is_read = code == RECEIVE_ERROR and not has_ended and not number and not _reason(text)  # and refused
    if code in _ENDED and not is_read:
        return None
    if code == COULDNT_CONNECT:  # libcurl found a kept connection dead, and was given no other
        return ConnectionClosed("the server closed the connection without a response")
    return InvalidResponse(f"the response cannot be read: {text}")


def _certificate_error(verified: int, text: str, host: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, text)
    error.verify_code = verified
    error.verify_message = f"certificate is not valid for '{host}'" if _OTHER_HOST in text else text
    return error


def _reason(text: str) -> str:
    """OpenSSL's reason, as Python names it; "" if it says nothing."""
    match = _REASON.search(text)
    return match[1].strip().upper().replace(" ", "_") if match else ""
