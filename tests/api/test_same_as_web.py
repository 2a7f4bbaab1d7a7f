"""Everything the web pages can do can be done over the API, or there is a reason why not."""

from crawler.api.v1 import api
from tests.routes import WEB


def operations() -> set[str]:
    paths = api.get_openapi_schema(path_prefix="")["paths"]
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def test_every_operation_named_here_is_there() -> None:
    named = {operation for route in WEB if isinstance(route.api, tuple) for operation in route.api}
    assert named <= operations()
