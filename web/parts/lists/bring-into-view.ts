// Scrolls a row or column of links to one of its elements. Only the row moves: `scrollIntoView` moves the page, too, whose heading
// is then out of sight. By itself a browser leaves an element with the focus where an edge of it shows.

export function bringIntoView(element: HTMLElement | null): void {
  const row = element && scrollerOf(element);
  if (!row) return;
  const [part, whole] = [element.getBoundingClientRect(), row.getBoundingClientRect()];
  const left = (part.left + part.right - whole.left - whole.right) / 2;
  const top = Math.min(0, part.top - whole.top) + Math.max(0, part.bottom - whole.bottom);
  row.scrollBy({ left, top });
}

/** The nearest box around the element that scrolls; undefined where only the page does. */
function scrollerOf(element: HTMLElement): HTMLElement | undefined {
  for (let box = element.parentElement; box && box !== document.body; box = box.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(box);
    if (/auto|scroll/.test(overflowX + overflowY)) return box;
  }
  return undefined;
}
