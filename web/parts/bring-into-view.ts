// Scrolls a row sideways to one of its elements. By itself a browser leaves an element with the focus where an edge of it shows.

export const bringIntoView = (element: HTMLElement | null): void =>
  element?.scrollIntoView({ block: "nearest", inline: "center" });
