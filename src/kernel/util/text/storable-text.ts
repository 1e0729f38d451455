// Makes text from outside storable.

/** Removes NUL, which no TEXT column and no platform accepts, and replaces lone surrogates by U+FFFD. */
export const toStorableText = (text: string) => text.replaceAll("\0", "").toWellFormed();
