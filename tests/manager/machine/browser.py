"""A browser that shows the pages of the world, remembers which, and crashes when a story says so."""

from collections import Counter

from crawler.capabilities.browser.result import Rendering
from tests.manager.machine.world import World
from tests.rendering_twin import Browser, Crashed


class WorldBrowser(Browser):
    """A crash ends the page and not its worker, which has another browser for the next one."""

    def __init__(self, world: World) -> None:
        super().__init__({})
        self._world = world
        self.crashes_to_come = 0  # with the next pages, whichever they are: one Chromium had all of them
        self.deadly: Counter[str] = Counter()  # page -> browsers that it is yet to crash
        self.crashed: Counter[str] = Counter()  # page -> browsers that crashed while they had it

    def render(self, url: str, *given: object, **named: object) -> Rendering:
        name = self._world.name(url)
        self.rendered.append(name)
        if self.crashes_to_come or self.deadly[name]:
            self.crashes_to_come = max(0, self.crashes_to_come - 1)
            self.deadly[name] = max(0, self.deadly[name] - 1)
            self.crashed[name] += 1
            raise Crashed("the browser crashed while it rendered this page")
        return Rendering(html=self._world.shown(name).encode())
