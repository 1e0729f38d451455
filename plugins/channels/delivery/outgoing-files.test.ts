// Tests what adapters get of the files of a reply: words about them in the reader's language.
import { expect, test } from "bun:test";
import { createOutgoingFiles } from "./outgoing-files.ts";

const file = {
  ...{ id: "f", name: "Offer.pdf", type: "application/pdf", size: 3, kind: "document" as const, caption: null },
};

test.each([
  [
    "de",
    "Offer.pdf (3 kB) kann hier nicht geschickt werden: Telegram nimmt Dateien bis 50 MB. Du findest es hier: https://a.example",
  ],
  [
    "en",
    "Offer.pdf (3 kB) can't be sent here: Telegram takes files of up to 50 MB. You find it here: https://a.example",
  ],
] as const)("a notice about a file is said in the reader's language: %s", async (language, said) => {
  const outgoing = createOutgoingFiles({
    uploads: { read: async () => undefined },
    readerLanguage: async () => language,
  });
  const [sent] = await outgoing("agent", [file], new AbortController().signal);
  const english =
    "Offer.pdf (3 kB) can't be sent here: Telegram takes files of up to 50 MB. You find it here: https://a.example";
  expect(sent?.inReadersLanguage(english)).toBe(said);
});
