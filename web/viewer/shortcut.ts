// Names the keys of a shortcut as this system does.

const isMac = /mac|iphone|ipad/i.test(navigator.platform);

/** @example shortcut("K") is "⌘K" or "Ctrl K" */
export const shortcut = (letter: string): string => (isMac ? `⌘${letter}` : `Ctrl ${letter}`);

/** Whether a key was pressed together with ⌘ or Ctrl only. */
export const isShortcut = (event: KeyboardEvent, letter: string): boolean =>
  event.key.toUpperCase() === letter && (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey;
