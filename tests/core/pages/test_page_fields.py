"""The catalogue of page fields agrees with itself and with the tables."""

from crawler.core.pages.page_field import METADATA, PAGE_TABLE, Sort
from crawler.core.pages.page_fields import EXPORTED, PAGE_FIELDS, PARENT, SORTED_BY
from crawler.models import Page, PageFacts
from crawler.storage.page_tables import page_tables

TABLES = [PAGE_TABLE, METADATA, *(table.relation for table in page_tables())]
COLUMNS = [field.column for field in PAGE_FIELDS if field.column]


def test_every_field_is_a_column_of_its_table() -> None:
    tables = {PAGE_TABLE: Page, METADATA: PageFacts} | {table.relation: table.model for table in page_tables()}
    for field in PAGE_FIELDS:
        stored = tables[field.table]._meta.get_field("parent_id" if field.name == PARENT else field.attribute)
        assert stored.null == (field.is_nullable or field.name == PARENT)


def test_names_are_not_repeated() -> None:
    assert len({field.name for field in PAGE_FIELDS}) == len(PAGE_FIELDS)
    assert len({column.name for column in COLUMNS}) == len({column.position for column in COLUMNS}) == len(COLUMNS)


def test_metadata_follows_the_fields_of_the_page_and_tables_of_capabilities_follow_metadata() -> None:
    assert sorted(EXPORTED, key=lambda field: TABLES.index(field.table)) == list(EXPORTED)


def test_every_sort_key_but_the_order_of_discovery_is_a_field() -> None:
    assert {Sort.FOUND, *SORTED_BY} == set(Sort)


def test_every_field_is_described() -> None:
    assert all(field.label and field.description.endswith(".") for field in PAGE_FIELDS)
