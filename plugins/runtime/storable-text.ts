// Text from outside, as it can be stored and sent on.

/** Without NUL, which no TEXT column and no platform takes, and without halves of surrogate pairs. */
export const toStorableText = (text: string) => text.replaceAll("\0", "").toWellFormed();
