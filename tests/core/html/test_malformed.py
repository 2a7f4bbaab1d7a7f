"""Which links lead nowhere because of how they are written, by table and by property."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.html.links import extract
from crawler.core.html.page_metadata import MAX_HREF, MAX_MALFORMED, MalformedHref, problem_of
from crawler.core.urls.normalise import MAX_URL_LENGTH, normalise, resolve

OTHER_SCHEMES = [
    *("about", "blob", "bitcoin", "callto", "chrome", "cid", "data", "dav", "facetime", "feed", "file", "fish"),
    *("ftp", "ftps", "geo", "git", "gopher", "imap", "intent", "irc", "itms-apps", "jabber", "java", "javascript"),
    *("ldap", "magnet", "mailto", "maps", "market", "message", "mid", "ms-settings", "msteams", "news", "nfs"),
    *("nntp", "ntp", "pop", "resource", "rtmp", "rtp", "rtsp", "sftp", "sip", "sips", "skype", "slack", "sms"),
    *("smsto", "smtp", "snews", "spotify", "ssh", "steam", "stun", "svn", "tcp", "tel", "telnet", "tftp", "tg"),
    *("udp", "urn", "vbscript", "viber", "view-source", "vscode", "web+app", "webcal", "whatsapp", "ws", "wss"),
    *("xmpp", "com.example.app"),
]

PAGE = "https://example.com/a/page?q"


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        # What the URL Standard refuses
        ("http://[::1", "not a valid URL: invalid host"),
        ("http://[::g]/", "not a valid URL: invalid host"),
        ("https://exa mple.com/x", "not a valid URL: invalid host"),
        ("//a<b/x", "not a valid URL: invalid host"),
        ("http://1.2.3.256/", "not a valid URL: invalid host"),
        ("http://user@%00/", "not a valid URL: invalid host"),
        ("http://example.com:port/", "not a valid URL: invalid port"),
        ("http://example.com:99999/", "not a valid URL: invalid port"),
        ("http://[::1]:x/", "not a valid URL: invalid port"),
        ("http://", "not a valid URL: no host"),
        ("//", "not a valid URL: no host"),
        ("http://:80/", "not a valid URL: no host"),
        ("http://user@/", "not a valid URL: no host"),
        (f"/{'x' * MAX_URL_LENGTH}", "longer than 4,096 characters"),
        # Schemes that are mistyped
        ("htp:/x", "unknown scheme htp"),
        ("htp://example.com/", "unknown scheme htp"),
        ("htpp://example.com/", "unknown scheme htpp"),
        ("hhttp://example.com/", "unknown scheme hhttp"),
        ("ttp://example.com/", "unknown scheme ttp"),
        ("HTTSP://example.com/", "unknown scheme httsp"),
        ("hxxps://example.com/", "unknown scheme hxxps"),
        (" \nht\ntps:\t//x", ""),  # that is https://x: not asked about, see below
        (" ht\ntpss://x", "unknown scheme httpss"),
        ("mailt:a@example.com", "unknown scheme mailt"),
        ("emailto:a@example.com", "unknown scheme emailto"),
        ("javscript:void(0)", "unknown scheme javscript"),
        ("example.com:8080/x", "no scheme before host and port"),
        ("localhost:3000", "no scheme before host and port"),
        # Not for us, and right as they are
        *((f"{scheme}:x", "") for scheme in OTHER_SCHEMES),
        ("tel://+1 234", ""),
        ("javascript://[%0aalert(1)", ""),
        ("MAILTO:a@example.com", ""),
        ("com.example.app:8x", ""),
    ],
)
def test_what_is_wrong_with_a_link(reference: str, problem: str) -> None:
    assert normalise(reference, PAGE) is None or not problem
    assert (problem_of(reference, PAGE) if normalise(reference, PAGE) is None else "") == problem


@given(st.one_of(st.text(), st.text("htps:/[]@. \\\t#?1x", max_size=20)))
def test_what_the_url_standard_refuses_without_another_scheme_is_malformed(reference: str) -> None:
    problem = problem_of(reference, PAGE) if normalise(reference, PAGE) is None else ""
    if resolve(reference, PAGE) is None and ":" not in reference:
        assert problem.startswith("not a valid URL")
    assert len(problem) < MAX_HREF + 100


def test_a_page_tells_its_malformed_links_with_words_and_rel_wherever_they_stand() -> None:
    html = (
        "<base href='http://['><link rel=next href='htp:/n'><meta http-equiv=refresh content='0;url=http://[r'>"
        "<a href='htp:/x#top' rel='ugc x'> The <b>words</b></a><map><area href='http://a:x/' alt=z></map>"
        "<iframe src='http://'></iframe><iframe src=about:blank></iframe><a href='htp:/x#top'><img alt=Again></a>"
    )
    facts = extract(html, PAGE).facts
    assert facts.malformed_number == 7
    assert facts.malformed == (
        MalformedHref("http://[", "", "", "not a valid URL: invalid host (it is the base of the page's links)"),
        MalformedHref("htp:/n", "", "", "unknown scheme htp"),
        MalformedHref("http://[r", "", "", "not a valid URL: invalid host"),
        MalformedHref("htp:/x#top", "The words", "ugc", "unknown scheme htp"),
        MalformedHref("http://a:x/", "", "", "not a valid URL: invalid port"),
        MalformedHref("http://", "", "", "not a valid URL: no host"),
        MalformedHref("htp:/x#top", "Again", "", "unknown scheme htp"),
    )


def test_what_is_kept_of_them_is_bounded_and_their_number_is_told() -> None:
    facts = extract("".join(f"<a href='htp:/{number}{'x' * 999}'>" for number in range(200)), PAGE).facts
    assert facts.malformed_number == 200
    assert [len(link.written) for link in facts.malformed] == [MAX_HREF] * MAX_MALFORMED


def test_a_page_of_links_for_other_programs_has_none() -> None:
    facts = extract(
        "<base href=ftp://example.com/><a href=mailto:a@b.c><a href='tel:1'><a href=''><a href=x>", PAGE
    ).facts
    assert (facts.malformed, facts.malformed_number) == ((), 0)
