"""A webhook as its receiver sees it, and what the receiver's answer means."""

import json
import time

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from crawler.core.channels import webhook
from crawler.core.channels.kind import Message, SigningContext
from crawler.core.errors import TransportError
from crawler.http.client import HttpFetcher
from crawler.http.guard import Guard
from crawler.notices.send import post
from tests.http.server import Reply, Server, Then, page

MESSAGE = Message(
    id="0b9a",
    event="crawl.finished",
    crawl="c1",
    receipt={"fetched": 3, "site": "bücher"},
    subject="Done",
    text="3",
    notice="77f1",
    at="2026-11-21T10:00:00.000+00:00",
)

LOOPBACK = Guard(("127.0.0.1",))
SECRET = "s3cret"


def send(reply: Reply, *, secret: str = SECRET, guard: Guard = LOOPBACK) -> Server:
    """The receiver, after it was sent the message and gave this reply."""
    with Server({"/hook": reply, "/elsewhere": page()}) as server, HttpFetcher(guard, "Tester/1") as poster:
        post(webhook.KIND, MESSAGE, f"{server.origin}/hook", secret=secret, poster=poster, now=lambda: 1700000000.9)
    return server


def header(server: Server, name: str) -> str | None:
    lines = dict(line.split(": ", 1) for line in server.requests[0].split("\n")[1:])
    return lines.get(name)


def refusal(reply: Reply, guard: Guard = LOOPBACK) -> TransportError:
    with pytest.raises(TransportError) as caught:
        send(reply, guard=guard)
    return caught.value


def test_the_receiver_gets_the_receipt() -> None:
    server = send(page("", "204 No Content"))
    assert server.requests[0].startswith("POST /hook ")
    assert header(server, "Content-Type") == "application/json"
    assert header(server, "X-Crawler-Event") == "crawl.finished"
    assert header(server, "X-Crawler-Delivery") == "0b9a"
    assert header(server, "X-Crawler-Notice") == "77f1"
    assert json.loads(server.bodies[0]) == {
        "id": "0b9a",
        "notice": "77f1",
        "event": "crawl.finished",
        "crawl": "c1",
        "round": 1,
        "number": 0,
        "at": "2026-11-21T10:00:00.000+00:00",
        "receipt": {"fetched": 3, "site": "bücher"},
    }


def test_the_receiver_can_tell_who_sent_it() -> None:
    server = send(page())
    assert header(server, "X-Crawler-Timestamp") == "1700000000"
    assert header(server, "X-Crawler-Signature") == webhook.signature("s3cret", "1700000000", server.bodies[0])


def test_the_signature_covers_time_and_body_under_the_secret() -> None:
    known = "97926816e98fbb41ccb1673225ff29a2f35369099990e1b1561651e7bd097ebf"  # by openssl dgst -sha256 -hmac
    assert webhook.signature("s3cret", "1700000000", b"{}") == f"sha256={known}"
    others = {
        webhook.signature("other", "1", b"a"),
        webhook.signature("s", "2", b"a"),
        webhook.signature("s", "1", b"b"),
    }
    assert webhook.signature("s", "1", b"a") not in others


def standard_headers(*secrets: str, now: float | None = None) -> dict[str, str]:
    signing = SigningContext(SECRET, time.time() if now is None else now, secrets)
    return {name: value for name, value in webhook.headers(MESSAGE, b"{}", signing).items() if "Crawler" not in name}


def test_the_official_library_accepts_the_signature_of_a_receiver() -> None:
    secret = webhook.secret_of(b"a" * webhook.KEY_BYTES)
    assert Webhook(secret).verify(b"{}", standard_headers(secret)) == {}


def test_during_a_rotation_both_secrets_are_accepted() -> None:
    new, old = webhook.secret_of(b"n" * webhook.KEY_BYTES), webhook.secret_of(b"o" * webhook.KEY_BYTES)
    for secret in (new, old):
        assert Webhook(secret).verify(b"{}", standard_headers(new, old)) == {}


def test_a_receiver_without_a_secret_of_its_own_checks_with_that_of_the_installation() -> None:
    assert Webhook(webhook.secret_of(SECRET.encode())).verify(b"{}", standard_headers()) == {}


def test_a_receiver_with_a_secret_of_its_own_gets_no_signature_under_another() -> None:
    with pytest.raises(WebhookVerificationError):
        Webhook(webhook.secret_of(SECRET.encode())).verify(b"{}", standard_headers(webhook.secret_of(b"a" * 32)))


def test_without_a_secret_nothing_pretends_to_be_signed() -> None:
    server = send(page(), secret="")
    assert header(server, "X-Crawler-Signature") is None
    assert header(server, "webhook-signature") is None


@pytest.mark.parametrize("status", ["200 OK", "201 Created", "202 Accepted", "204 No Content"])
def test_any_success_means_taken(status: str) -> None:
    assert len(send(page("", status)).requests) == 1


def test_what_the_receiver_says_besides_does_not_matter() -> None:
    assert send(page("short", then=Then.CLOSE, content_length="500")).requests


@pytest.mark.parametrize(
    ("status", "permanent"),
    [
        ("301 Moved", False),
        ("404 Not Found", True),
        ("408 Request Timeout", False),
        ("410 Gone", True),
        ("425 Too Early", False),
        ("429 Too Many Requests", False),
        ("500 Oops", False),
        ("999 Go away", False),
    ],
)
def test_a_refusal_says_whether_trying_again_helps(status: str, permanent: bool) -> None:
    error = refusal(page("", status))
    assert error.permanent is permanent
    assert status[:3] in str(error)


def test_a_redirect_is_not_followed() -> None:
    with (
        Server({"/hook": page("", "307 Moved", location="/elsewhere"), "/elsewhere": page()}) as server,
        HttpFetcher(LOOPBACK, "Tester/1") as poster,
        pytest.raises(TransportError, match="redirects are not followed"),
    ):
        post(webhook.KIND, MESSAGE, f"{server.origin}/hook", secret="s", poster=poster)
    assert server.paths() == ["/hook"]


def test_a_broken_connection_may_be_tried_again() -> None:
    error = refusal(Reply(then=Then.RESET))
    assert not error.permanent
    assert str(error)


def test_a_private_address_is_refused_for_good() -> None:
    error = refusal(page(), Guard())
    assert error.permanent
    assert "is a private address (Loopback); allow it by CRAWLER_PRIVATE_HOSTS" in str(error)
