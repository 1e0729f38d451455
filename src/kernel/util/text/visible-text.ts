// Shows characters that turn the direction of writing as their numbers, where a text must not look like another one.

const TURNS = /\p{Bidi_Control}/gu;

/** The text with such characters as `⟨U+202E⟩`; all others, also of languages that run from right to left, stay. */
export const visibleText = (text: string): string =>
  text.replace(TURNS, (mark) => `⟨U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
