"""A transport on libcurl: HTTP/2 and HTTP/1.1, with the guard, limits and parser of the other one.

Libcurl speaks TLS and HTTP over connections that are opened here (`CurlSocket`), and hands over heads and bodies as
they arrived, framing included; `ResponseParser` reads and limits them. It resolves, connects and waits for nothing
itself.
"""

from __future__ import annotations

import resource
from functools import lru_cache, partial
from typing import Any

import pycurl
import requests

from crawler import conf
from crawler.core.urls.normalise import host_and_port, origin_of
from crawler.http.body import ResponseStream, receive
from crawler.http.connection import MAX_IDLE_CONNECTIONS, IdleConnections, Trust
from crawler.http.connector import OPTIONS, Route
from crawler.http.request import Exchange
from crawler.http.transports.curl_lines import CurlSocket, PumpedLine
from crawler.http.transports.curl_transfer import Arrived, Transfer
from crawler.http.transports.curl_trust import trust_options
from crawler.http.transports.transport import StreamedResponse, line_of, parser_of

BUFFER = 8 * 1024  # bytes; libcurl reads about twenty times as much, at most, before it returns
LARGE_HEAD = 8 * 1024  # bytes of a request; a larger one may not fit into the socket's buffer at once
FILES = 8192  # open files of a process with the most connections
_NOWHERE = "192.0.2.1"  # what libcurl takes for the address of every host (RFC 5737); it connects to none


class CurlTransport:
    """Sends each request with libcurl, one at a time, over one pooled connection per origin. Not thread-safe."""

    def __init__(self, route: Route, exchange: Exchange, trust: Trust) -> None:
        self._route, self._exchange = route, exchange
        self._pool = IdleConnections[CurlSocket]()
        self._given: CurlSocket | None = None  # for the connection that libcurl is about to open
        _allow_files()
        self._trust, self._is_trust_set = trust, False
        self._arrived: Arrived = [], []
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, MAX_IDLE_CONNECTIONS)
        self._certificate: str | None = None  # of ours, for the current host
        self._is_head_large = False
        self._set_up()

    def _set_up(self) -> None:
        """A handle that has been told nothing yet."""
        self._curl, self._is_trust_set = pycurl.Curl(), False
        for option, value in _OPTIONS.items():
            self._curl.setopt(option, value)
        self._curl.setopt(pycurl.HEADERFUNCTION, self._arrived[0].append)
        self._curl.setopt(pycurl.WRITEFUNCTION, self._arrived[1].append)
        self._curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open)
        self._origin, self._is_fresh, self._method = "", False, "GET"  # as libcurl was told
        self._headers: tuple[Any, bool] = None, False
        if self._certificate is not None:
            self._curl.setopt(pycurl.SSLCERT, self._certificate)

    def send(self, request: requests.PreparedRequest) -> StreamedResponse:
        """The response, once its head is complete. Raises `FETCH_ERRORS`; the exchange has the time limits."""
        origin = origin_of(request.url or "")
        self._use_certificate(origin)
        self._set_request(request, origin)
        line = self._line(origin, request)
        parser = parser_of(request, self._exchange)
        keep = partial(self._pool.keep, origin)
        transfer = Transfer(self._multi, self._curl, line, parser, self._exchange, self._arrived, keep)
        try:
            is_tls = origin.startswith("https:") and not self._exchange.reused
            transfer.begin(host_and_port(origin)[0] if is_tls else "")
            while not parser.status:
                receive(transfer, parser)
        except BaseException:
            transfer.close()
            parser.release()
            raise
        return StreamedResponse(ResponseStream(parser, transfer, Transfer.keep))

    def close(self) -> None:
        self._pool.close()
        self._curl.close()
        self._multi.close()

    def _line(self, origin: str, request: requests.PreparedRequest) -> CurlSocket:
        """A connection to the origin, at an address that the guard has checked."""
        is_tls = origin.startswith("https:")
        is_pumped = is_tls or self._is_head_large or bool(request.body)
        line = self._pool.take(origin)
        if line is not None and (not is_pumped or line.is_pumped):
            self._set_fresh(False)
            self._given = None
            return line
        if line is not None:
            line.close()
        host, port = host_and_port(origin)
        sock = self._route.open(host, port, OPTIONS, tunnel=is_tls)
        self._given = line = PumpedLine(sock) if is_pumped else CurlSocket(sock)
        self._set_fresh(True)
        if ":" not in host:
            self._curl.setopt(pycurl.RESOLVE, [f"{host}:{port}:{_NOWHERE}"])
        if is_tls and not self._is_trust_set:
            for option, value in trust_options(self._trust).items():
                self._curl.setopt(option, value)
            self._is_trust_set = True
        return line

    def _use_certificate(self, origin: str) -> None:
        """Libcurl cannot be told to forget a certificate, so a host with another one gets a handle of its own."""
        certificates = conf.client_certificates()
        file = certificates.get(host_and_port(origin)[0].rstrip(".")) if certificates else None
        if file != self._certificate:
            self._certificate = file
            self._curl.close()
            self._set_up()

    def _open(self, purpose: int, address: Any) -> Any:
        """Called by libcurl for a socket: it gets the one that was opened for it, and no second one."""
        line, self._given = self._given, None
        return pycurl.SOCKET_BAD if line is None else line.for_curl

    def _set_fresh(self, is_fresh: bool) -> None:
        """Whether libcurl takes the connection it has, or asks for one."""
        if is_fresh != self._is_fresh:
            self._curl.setopt(pycurl.FRESH_CONNECT, is_fresh)
            self._is_fresh = is_fresh

    def _set_request(self, request: requests.PreparedRequest, origin: str) -> None:
        url, gateway = request.url or "", self._route.gateway
        is_forwarded = self._route.forwards(url)
        if origin != self._origin:
            self._curl.setopt(pycurl.URL, f"{origin}/")
            self._origin = origin
        self._curl.setopt(pycurl.REQUEST_TARGET, url if is_forwarded else url[len(origin) :])
        if request.headers is not self._headers[0] or is_forwarded != self._headers[1]:
            proxy = gateway.proxy.authorization if gateway is not None and is_forwarded else ""
            lines = _lines(request, proxy)
            self._curl.setopt(pycurl.HTTPHEADER, lines)
            self._is_head_large = sum(map(len, lines)) > LARGE_HEAD
            self._headers = request.headers, is_forwarded
        if request.method != self._method or request.body is not None:
            self._curl.setopt(pycurl.HTTPGET, 1)
            if request.method == "HEAD":
                self._curl.setopt(pycurl.NOBODY, 1)
            elif request.body is not None:
                self._curl.setopt(pycurl.POSTFIELDS, request.body)
            self._method = request.method or ""


