"""The transport of plain `requests`: urllib3 and `http.client` speak HTTP/1.1, over connections that are opened,
guarded and limited like all others."""

from __future__ import annotations

import http.client
import io
import ssl
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPConnectionPool, HTTPResponse
from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError, InvalidChunkLength, ProtocolError

from crawler.core.urls.normalise import host_and_port, origin_of
from crawler.http.body import MAX_HEAD
from crawler.http.connection import BUFFER, MAX_IDLE_CONNECTIONS, Connection, Trust
from crawler.http.connector import Route, connect
from crawler.http.errors import ConnectionClosed, FetchError, HeadTooLarge, InvalidResponse
from crawler.http.request import Exchange
from crawler.http.response_parser import FRAMING_BYTES_PER_BODY_BYTE, MAX_HEADERS
from crawler.http.transports.transport import StreamedResponse, line_of
from crawler.http.warc_record import ExchangeHeads, recorded, status_line


class GuardedSocket:
    """A connection as `http.client` uses sockets: one response after another is read from it."""

    def __init__(self, connection: Connection, max_head_bytes: int) -> None:
        self._connection, self._max_head_bytes = connection, max_head_bytes
        self._left = b""  # received, and not read yet
        self._is_read = self._is_ended = False  # a response is being read; nothing more will be
        self.begin()

    def begin(self) -> None:
        """A request follows."""
        self.failure: Exception | None = None  # why the response cannot be read
        self._is_in_body, self._allowance = False, self._max_head_bytes  # bytes that may arrive

    def begin_body(self) -> None:
        self._is_in_body, self._allowance = True, self._max_head_bytes

    def note_body(self, size: int) -> None:
        """So many bytes of the body have arrived; their framing may take some more."""
        self._allowance += size * (1 + FRAMING_BYTES_PER_BODY_BYTE)

    def is_idle(self) -> bool:
        """Whether it can be reused: not closed, and without unexpected bytes."""
        return not self._left and not self._is_ended and self._connection.is_idle()

    def sendall(self, data: bytes) -> None:
        with self._noting_failure():
            self._connection.send(bytes(data))

    def makefile(self, mode: str, *args: Any, **more: Any) -> io.BufferedReader:
        self._is_read = True
        return _ResponseFile(_Bytes(self))

    def read_into(self, buffer: memoryview) -> int:
        with self._noting_failure():
            if not self._left:
                self._left = self._received()
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size

    def _received(self) -> bytes:
        if self._allowance <= 0 and self._is_in_body:
            raise HeadTooLarge("the chunk framing is larger than the body allows")
        if self._allowance <= 0:
            self.check_head(self._max_head_bytes + 1)
        data = self._connection.receive()
        if not data and not self._is_in_body:
            has_begun = self._allowance < self._max_head_bytes
            raise (
                InvalidResponse("the connection ended within the headers")
                if has_begun
                else ConnectionClosed("the server closed the connection without a response")
            )
        self._allowance -= len(data)
        return data

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """Urllib3 wraps exceptions, and loses some."""
        try:
            yield
        except Exception as error:
            self.failure = error
            raise

    def check_head(self, size: int) -> None:
        """Raises HeadTooLarge if heads of so many bytes are not allowed."""
        if size > self._max_head_bytes:
            raise HeadTooLarge(f"the headers are larger than {self._max_head_bytes} bytes")

    def settimeout(self, seconds: float | None) -> None:
        """The exchange has the time limits."""

    def end_response(self, *, is_clean: bool) -> None:
        """The response was read, and no further if it `is_clean`."""
        self._is_read, self._is_ended = False, self._is_ended or not is_clean
        if self._is_ended:
            self._connection.close()

    def close(self) -> None:
        """Close it once its response is read: `http.client` closes the socket before it reads a response that ends with
        the connection."""
        self._is_ended = True
        if not self._is_read:
            self._connection.close()


class _Bytes(io.RawIOBase):
    """What arrives on a connection."""

    def __init__(self, sock: GuardedSocket) -> None:
        super().__init__()
        self.sock, self._position = sock, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self.sock.read_into(memoryview(buffer))
        self._position += size
        return size

    def tell(self) -> int:
        return self._position


class _ResponseFile(io.BufferedReader):
    """The bytes of one response."""

    def __init__(self, arriving: _Bytes) -> None:
        super().__init__(arriving, BUFFER)
        self._arriving = arriving

    def check_head(self) -> None:
        """All heads up to here together must not be too large."""
        self._arriving.sock.check_head(self.tell())

    def close(self) -> None:
        if not self.closed:
            is_clean = self.tell() == self._arriving.tell()
            super().close()
            self._arriving.sock.end_response(is_clean=is_clean)


