"""Sketches of texts are near each other when the texts are, and groups are found as if all had been compared."""

import random
import tracemalloc
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.core.html.links import extract
from crawler.core.html.simhash import MAX_DISTANCE_BITS, MIN_WORDS, alike, count_of, sketch_of, words_of

WORDS = [f"word{number}" for number in range(500)]


def distance(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count()


def test_a_word_changed_in_a_long_text_changes_few_bits() -> None:
    text = [random.Random(4).choice(WORDS) + str(place) for place in range(400)]
    changed = [*text[:200], "another", *text[201:]]
    assert distance(sketch_of(text), sketch_of(changed)) <= MAX_DISTANCE_BITS


def test_other_texts_have_sketches_far_away() -> None:
    one, other = ([f"{name}{place}" for place in range(400)] for name in ("cat", "dog"))
    assert distance(sketch_of(one), sketch_of(other)) > 3 * MAX_DISTANCE_BITS


def test_case_does_not_matter_and_order_does() -> None:
    text = WORDS[:100]
    assert sketch_of(text) == sketch_of([word.upper() for word in text])
    assert sketch_of(text) != sketch_of(text[::-1])


@pytest.mark.parametrize(("words", "has_one"), [(MIN_WORDS - 1, False), (MIN_WORDS, True)])
def test_a_text_of_few_words_has_no_sketch(words: int, has_one: bool) -> None:
    assert bool(sketch_of(WORDS[:words])) is has_one


def test_a_sketch_is_the_same_in_every_process() -> None:
    assert sketch_of(WORDS[:50]).hex() == "e177818e27d1fee0"


def test_one_is_made_of_a_page_only_when_asked_for() -> None:
    html = f"<body><p>{' '.join(WORDS[:50])}</p><script>no</script>"
    assert extract(html, "https://example.com/").facts.sketch == b""
    assert extract(html, "https://example.com/", sketches=True).facts.sketch == sketch_of(WORDS[:50])


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_groups_are_those_of_a_comparison_of_every_pair(seed: int) -> None:
    chance = random.Random(seed)
    centres = [chance.getrandbits(64) for _ in range(4)]
    sketches = {page: _near(chance.choice(centres), chance) for page in range(60)}
    assert sorted(alike(sketches)) == sorted(_by_pairs(sketches))


def test_a_crowd_is_one_group() -> None:
    chance = random.Random(6)
    sketches = {page: _near(0xF0F0F0F0F0F0F0F0, chance, most=2) for page in range(3000)}
    assert [len(group) for group in alike(sketches)] == [3000]


def test_the_largest_group_comes_first_and_each_is_in_order() -> None:
    one, other = bytes(8), bytes([255]) * 8
    assert alike({9: one, 3: one, 4: other, 5: other, 1: other, 7: b"\x0f" * 8}) == [[1, 4, 5], [3, 9]]


def _near(sketch: int, chance: random.Random, most: int = MAX_DISTANCE_BITS) -> bytes:
    for _ in range(chance.randrange(most + 1)):
        sketch ^= 1 << chance.randrange(64)
    return sketch.to_bytes(8, "big")


def _by_pairs(sketches: dict[int, bytes]) -> list[list[int]]:
    group_of = {page: {page} for page in sketches}
    for one, other in combinations(sketches, 2):
        if distance(sketches[one], sketches[other]) <= MAX_DISTANCE_BITS and group_of[one] is not group_of[other]:
            group_of[one] |= group_of[other]
            group_of |= dict.fromkeys(group_of[other], group_of[one])
    return [sorted(group) for group in {id(group): group for group in group_of.values()}.values() if len(group) > 1]


BLANKS = " \t\n\x1c\u00a0\u2003"


@pytest.mark.parametrize("times", [1, 10, 100_000], ids=["short", "of some length", "long"])
def test_words_stand_between_white_space(times: int) -> None:
    text = f"{BLANKS}one{BLANKS}two-three, 漢字 " * times
    assert words_of(text, 3) == (["one", "two-three,", "漢字"], 3 * times)
    assert count_of(text) == 3 * times


def test_a_text_without_words_has_none() -> None:
    assert words_of(BLANKS, 5) == ([], 0)


def test_a_long_text_is_counted_in_little_memory() -> None:
    text = "word " * 400_000
    tracemalloc.start()
    try:
        assert words_of(text, 10)[1] == 400_000
        assert tracemalloc.get_traced_memory()[1] < len(text) / 10
    finally:
        tracemalloc.stop()
