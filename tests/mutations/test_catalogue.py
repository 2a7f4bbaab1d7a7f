"""Each mutation can still be applied, and the test that catches it is still there."""

from tests.mutations.catalogue import MUTATIONS, ROOT


def test_each_applies_and_its_test_exists() -> None:
    for mutation in MUTATIONS:
        source = (ROOT / mutation.file).read_text("utf-8")
        assert mutation.applied(source) != source, mutation.name
        name = mutation.test.rpartition("::")[2].partition("[")[0]
        assert f"def {name}(" in mutation.test_file.read_text("utf-8"), mutation.name


def test_each_has_a_name_of_its_own() -> None:
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS)