class FinalResponse(http.client.HTTPResponse):
    """Skips all interim responses (RFC 9110, 15.2), not only 100, and limits what all heads take together."""

    def begin(self) -> None:
        super().begin()
        self._check_head()

    def _check_head(self) -> None:
        if isinstance(self.fp, _ResponseFile):  # None once the response is over
            self.fp.check_head()

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]  # it is not in the stubs
            if not 100 <= status < 200 or status == http.client.SWITCHING_PROTOCOLS:
                return version, status, reason
            http.client.parse_headers(self.fp)
            self._check_head()


class GuardedConnection(HTTPConnection):
    """Connects only where the guard allows it, and asks for targets to the letter."""

    response_class = FinalResponse

    def __init__(self, adapter: GuardedAdapter, origin: str, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._adapter, self._origin = adapter, origin

    def connect(self) -> None:
        self.sock: Any = self._adapter.open(self._origin)

    def request(self, method: str, url: str, *args: Any, **more: Any) -> None:
        if self.sock is not None:
            self._adapter.use(self.sock)
        super().request(method, self._adapter.target, *args, **more)  # urllib3 has percent-encoded the URL once more

    @property
    def is_connected(self) -> bool:
        return self.sock is not None and self.sock.is_idle()


class GuardedAdapter(HTTPAdapter):
    """Pools guarded connections by origin, and leaves targets as they are. For one exchange at a time."""

    def __init__(self, route: Route, exchange: Exchange, trust: Trust) -> None:
        super().__init__(max_retries=0)
        self._route, self._exchange, self._trust = route, exchange, trust
        self._pools: dict[str, HTTPConnectionPool] = {}  # by origin, the least recently used first
        self.socket: GuardedSocket | None = None  # of the current request
        self.target = ""  # the same

    def open(self, origin: str) -> GuardedSocket:
        connection = connect(origin, self._route, self._exchange, self._trust)
        self.socket = GuardedSocket(connection, self._exchange.limits.max_header_bytes)
        return self.socket

    def use(self, sock: GuardedSocket) -> None:
        """Send the next request over this connection, which is open."""
        self.socket = sock
        sock.begin()

    def get_connection_with_tls_context(self, request: requests.PreparedRequest, *args: Any, **more: Any) -> Any:
        origin = origin_of(request.url or "")
        pool = self._pools.pop(origin, None)
        if pool is None:
            host, port = host_and_port(origin)
            pool = HTTPConnectionPool(host, port, maxsize=1)
            pool.ConnectionCls = partial(GuardedConnection, self, origin)  # type: ignore[assignment]
        self._pools[origin] = pool
        if len(self._pools) > MAX_IDLE_CONNECTIONS:
            self._pools.pop(next(iter(self._pools))).close()
        return pool

    def cert_verify(self, *args: Any, **more: Any) -> None:
        """The connection does, see `Trust`."""

    def request_url(self, request: requests.PreparedRequest, proxies: Any = None) -> str:
        """Absolute form for a proxy (RFC 9112, 3.2.2)."""
        url = request.url or ""
        is_forwarded = self._route.forwards(url)
        self.target = url if is_forwarded else url[len(origin_of(url)) :]
        return self.target

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()
        super().close()


class RequestsTransport:
    """Sends one request at a time, without what a session adds: redirects, cookies and the environment's proxies."""

    def __init__(self, route: Route, exchange: Exchange, trust: Trust) -> None:
        self._route, self._exchange = route, exchange
        self._adapter = GuardedAdapter(route, exchange, trust)

    def send(self, request: requests.PreparedRequest) -> StreamedResponse:
        """The response, once its head is complete. Raises `FETCH_ERRORS`."""
        sent = request.copy()
        sent.headers = CaseInsensitiveDict({**self._first_headers(request), **request.headers})
        for name, value in sent.headers.items():
            line_of(name, value)  # raises on a line end within it
        try:
            response = self._adapter.send(sent, stream=True)  # a session would read the whole body of a redirect
        except (requests.RequestException, HTTPError, http.client.HTTPException) as error:
            raise self._error_of(error) from error
        raw: HTTPResponse = response.raw
        if self._adapter.socket is not None:
            self._adapter.socket.begin_body()
        return StreamedResponse(ResponseOfRequests(raw, self._adapter.socket, self._exchange, self._error_of))

    def close(self) -> None:
        self._adapter.close()

    def _first_headers(self, request: requests.PreparedRequest) -> dict[str, str]:
        origin, gateway = origin_of(request.url or ""), self._route.gateway
        headers = {"Host": origin[origin.index("//") + 2 :]}
        if gateway is not None and gateway.proxy.authorization and self._route.forwards(origin):
            headers["Proxy-Authorization"] = gateway.proxy.authorization
        return headers

    def _error_of(self, error: Exception) -> Exception:
        """What was wrapped: our own exception, or what `http.client` said."""
        sock = self._adapter.socket
        if sock is not None and sock.failure is not None:
            return sock.failure
        causes = [cause for cause in _chain(error) if not isinstance(cause, requests.RequestException)]
        known = (cause if isinstance(cause, (FetchError, ssl.SSLError)) else _known(cause) for cause in causes)
        return next(filter(None, known), InvalidResponse(f"the response cannot be read: {causes[-1]}"))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and those it wraps, the outermost first."""
    seen: list[BaseException] = []
    while error not in seen:
        seen.append(error)
        yield error
        inner = [arg for arg in error.args if isinstance(arg, BaseException)]
        error = next(iter(inner), None) or error.__cause__ or error.__context__ or error


def _known(error: BaseException) -> Exception | None:
    match error:
        case http.client.LineTooLong():
            return HeadTooLarge("the headers are larger than 64 KB: one line is")
        case http.client.IncompleteRead():
            return InvalidResponse("the connection ended before the body did")
        case ProtocolError() if "maximum allowed length" in str(error):
            return HeadTooLarge("the chunk framing is larger than the body allows")
        case InvalidChunkLength() | ValueError():
            return InvalidResponse(f"the body cannot be read: {error}")
        case http.client.BadStatusLine() | http.client.UnknownProtocol():
            return InvalidResponse(f"the response is not HTTP/1; it begins with {str(error)[:60]}")
        case http.client.HTTPException() if "headers" in str(error):
            return HeadTooLarge(f"the response has more than {MAX_HEADERS} headers")
        case OSError():
            return error
    return None


class ResponseOfRequests:
    """The `raw` of a response, as `body.ResponseStream`."""

    def __init__(
        self,
        raw: HTTPResponse,
        sock: GuardedSocket | None,
        exchange: Exchange,
        error_of: Callable[[Exception], Exception],
    ) -> None:
        self.status = raw.status
        self.bytes_read = 0  # of the body on the wire, without chunk framing
        self._raw, self._socket, self._exchange, self._error_of = raw, sock, exchange, error_of
        self._pieces = raw.read_chunked(BUFFER, decode_content=False) if self.is_chunked() else self._read_plain()
        said = raw.headers.items() if raw._original_response is None else raw._original_response.msg.raw_items()
        self._fields = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in said]
        if sock is not None and self.is_chunked() and self.headers(b"content-length"):
            sock.close()  # after this response: the server may mean another end

    def header(self, name: bytes) -> str:
        values = self.headers(name)
        return values[0].strip() if values else ""

    def headers(self, name: bytes) -> list[str]:
        return [value.decode("latin-1") for known, value in self._fields if known.lower() == name]

    def head(self) -> str:
        return b"\n".join([name + b": " + value for name, value in self._fields]).decode("latin-1")[:MAX_HEAD]

    def recorded(
        self, method: str, target: str, host: str, sent: Mapping[str, str], public: Collection[str]
    ) -> ExchangeHeads | None:
        if not self._exchange.records:
            return None
        line = status_line(f"{self._raw.version / 10:.1f}", self.status, self._raw.reason or "")
        return recorded(method, target, host, sent, public, line, self._fields)

    def length(self) -> int | None:
        return self._raw.length_remaining

    def is_chunked(self) -> bool:
        return bool(self._raw.chunked)

    def read(self) -> bytes:
        try:
            piece = next(self._pieces, b"")
        except (HTTPError, http.client.HTTPException, ValueError) as error:
            raise self._error_of(error) from error
        self.bytes_read += len(piece)
        if self._socket is not None:
            self._socket.note_body(len(piece))
        return piece

    def close(self) -> None:
        """The connection is kept if the response was read to its end."""
        if self._raw.closed:
            self._raw.release_conn()
        else:
            self._raw.close()

    def _read_plain(self) -> Iterator[bytes]:
        while piece := self._raw.read1(BUFFER, decode_content=False):
            yield piece