@lru_cache(maxsize=1)
def _allow_files() -> None:
    """Raise this process's limit on open files, which often is 1,024: a connection takes five, where ours takes one."""
    limit, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if highest == resource.RLIM_INFINITY else min(FILES, highest)
    if limit != resource.RLIM_INFINITY and limit < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, highest))


_OPTIONS: dict[int, Any] = {
    pycurl.BUFFERSIZE: BUFFER,
    pycurl.NOSIGNAL: 1,
    pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
    pycurl.FOLLOWLOCATION: 0,
    pycurl.PATH_AS_IS: 1,
    pycurl.PROXY: "",  # else the environment's
    pycurl.NETRC: pycurl.NETRC_IGNORED,
    pycurl.HTTP_TRANSFER_DECODING: 0,  # the parser does it, within its limits
    pycurl.HTTP_CONTENT_DECODING: 0,
    pycurl.HTTP09_ALLOWED: 1,  # pass bytes that are not HTTP to the parser, which refuses them
    pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS,
    pycurl.SSLVERSION: pycurl.SSLVERSION_TLSv1_2,
    pycurl.SSL_SESSIONID_CACHE: 0,
    pycurl.DNS_CACHE_TIMEOUT: -1,
    pycurl.SOCKOPTFUNCTION: lambda fd, purpose: pycurl.SOCKOPT_ALREADY_CONNECTED,
}


def _lines(request: requests.PreparedRequest, proxy_authorization: str) -> list[bytes]:
    """The headers as libcurl takes them. One without a value ends in a semicolon; a colon would remove it."""
    headers = {"Proxy-Authorization": proxy_authorization} if proxy_authorization else {}
    headers |= {name: value for name, value in request.headers.items() if name.lower() != "content-length"}
    lines = [line_of(name, value)[:-2] if value.strip() else name.encode() + b";" for name, value in headers.items()]
    if request.body is None:
        return lines
    added = {"expect", "content-type"} - {name.lower() for name in headers}  # by libcurl itself
    return [*lines, *(f"{name}:".encode() for name in added)]
