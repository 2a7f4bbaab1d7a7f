"""Which links lead nowhere because of how they are written, by table and by property."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.html.links import extract
from crawler.core.html.page_metadata import MAX_HREF, MAX_MALFORMED, HrefFault, HrefProblem, MalformedHref, problem_of
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
        ("http://[::1", (HrefFault.INVALID_HOST, "")),
        ("http://[::g]/", (HrefFault.INVALID_HOST, "")),
        ("https://exa mple.com/x", (HrefFault.INVALID_HOST, "")),
        ("//a<b/x", (HrefFault.INVALID_HOST, "")),
        ("http://1.2.3.256/", (HrefFault.INVALID_HOST, "")),
        ("http://user@%00/", (HrefFault.INVALID_HOST, "")),
        ("http://example.com:port/", (HrefFault.INVALID_PORT, "")),
        ("http://example.com:99999/", (HrefFault.INVALID_PORT, "")),
        ("http://[::1]:x/", (HrefFault.INVALID_PORT, "")),
        ("http://", (HrefFault.NO_HOST, "")),
        ("//", (HrefFault.NO_HOST, "")),
        ("http://:80/", (HrefFault.NO_HOST, "")),
        ("http://user@/", (HrefFault.NO_HOST, "")),
        (f"/{'x' * MAX_URL_LENGTH}", (HrefFault.TOO_LONG, "")),
        # Schemes that are mistyped
        ("htp:/x", (HrefFault.UNKNOWN_SCHEME, "htp")),
        ("htp://example.com/", (HrefFault.UNKNOWN_SCHEME, "htp")),
        ("htpp://example.com/", (HrefFault.UNKNOWN_SCHEME, "htpp")),
        ("hhttp://example.com/", (HrefFault.UNKNOWN_SCHEME, "hhttp")),
        ("ttp://example.com/", (HrefFault.UNKNOWN_SCHEME, "ttp")),
        ("HTTSP://example.com/", (HrefFault.UNKNOWN_SCHEME, "httsp")),
        ("hxxps://example.com/", (HrefFault.UNKNOWN_SCHEME, "hxxps")),
        (" \nht\ntps:\t//x", None),  # that is https://x: not asked about, see below
        (" ht\ntpss://x", (HrefFault.UNKNOWN_SCHEME, "httpss")),
        ("mailt:a@example.com", (HrefFault.UNKNOWN_SCHEME, "mailt")),
        ("emailto:a@example.com", (HrefFault.UNKNOWN_SCHEME, "emailto")),
        ("javscript:void(0)", (HrefFault.UNKNOWN_SCHEME, "javscript")),
        ("example.com:8080/x", (HrefFault.NO_SCHEME, "")),
        ("localhost:3000", (HrefFault.NO_SCHEME, "")),
        # Not for us, and right as they are
        *((f"{scheme}:x", None) for scheme in OTHER_SCHEMES),
        ("tel://+1 234", None),
        ("javascript://[%0aalert(1)", None),
        ("MAILTO:a@example.com", None),
        ("com.example.app:8x", None),
    ],
)
def test_what_is_wrong_with_a_link(reference: str, problem: tuple[HrefFault, str] | None) -> None:
    assert normalise(reference, PAGE) is None or not problem
    expected = HrefProblem(*problem) if problem else None
    assert (problem_of(reference, PAGE) if normalise(reference, PAGE) is None else None) == expected


@given(st.one_of(st.text(), st.text("htps:/[]@. \\\t#?1x", max_size=20)))
def test_what_the_url_standard_refuses_without_another_scheme_is_malformed(reference: str) -> None:
    problem = problem_of(reference, PAGE) if normalise(reference, PAGE) is None else None
    if resolve(reference, PAGE) is None and ":" not in reference:
        assert problem is not None
        assert problem.fault in (HrefFault.NO_HOST, HrefFault.INVALID_HOST, HrefFault.INVALID_PORT)
    assert problem is None or len(problem.scheme) < MAX_HREF


def test_a_page_tells_its_malformed_links_with_words_and_rel_wherever_they_stand() -> None:
    html = (
        "<base href='http://['><link rel=next href='htp:/n'><meta http-equiv=refresh content='0;url=http://[r'>"
        "<a href='htp:/x#top' rel='ugc x'> The <b>words</b></a><map><area href='http://a:x/' alt=z></map>"
        "<iframe src='http://'></iframe><iframe src=about:blank></iframe><a href='htp:/x#top'><img alt=Again></a>"
    )
    page = extract(html, PAGE)
    htp = HrefProblem(HrefFault.UNKNOWN_SCHEME, "htp")
    assert page.facts.malformed_number == 7
    assert page.malformed == (
        (MalformedHref("http://["), HrefProblem(HrefFault.INVALID_HOST, is_base=True)),
        (MalformedHref("htp:/n"), htp),
        (MalformedHref("http://[r"), HrefProblem(HrefFault.INVALID_HOST)),
        (MalformedHref("htp:/x#top", "The words", "ugc"), htp),
        (MalformedHref("http://a:x/"), HrefProblem(HrefFault.INVALID_PORT)),
        (MalformedHref("http://"), HrefProblem(HrefFault.NO_HOST)),
        (MalformedHref("htp:/x#top", "Again"), htp),
    )


def test_what_is_kept_of_them_is_bounded_and_their_number_is_told() -> None:
    page = extract("".join(f"<a href='htp:/{number}{'x' * 999}'>" for number in range(200)), PAGE)
    assert page.facts.malformed_number == 200
    assert [len(link.written) for link, _ in page.malformed] == [MAX_HREF] * MAX_MALFORMED


def test_a_page_of_links_for_other_programs_has_none() -> None:
    page = extract("<base href=ftp://example.com/><a href=mailto:a@b.c><a href='tel:1'><a href=''><a href=x>", PAGE)
    assert (page.malformed, page.facts.malformed_number) == ((), 0)
