"""One request and its response, sent and received by libcurl."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pycurl

from crawler.http.errors import ConnectionClosed, FetchTimeout, HeadTooLarge, InvalidResponse
from crawler.http.request import Exchange
from crawler.http.response_parser import ResponseParser
from crawler.http.transports.curl_errors import error_of
from crawler.http.transports.curl_lines import CurlSocket

MAX_OVERHEAD = 1024 * 1024  # bytes of TLS and HTTP/2 around a response, and in addition ...
OVERHEAD_PER_BYTE = 64  # ... for each of its bytes: one alone in a frame and a record needs 32
_HTTP_2 = b"HTTP/2 "

Arrived = tuple[list[bytes], list[bytes]]
"""What libcurl has handed over: lines of heads, and the bytes behind them."""


class Transfer:
    """The source of one response's bytes. It drives libcurl, and waits itself."""

    def __init__(
        self,
        multi: pycurl.CurlMulti,
        curl: pycurl.Curl,
        line: CurlSocket,
        parser: ResponseParser,
        exchange: Exchange,
        arrived: Arrived,
        keep: Callable[[CurlSocket], None],
    ) -> None:
        self._line, self._keep = line, keep
        self._multi, self._curl, self._parser, self._exchange = multi, curl, parser, exchange
        self._heads, self._rest = arrived
        self._is_added = False
        self._running = 0  # whether libcurl has more to do: 1 or 0
        self._failure: tuple[int, str] | None = None  # libcurl's code and text
        self._can_go_on = False  # libcurl has more to read or write already
        self._is_multiplexed = False  # the server answers in HTTP/2
        self._is_interim = False  # it does so before its final response
        self._may_receive = MAX_OVERHEAD + line.received  # bytes on the connection
        self._host = ""  # with which TLS is being spoken, until the request is sent
        self._seconds = self._read_seconds

    def begin(self, tls_host: str) -> None:
        """Send the request; `tls_host` is the name in the certificate of a new connection, "" for others."""
        self._exchange.check()  # libcurl sends at once
        self._host = tls_host
        if tls_host:
            ends = self._exchange.elapsed_ms() + self._exchange.limits.connect_seconds * 1000
            self._seconds = partial(self._exchange.time_until, ends)
        self._multi.add_handle(self._curl)
        self._is_added = True
        self._advance()
        self._line.taken()

    def receive(self) -> bytes:
        """The next bytes of the response, in HTTP/1; b"" if it has ended. Raises `FETCH_ERRORS`."""
        while True:
            data = self._taken()
            if data:
                return data
            if not self._running:
                self._raise_failure()
                return b""
            if self._can_go_on:
                self._seconds()  # raises if a time limit was exceeded
            else:
                self._wait()
            self._advance()

    def keep(self) -> None:
        """Have the connection used again, if libcurl takes the response for complete, too."""
        if self._running:
            self._advance()
        is_complete = not self._running and self._failure is None
        self._remove()
        if is_complete:
            self._keep(self._line)
        else:
            self._line.close()

    def close(self) -> None:
        """End the connection, too. One of HTTP/2 is kept if the response was complete: no other can be taken for it."""
        if self._is_multiplexed and not self._running and self._failure is None:
            self.keep()
            return
        self._remove()
        self._line.close()

    def _remove(self) -> None:
        if self._is_added:
            self._multi.remove_handle(self._curl)
            self._is_added = False
        self._heads.clear()
        self._rest.clear()

    def _advance(self) -> None:
        """Have libcurl read and write what it can without waiting, and send what it wrote."""
        _, self._running = self._multi.perform()
        if not self._running:
            self._read_result()
        try:
            self._can_go_on = self._line.flush(self._seconds) or (self._line.is_pumped and self._has_more())
        except (BrokenPipeError, ConnectionResetError):
            self._can_go_on = False  # a server that closes the connection early may have sent a response
        except TimeoutError as error:
            raise self._timeout_error("nothing could be sent") from error
        finally:
            if not self._exchange.sent and self._curl.getinfo(pycurl.REQUEST_SIZE):
                self._host, self._seconds = "", self._read_seconds
                self._exchange.note_sent()

    def _has_more(self) -> bool:
        """Whether libcurl may have more of what has arrived: it keeps TLS records and frames that came together."""
        return bool(self._heads or self._rest) or self._multi.timeout() == 0

    def _read_result(self) -> None:
        _, _, failed = self._multi.info_read()
        if failed:
            _, code, text = failed[0]
            self._failure = code, text

    def _wait(self) -> None:
        try:
            self._line.wait(self._seconds)
        except TimeoutError as error:
            raise self._timeout_error("nothing arrived" if self._exchange.received else "no response") from error
        except ConnectionError as error:
            if self._host:
                raise ConnectionClosed(f"the connection broke during the TLS handshake: {error.strerror}") from error
            raise
        if self._line.received > self._may_receive:
            raise HeadTooLarge("the framing of TLS or HTTP/2 is larger than the response allows")

    def _taken(self) -> bytes:
        heads, rest = self._heads, self._rest
        if not heads and not rest:
            return b""
        if heads and self._parser.status:
            heads.clear()  # trailers
        if heads and not self._is_multiplexed and heads[0].startswith(_HTTP_2):
            self._is_multiplexed = self._exchange.url.startswith("https:")  # it is negotiated within TLS only
        if heads and self._is_multiplexed:
            heads[:] = self._as_http_1(heads)
        data = b"".join((*heads, *rest))
        heads.clear()
        rest.clear()
        self._exchange.received += len(data)
        self._may_receive += len(data) * OVERHEAD_PER_BYTE
        return data

    def _as_http_1(self, lines: list[bytes]) -> Iterator[bytes]:
        """The lines up to the end of the final head; trailers may follow it."""
        for line in lines:
            if line.startswith(_HTTP_2):
                self._is_interim = line.startswith(b"1", len(_HTTP_2))
                yield b"HTTP/1.1 " + line[len(_HTTP_2) :]
            else:
                yield line
            if line == b"\r\n" and not self._is_interim:
                return

    def _raise_failure(self) -> None:
        if self._failure is None:
            return
        error = error_of(
            *self._failure,
            verified=self._curl.getinfo(pycurl.SSL_VERIFYRESULT),
            number=self._curl.getinfo(pycurl.OS_ERRNO),
            host=self._host,
            limit=self._exchange.limits.max_header_bytes,
            has_ended=self._line.has_ended,
        )
        if error is None and self._is_multiplexed:  # where only a frame ends a body
            error = InvalidResponse("the connection ended before the body did")
        if error is not None:
            raise error

    def _read_seconds(self) -> float:
        return self._exchange.time_left(self._exchange.limits.read_seconds)

    def _timeout_error(self, what: str) -> FetchTimeout:
        limits = self._exchange.limits
        seconds = limits.connect_seconds if self._host else limits.read_seconds
        self._exchange.time_left(seconds)  # raises if the total time limit was exceeded
        if self._host:
            return FetchTimeout(f"no TLS connection in {seconds:g} seconds")
        return FetchTimeout(f"{what} for {seconds:g} seconds")
