// Makes texts of others safe to stand beside a sender's own words: names, and notes in brackets such as `[document: plan.pdf]`.

const MAX_NAME = 40;
const MAX_DETAIL = 2_000;

/** A person's name as one short line without markup or punctuation that could pass for more than a name. */
export function plainName(name: string): string {
  const text = name
    .replace(/[^\p{L}\p{M}\p{N}\p{Zs}.'-]/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return [...text].slice(0, MAX_NAME).join("").trim() || "Somebody";
}

/**
 * A note of one line about what came with a message. The detail may be written by somebody else (a file's name, a quoted
 * message). It can't end the note, so that it never passes for the words of the sender.
 */
export function bracketNote(kind: string, detail = "", maxDetail = MAX_DETAIL): string {
  // What a platform sends is not checked down to every field: anything but text must not end the reading of messages.
  const text = oneLine(String(detail)).replaceAll("[", "(").replaceAll("]", ")").slice(0, maxDetail).toWellFormed();
  return text === "" ? `[${kind}]` : `[${kind}: ${text}]`;
}

/** The text with all white space and control characters as single blanks. */
export const oneLine = (text: string) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();
