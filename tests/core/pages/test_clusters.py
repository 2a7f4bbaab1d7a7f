from hypothesis import given
from hypothesis import strategies as st

from crawler.core.pages.graph import MAX_FOLDER_PARTS, clustered

SITES = st.lists(
    st.lists(st.sampled_from(["a", "b", "ab", "c?d", "é"]), max_size=4).map(lambda path: f"http://h/{'/'.join(path)}"),
    unique=True,
    max_size=60,
).map(sorted)


def told(urls: list[str], most: int) -> list[tuple[str, int]]:
    return [(cluster.prefix, cluster.size) for cluster in clustered(sorted(urls), most)]


def test_pages_fall_apart_by_host_then_by_folder() -> None:
    urls = [f"http://one/{folder}/{page}" for folder in "ab" for page in range(3)] + ["http://two/"]
    assert told(urls, 3) == [("http://one/a/", 3), ("http://one/b/", 3), ("http://two/", 1)]


def test_the_largest_falls_apart_first() -> None:
    urls = [f"http://h/small/{page}" for page in range(2)] + [f"http://h/large/{page}" for page in range(5)]
    assert told(urls, 6) == [*((f"http://h/large/{page}", 1) for page in range(5)), ("http://h/small/", 2)]


def test_a_folder_of_very_many_pages_falls_apart_by_their_letters() -> None:
    urls = [f"http://h/p/{letter}{number}" for letter in "xyz" for number in range(MAX_FOLDER_PARTS)]
    assert {prefix for prefix, _ in told(urls, 3)} == {"http://h/p/x", "http://h/p/y", "http://h/p/z"}


def test_folders_stay_whole_where_letters_would_say_little() -> None:
    urls = [f"http://h/{folder}/{page}" for folder in range(10, 50) for page in range(MAX_FOLDER_PARTS + 1)]
    assert told(urls, 1000) == [(f"http://h/{folder}/", MAX_FOLDER_PARTS + 1) for folder in range(10, 50)]


def test_a_page_with_the_name_of_a_folder_is_none_of_its_pages() -> None:
    assert told(["http://h/a", "http://h/a/", "http://h/a/b", "http://h/a-b"], 4) == [
        ("http://h/a", 1),
        ("http://h/a-b", 1),
        ("http://h/a/", 1),
        ("http://h/a/b", 1),
    ]


def test_nothing_is_no_cluster() -> None:
    assert clustered([], 10) == []


@given(SITES, st.integers(1, 30))
def test_each_page_is_in_one_cluster_and_there_are_not_too_many(urls: list[str], most: int) -> None:
    clusters = clustered(urls, most)
    assert [place for cluster in clusters for place in range(cluster.first, cluster.end)] == list(range(len(urls)))
    assert len(clusters) <= most


@given(SITES, st.integers(1, 30))
def test_a_cluster_is_named_by_what_its_pages_begin_with(urls: list[str], most: int) -> None:
    for cluster in clustered(urls, most):
        assert all(url.startswith(cluster.prefix) for url in urls[cluster.first : cluster.end])
