import os
import signal
import threading

import pytest

from crawler.management.waiting import SIGNALS, Stop, stop_signals


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_taken_gently_is_only_noted(number: signal.Signals, exit_code: int) -> None:
    with stop_signals() as stop, stop.gently():
        os.kill(os.getpid(), number)
    assert stop.signal == number
    assert stop.exit_code == exit_code


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_at_any_other_moment_interrupts(number: signal.Signals) -> None:
    with stop_signals() as stop, pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)
    assert stop.signal == number


def test_the_second_signal_interrupts_at_once() -> None:
    with stop_signals() as stop, stop.gently():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_the_handlers_from_before_come_back() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with stop_signals():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_another_thread_hears_nothing_and_changes_nothing() -> None:
    before = signal.getsignal(signal.SIGINT)
    heard: list[Stop] = []

    def listen() -> None:
        with stop_signals() as stop:
            heard.append(stop)

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert heard[0].signal is None
    assert signal.getsignal(signal.SIGINT) == before
