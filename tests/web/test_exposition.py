"""Metrics as Prometheus's own parser reads them."""

from prometheus_client.parser import text_string_to_metric_families

from crawler.web.exposition import Family, Sample, histogram, text_of


def test_labels_and_descriptions_are_read_as_they_were_written() -> None:
    odd = 'a "quoted" \\ line\nand another'
    [family] = text_string_to_metric_families(
        text_of([Family("odd", "gauge", "a \\ line\nmore", [Sample(1, {"x": odd})])])
    )
    assert (family.documentation, family.samples[0].labels) == ("a \\ line\nmore", {"x": odd})


def test_a_histogram_adds_up() -> None:
    text = text_of([histogram("seconds", "Duration.", (0.1, 1.0), [2, 0, 3], 40.5)])
    [family] = text_string_to_metric_families(text)
    assert family.type == "histogram"
    found = {(sample.name, sample.labels.get("le")): sample.value for sample in family.samples}
    assert found == {
        ("seconds_bucket", "0.1"): 2,
        ("seconds_bucket", "1.0"): 2,
        ("seconds_bucket", "+Inf"): 5,
        ("seconds_count", None): 5,
        ("seconds_sum", None): 40.5,
    }


def test_a_family_without_samples_is_known_all_the_same() -> None:
    assert text_of([Family("none", "counter", "Of nothing.", [])]) == "# HELP none Of nothing.\n# TYPE none counter\n"
