"""The options of a crawl made from the command line."""

import re
from pathlib import Path

import pytest

from crawler.core.errors import BadInput
from crawler.core.extraction.rules import FieldRule
from crawler.core.options.catalogue import CrawlOptions
from crawler.management.commands.crawl import Command
from crawler.management.crawl_options import chosen
from tests.options import TYPED


def options_for(*words: str) -> CrawlOptions:
    parser = Command().create_parser("manage.py", "crawl")
    return chosen(vars(parser.parse_args(["https://a.test/", *words])))


def test_a_url_alone_means_the_default_options() -> None:
    assert options_for() == CrawlOptions()


def test_every_option_can_be_typed() -> None:
    assert set(TYPED) == set(CrawlOptions.__struct_fields__) - {"private_hosts", "fields", "keep"}  # see below
    words = [word for typed in TYPED.values() for word in typed.words]
    assert options_for(*words) == CrawlOptions(**{name: typed.value for name, typed in TYPED.items()})


def test_content_is_kept_in_each_form_once() -> None:
    assert options_for("--keep", "warc", "--keep", "html", "--keep", "warc").keep == ("warc", "html")


def test_rules_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("title: h1\n")
    assert options_for("--fields", str(file)).fields == (FieldRule(name="title", selector="h1"),)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "the file has no rules"),
        (b"\xff\xfe", "not text in UTF-8"),
        (b"- name: a", "Rule 1 ('a') has no selector"),
    ],
)
def test_a_file_that_holds_no_rules_is_bad_input(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "rules.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadInput, match=re.escape(said)):
        options_for("--fields", str(file))


def test_the_usual_parameters_can_be_kept() -> None:
    assert options_for("--keep-parameters").drop_parameters == ()
    assert options_for("--keep-parameters", "--drop-parameter", "sid").drop_parameters == ("sid",)
