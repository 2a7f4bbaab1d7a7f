"""A worker's connections are used while hosts take long to respond."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from threading import Event, Thread

import pytest

from tests.stack import Stack

HOSTS, PAGES, RESPONSE_S = 64, 12, 3.0
ADDRESSES = [f"127.1.1.{host + 1}" for host in range(HOSTS)]
CONCURRENCY = 4
WORKER_CONNECTIONS = 256  # as many as the hosts allow together
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 14\r\n\r\n<p>Slow page</"


class SlowHosts:
    """Serves the addresses at one port, and counts the requests under way."""

    def __init__(self) -> None:
        self.port = 0
        self.most, self.most_of_host = 0, 0  # at a time
        self._under_way = Counter[str]()
        self._is_serving = Event()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_until_complete, args=[self._serve()])

    def start(self) -> None:
        self._thread.start()
        assert self._is_serving.wait(10)

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()
        self._loop.close()

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        first, *others = ADDRESSES
        servers = [await asyncio.start_server(self._answer, first, 0)]
        self.port = servers[0].sockets[0].getsockname()[1]
        servers.append(await asyncio.start_server(self._answer, others, self.port))
        self._is_serving.set()
        await self._end.wait()
        for server in servers:
            server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                self._under_way[host] += 1
                self.most = max(self.most, self._under_way.total())
                self.most_of_host = max(self.most_of_host, self._under_way[host])
                await asyncio.sleep(RESPONSE_S)
                self._under_way[host] -= 1
                writer.write(RESPONSE)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the worker has closed the connection
        finally:  # also when the test is over: what is left open fails a later test
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


@pytest.fixture
def hosts() -> Iterator[SlowHosts]:
    hosts = SlowHosts()
    hosts.start()
    try:
        yield hosts
    finally:
        hosts.end()


@pytest.mark.long
def test_slow_hosts_are_requested_over_all_connections_that_they_allow(stack: Stack, hosts: SlowHosts) -> None:
    stack.env["CRAWLER_WORKER_CONNECTIONS"] = str(WORKER_CONNECTIONS)
    stack.start_worker()
    urls = [f"http://{address}:{hosts.port}/{page}" for page in range(PAGES) for address in ADDRESSES]
    receipt = stack.wait_until_finished(
        stack.start(*urls, recursive=False, obey_robots=False, throttle=False, concurrency=CONCURRENCY)
    )
    assert receipt["fetched"] == len(urls)
    assert hosts.most_of_host == CONCURRENCY
    assert hosts.most >= 0.75 * min(HOSTS * CONCURRENCY, WORKER_CONNECTIONS)
