"""Each mutation can still be applied, and the test that catches it is still there."""

import pytest

from tests.mutations.catalogue import MUTATIONS, ROOT, Mutation


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_it_applies_and_its_test_exists(mutation: Mutation) -> None:
    source = (ROOT / mutation.file).read_text("utf-8")
    assert mutation.applied(source) != source
    name = mutation.test.rpartition("::")[2]
    assert f"def {name}(" in mutation.test_file.read_text("utf-8")


def test_each_has_a_name_of_its_own() -> None:
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS)
