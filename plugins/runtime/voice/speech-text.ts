// Makes the text that is spoken for a reply: without markup, and without what no voice can read.
import { parseMarkdown } from "../../../src/kernel/util/markdown/markdown.ts";

export interface SpeechText {
  /** Empty if nothing of the reply can be spoken. */
  text: string;
  /** Nothing that matters is missing: its reader needs no text beside it. */
  isWhole: boolean;
}

/** Characters of one spoken reply: about two minutes. */
export const MAX_SPOKEN = 1_500;

const ADDRESS = /(?:https?:\/\/|www\.|mailto:)\S+/giu;
const PICTOGRAPHS = /\p{Extended_Pictographic}(?:\ufe0f|\u200d\p{Extended_Pictographic})*/gu;
/** Marks that the parser puts in place of lists, boxes and rules. */
const MARKS = /^\s*(?:[•◦☐☑]\s|———$)/gmu;
/** The end of a sentence, within a cut text. */
const SENTENCE_END = /[.!?。！？…]["'”’»)\]]*(?=\s)/gu;

export function toSpeechText(markdown: string): SpeechText {
  const { text, spans } = parseMarkdown(markdown);
  let isWhole = true;
  let words = "";
  let at = 0;
  for (const { kind, start, end, url } of spans) {
    // The label of a link is spoken, and the link is for the eye.
    if (kind === "a" && url !== undefined) isWhole = false;
    if (kind !== "pre" || start < at) continue;
    isWhole = false;
    words += text.slice(at, start);
    at = end;
  }
  words += text.slice(at);
  const readable = words.replace(ADDRESS, () => {
    isWhole = false;
    return "";
  });
  const plain = readable
    .replace(PICTOGRAPHS, "")
    .replace(MARKS, "")
    .replace(/[ \u00a0]+/g, " ")
    .replace(/ *\n\s*/g, "\n")
    .trim();
  if (!/[\p{L}\p{N}]/u.test(plain)) return { text: "", isWhole: false };
  return plain.length <= MAX_SPOKEN ? { text: plain, isWhole } : { text: cutAtSentence(plain), isWhole: false };
}

function cutAtSentence(text: string): string {
  const room = text.slice(0, MAX_SPOKEN);
  const ends = [...room.matchAll(SENTENCE_END)].map(({ index, 0: mark }) => index + mark.length);
  const end = ends.findLast((one) => one > MAX_SPOKEN / 2) ?? room.lastIndexOf(" ");
  return room.slice(0, end > 0 ? end : MAX_SPOKEN).toWellFormed();
}
