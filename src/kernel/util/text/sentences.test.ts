// Sentences of the server in another language.
import { describe, expect, test } from "bun:test";
import { createSentences } from "./sentences.ts";

function german() {
  const sentences = createSentences({
    number: (value) => new Intl.NumberFormat("de").format(value),
    time: (at) => `am ${new Date(at).getUTCDate()}.`,
  });
  sentences.add({
    "The file is empty.": "Die Datei ist leer.",
    "At most {n} of {n2} files.": "Von {n2} Dateien höchstens {n}.",
    "{name} said: {text}": "{name} sagte: {text}",
    "{name} said: no, {text}": "{name} sagte nein, {text}",
    "It begins {at}.": "Es beginnt {at}.",
    "Is it {it}? (a+b)": "Ist es {it}? (a+b)",
  });
  return sentences.translate;
}

describe("a sentence of the server", () => {
  const translate = german();

  test.each([
    ["is found by its English form", "The file is empty.", "Die Datei ist leer."],
    ["stays English if there is none", "The disk is full.", "The disk is full."],
    [
      "keeps its numbers, written in the other way",
      "At most 2.5 of 10,000 files.",
      "Von 10.000 Dateien höchstens 2,5.",
    ],
    ["takes no word for a number", "At most many of 2 files.", "At most many of 2 files."],
    ["has its times in the viewer's zone", "It begins 2026-03-04T05:06:07.000Z.", "Es beginnt am 4.."],
    [
      "translates a value that is a sentence",
      "Telegram said: The file is empty.",
      "Telegram sagte: Die Datei ist leer.",
    ],
    ["leaves names as they are", "The file is empty. said: 403\nForbidden", "The file is empty. sagte: 403\nForbidden"],
    [
      "may be one of several",
      "The file is empty. It begins soon. The file is empty.",
      "Die Datei ist leer. It begins soon. Die Datei ist leer.",
    ],
    ["takes the closest form", "Telegram said: no, never", "Telegram sagte nein, never"],
    ["reads signs as signs", "Is it $&? (a+b)", "Ist es $&? (a+b)"],
    ["must match as a whole", "See: The file is empty.", "See: The file is empty."],
  ])("%s", (_, english, other) => {
    expect(translate(english)).toBe(other);
  });

  test("that quotes itself without end ends", () => {
    const quotes = `${"Ada said: ".repeat(20)}yes`;
    expect(translate(quotes)).toStartWith("Ada sagte: Ada sagte: Ada sagte: Ada said: ");
  });
});
