"""A browser that shows the pages of the world, and remembers which."""

from __future__ import annotations

from crawler.browser.result import Rendering
from tests.manager.machine.world import World
from tests.rendering_twin import Browser


class WorldBrowser(Browser):
    def __init__(self, world: World) -> None:
        super().__init__({})
        self._world = world

    def render(self, url: str, *given: object, **named: object) -> Rendering:
        name = self._world.name(url)
        self.rendered.append(name)
        return Rendering(html=self._world.shown(name).encode())
