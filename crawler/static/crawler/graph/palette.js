/* The colours of the graph, from the style sheet of the current theme. */

export function palette(canvas) {
  const style = getComputedStyle(canvas);
  const of = (list) => Object.fromEntries(
    [...document.querySelectorAll(`#key-${list} li`)].map((entry) => [
      entry.dataset.key,
      getComputedStyle(entry.querySelector(".swatch")).backgroundColor,
    ]),
  );
  return {
    ink: style.color,
    ground: style.backgroundColor,
    line: style.borderTopColor,
    accent: style.outlineColor,
    answer: of("answer"),
    depth: of("depth"),
  };
}

/* Calls back when the theme changes, by the system or by the user. */
export function onTheme(changed) {
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  new MutationObserver(changed).observe(document.documentElement, { attributes: true });
}
