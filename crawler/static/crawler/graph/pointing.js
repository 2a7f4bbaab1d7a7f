/* Mouse, touch and keyboard input on the graph. The wheel zooms, and a finger moves the graph instead of the page, only
   after a click on the graph, so that scrolling the page still works. */

const CLICK = 5; // px a pointer may move and still be clicking
const STEP = 60; // px an arrow key moves

export function listen(canvas, painting, { chosen, touched }) {
  const down = new Map(); // pointer id -> where it is
  let travelled = 0;

  const where = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = () => {
    const [one, two] = [...down.values()];
    return { middle: [(one[0] + two[0]) / 2, (one[1] + two[1]) / 2], wide: Math.hypot(one[0] - two[0], one[1] - two[1]) };
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, where(event));
    if (down.size === 1) travelled = 0;
  });

  canvas.addEventListener("pointermove", (event) => {
    const now = where(event);
    if (!down.has(event.pointerId)) return hover(now);
    const [x, y] = down.get(event.pointerId);
    const before = down.size === 2 ? spread() : null;
    down.set(event.pointerId, now);
    travelled += Math.hypot(now[0] - x, now[1] - y);
    if (travelled <= CLICK) return undefined;
    touched();
    canvas.classList.add("moving");
    if (down.size === 1) return painting.move(now[0] - x, now[1] - y);
    if (!before) return undefined;
    const after = spread();
    painting.move(after.middle[0] - before.middle[0], after.middle[1] - before.middle[1]);
    return painting.zoom(after.wide / before.wide, after.middle);
  });

  const up = (event) => {
    const clicked = event.type === "pointerup" && down.size === 1 && travelled <= CLICK;
    down.delete(event.pointerId);
    canvas.classList.remove("moving");
    if (clicked) chosen(painting.at(...where(event)));
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => hover(null));

  function hover(place) {
    const under = place ? painting.at(...place) : null;
    if (under === painting.under) return;
    painting.under = under;
    canvas.classList.toggle("over", under !== null);
    painting.draw();
  }

  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    touched();
    painting.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), where(event));
  }, { passive: false });

  canvas.addEventListener("keydown", (event) => {
    const act = {
      ArrowLeft: () => painting.move(STEP, 0),
      ArrowRight: () => painting.move(-STEP, 0),
      ArrowUp: () => painting.move(0, STEP),
      ArrowDown: () => painting.move(0, -STEP),
      "+": () => painting.zoom(1.3),
      "=": () => painting.zoom(1.3),
      "-": () => painting.zoom(1 / 1.3),
      0: () => painting.fit(),
      Escape: () => chosen(null),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    touched();
    act();
  });

  document.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () => {
    touched();
    if (button.dataset.zoom === "fit") painting.fit();
    else painting.zoom(Number(button.dataset.zoom));
  }));
}
