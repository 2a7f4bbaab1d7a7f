"""What every parser holds to, whatever it is given: no error but its own, the shape it promises, the same twice."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.parsers import PARSERS


@pytest.mark.filterwarnings("ignore")  # of soupsieve and bs4, about what they are given
@pytest.mark.parametrize("name", PARSERS)
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_it_is_given_it_keeps_its_promises(name: str, data: st.DataObject) -> None:
    parser = PARSERS[name]
    meant = st.lists(st.sampled_from((*parser.tokens, *parser.seeds)), max_size=12).map(b"".join)
    parser.read(
        data.draw(
            st.one_of(
                st.binary(max_size=200), st.text(st.characters(codec="utf-8"), max_size=100).map(str.encode), meant
            )
        )
    )
