"""When a crawl ends, those who asked are told: signed, and with an id."""

import email
import json

from crawler.core.channels.webhook import signature
from tests.site import Reply, Site, page
from tests.stack import Stack


def test_e_mail_and_webhook_tell_the_same_receipt(stack: Stack) -> None:
    pages = {"/": page("/a"), "/a": page(), "/hook": lambda before: Reply(status=200 if before else 503)}
    with Site(pages).serving() as site:
        stack.start_worker()
        hook = f"{site.url}/hook"
        crawl = stack.start(f"{site.url}/", notify_emails=["me@example.com"], notify_webhooks=[hook])
        receipt = stack.wait_until_finished(crawl)
        delivered = "SELECT * FROM crawler_delivery WHERE state = 'delivered' ORDER BY transport"
        stack.wait_for(lambda: len(stack.rows(delivered)) == 2)

    by_mail, by_hook = stack.rows(delivered)
    (mail_file,) = (stack.folder / "mail").iterdir()
    mail = email.message_from_bytes(mail_file.read_bytes())
    assert mail["To"] == "me@example.com"
    assert by_mail["id"] in mail["Message-ID"].replace("-", "")

    posts = [request for request in site.requests if request.path == "/hook"]
    assert len(posts) == 2  # the first was answered 503
    assert by_hook["attempts"] == 2
    for post in posts:
        told = json.loads(post.body)
        assert told["receipt"] == receipt
        assert told["id"] == post.headers["X-Crawler-Delivery"]
        assert told["id"].replace("-", "") == by_hook["id"]
        secret = (stack.folder / "webhook_secret").read_text()
        expected = signature(secret, post.headers["X-Crawler-Timestamp"], post.body)
        assert post.headers["X-Crawler-Signature"] == expected
    assert {entry["transport"] for entry in receipt["notifications"]} == {"email", "webhook"}
