"""Tasks of one loop take turns: each runs until it waits, for a socket, a moment or another thread."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextvars import ContextVar

import pytest

from crawler.http import event_loop
from crawler.http.event_loop import READABLE, STALL_S, WRITABLE, EventLoop, sleep, wait_for, wait_for_socket
from crawler.http.request import end_long_step

LONG = 60.0  # seconds nothing takes


@pytest.fixture(params=["epoll", "poll"])
def loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[EventLoop]:
    if request.param == "poll":
        monkeypatch.delattr("select.epoll")
    with EventLoop() as made:
        yield made


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs


def run_until(loop: EventLoop, when: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG / 4
    while not when():
        assert time.monotonic() < deadline
        loop.run(0.01)


def test_a_task_waits_for_its_socket_while_others_run(
    loop: EventLoop, pair: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = pair
    story: list[str] = []

    def reader() -> None:
        for _ in range(2):
            wait_for_socket(ours, READABLE, LONG)
            story.append(ours.recv(9).decode())

    def writer() -> None:
        for word in ("one", "two"):
            theirs.send(word.encode())
            story.append(f"sent {word}")
            sleep(0.01)

    loop.spawn(reader)
    loop.spawn(writer)
    run_until(loop, lambda: len(story) == 4)
    assert story == ["sent one", "one", "sent two", "two"]


def test_a_socket_that_can_be_written_to(loop: EventLoop, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    sent: list[int] = []

    def writer() -> None:
        while sum(sent) < 10_000_000:
            try:
                sent.append(ours.send(bytes(1_000_000)))
            except BlockingIOError:
                wait_for_socket(ours, WRITABLE, LONG)

    reader = threading.Thread(target=lambda: list(iter(lambda: theirs.recv(100_000), b"")))
    loop.spawn(writer)
    loop.run(0)
    reader.start()
    run_until(loop, lambda: sum(sent) >= 10_000_000)
    ours.close()
    reader.join()


def test_a_wait_ends_at_its_deadline_and_no_earlier(loop: EventLoop, pair: tuple[socket.socket, socket.socket]) -> None:
    ended: dict[str, float] = {}
    began = time.monotonic()

    def wait(name: str, seconds: float) -> None:
        with pytest.raises(TimeoutError):
            wait_for_socket(pair[name == "long"], READABLE, seconds)
        ended[name] = time.monotonic() - began

    loop.spawn(lambda: wait("long", 0.2))
    loop.spawn(lambda: wait("short", 0.05))
    run_until(loop, lambda: len(ended) == 2)
    assert list(ended) == ["short", "long"]
    assert (ended["short"] >= 0.05, ended["long"] >= 0.2) == (True, True)


def test_the_clock_of_a_task_stands_still_while_it_waits_for_its_turn(
    loop: EventLoop, pair: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = pair
    took: list[float] = []

    def reader() -> None:
        began = event_loop.now()
        wait_for_socket(ours, READABLE, LONG)
        took.append(event_loop.now() - began)

    def busy() -> None:
        theirs.send(b"one")
        sleep(0)  # both can go on then
        time.sleep(STALL_S / 2)

    loop.spawn(reader)
    loop.spawn(busy)
    run_until(loop, lambda: bool(took))
    assert took[0] < STALL_S / 4


def test_the_step_of_one_task_makes_no_other_late(loop: EventLoop, pair: tuple[socket.socket, socket.socket]) -> None:
    """What has arrived counts, though the deadline has passed; and a long step stops the clock."""
    ours, theirs = pair
    received: list[bytes] = []

    def reader() -> None:
        wait_for_socket(ours, READABLE, STALL_S)
        received.append(ours.recv(9))
        wait_for_socket(ours, READABLE, STALL_S)
        received.append(ours.recv(9))

    def parser() -> None:
        theirs.send(b"one")
        time.sleep(STALL_S * 2)
        threading.Timer(STALL_S / 2, theirs.send, [b"two"]).start()
        sleep(0)
        time.sleep(STALL_S * 2)

    loop.spawn(reader)
    loop.spawn(parser)
    run_until(loop, lambda: len(received) == 2)
    assert received == [b"one", b"two"]


@pytest.mark.parametrize("step_s", [0.0, STALL_S / 2, STALL_S * 4])
def test_what_begins_late_in_a_long_step_takes_the_time_it_takes(loop: EventLoop, step_s: float) -> None:
    took = list[float]()

    def parses_and_asks() -> None:
        time.sleep(step_s)
        end_long_step()
        began = event_loop.now()
        sleep(STALL_S / 4)
        took.append(event_loop.now() - began)

    loop.spawn(parses_and_asks)
    run_until(loop, lambda: bool(took))
    assert took[0] >= STALL_S / 4


def test_a_result_of_another_thread_is_waited_for(loop: EventLoop) -> None:
    future: Future[str] = Future()
    results: list[str] = []
    loop.spawn(lambda: results.append(wait_for(future, LONG)))
    loop.run(0)
    threading.Timer(0.05, future.set_result, ["there"]).start()
    loop.run(LONG)  # until it is woken
    run_until(loop, lambda: bool(results))
    assert results == ["there"]


def test_an_error_of_another_thread_is_raised_in_the_task(loop: EventLoop) -> None:
    future: Future[str] = Future()

    def waits() -> None:
        wait_for(future, LONG)

    loop.spawn(waits)
    loop.run(0)
    future.set_exception(KeyError("gone"))
    with pytest.raises(KeyError, match="gone"):
        loop.run(LONG)


def test_a_result_that_comes_too_late_ends_no_later_wait(loop: EventLoop) -> None:
    future: Future[str] = Future()
    began = time.monotonic()
    ended: list[float] = []

    def waits() -> None:
        with pytest.raises(TimeoutError):
            wait_for(future, 0.01)
        future.set_result("too late")
        sleep(0.1)
        ended.append(time.monotonic() - began)

    loop.spawn(waits)
    run_until(loop, lambda: bool(ended))
    assert ended[0] >= 0.11


def test_what_a_task_raises_is_raised_by_the_loop(loop: EventLoop) -> None:
    def fails() -> None:
        sleep(0)
        raise KeyError("here")

    loop.spawn(fails)
    with pytest.raises(KeyError, match="here"):
        run_until(loop, lambda: False)


def test_an_error_is_thrown_into_every_task_that_waits(
    loop: EventLoop, pair: tuple[socket.socket, socket.socket]
) -> None:
    ended: list[str] = []

    def waits(name: str, wait: Callable[[], object]) -> None:
        with pytest.raises(KeyError):
            wait()
        ended.append(name)

    loop.spawn(lambda: waits("socket", lambda: wait_for_socket(pair[0], READABLE, LONG)))
    loop.spawn(lambda: waits("moment", lambda: sleep(LONG)))
    loop.spawn(lambda: waits("thread", lambda: wait_for(Future[None](), LONG)))
    loop.run(0)
    loop.throw(KeyError)
    assert ended == ["socket", "moment", "thread"]


def test_tasks_that_still_wait_end_with_the_loop(loop: EventLoop) -> None:
    ended: list[str] = []

    def waits() -> None:
        try:
            sleep(LONG)
        finally:
            ended.append("its connection is closed")

    def fails() -> None:
        raise KeyError("here")

    loop.spawn(waits)
    loop.run(0)
    loop.spawn(fails)
    with pytest.raises(KeyError, match="here"), loop:
        loop.run(0)
    assert ended == ["its connection is closed"]


def test_another_thread_can_end_the_wait_of_the_loop(loop: EventLoop) -> None:
    threading.Timer(0.05, loop.wake).start()
    began = time.monotonic()
    loop.run(LONG)
    assert time.monotonic() - began < LONG / 2


def test_a_task_has_the_context_it_was_spawned_in(loop: EventLoop) -> None:
    variable = ContextVar("variable", default="")
    seen: list[str] = []

    def looks() -> None:
        seen.append(variable.get())
        variable.set("changed")

    variable.set("given")
    loop.spawn(looks)
    loop.run(0)
    assert (seen, variable.get()) == (["given"], "given")


def test_outside_a_task_the_thread_waits(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    with pytest.raises(TimeoutError):
        wait_for_socket(ours, READABLE, 0.01)
    theirs.send(b"there")
    wait_for_socket(ours, READABLE, LONG)
    future: Future[int] = Future()
    with pytest.raises(TimeoutError):
        wait_for(future, 0.01)
    future.set_result(1)
    assert wait_for(future, LONG) == 1
    before = event_loop.now()
    sleep(0.01)
    assert event_loop.now() - before >= 0.01


def test_two_hundred_tasks_at_a_time(loop: EventLoop) -> None:
    """Each sends to the one beside it, in one round."""
    received: list[int] = []
    pairs = [socket.socketpair() for _ in range(200)]

    def passes_on(number: int) -> None:
        wait_for_socket(pairs[number][0], READABLE, LONG)
        received.append(pairs[number][0].recv(1)[0])
        if number + 1 < len(pairs):
            pairs[number + 1][1].send(bytes([(number + 1) % 256]))

    try:
        for number in range(len(pairs)):
            loop.spawn(lambda number=number: passes_on(number))  # type: ignore[misc]
        pairs[0][1].send(b"\0")
        run_until(loop, lambda: len(received) == len(pairs))
    finally:
        for ours, theirs in pairs:
            ours.close()
            theirs.close()
    assert received == [number % 256 for number in range(len(pairs))]


def test_it_tells_how_long_nothing_could_go_on(loop: EventLoop) -> None:
    loop.spawn(lambda: sleep(0.05))
    run_until(loop, lambda: loop.waited >= 0.05)
    waited = loop.waited
    loop.spawn(lambda: time.sleep(0.05))
    loop.run(LONG)
    assert loop.waited == waited
