"""The catalogue of page fields agrees with itself and with the tables."""

from __future__ import annotations

from crawler.core.pages.page_fields import EXPORTED, PAGE_FIELDS, PARENT, SORTED_BY, FieldTable, Sort
from crawler.models import Page, PageFacts, PageLoad

COLUMNS = [field.column for field in PAGE_FIELDS if field.column]


def test_every_field_is_a_column_of_its_table() -> None:
    tables = {FieldTable.PAGE: Page, FieldTable.METADATA: PageFacts, FieldTable.LOAD: PageLoad}
    for field in PAGE_FIELDS:
        stored = tables[field.table]._meta.get_field("parent_id" if field.name == PARENT else field.name)
        assert stored.null == (field.is_nullable or field.name == PARENT)


def test_names_are_not_repeated() -> None:
    assert len({field.name for field in PAGE_FIELDS}) == len(PAGE_FIELDS)
    assert len({column.name for column in COLUMNS}) == len({column.position for column in COLUMNS}) == len(COLUMNS)


def test_metadata_follows_the_fields_of_the_page_and_how_it_loaded_follows_metadata() -> None:
    assert sorted(EXPORTED, key=lambda field: [*FieldTable].index(field.table)) == list(EXPORTED)


def test_every_sort_key_but_the_order_of_discovery_is_a_field() -> None:
    assert {Sort.FOUND, *SORTED_BY} == set(Sort)


def test_every_field_is_described() -> None:
    assert all(field.label and field.description.endswith(".") for field in PAGE_FIELDS)
