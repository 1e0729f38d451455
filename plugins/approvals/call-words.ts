// Says a call of a tool in the language of the owner who decides about it. The words are stored in English.
import { serverTexts } from "../../src/kernel/pages/translations.ts";
import { createSentences, type Sentences } from "../../src/kernel/util/text/sentences.ts";
import type { Language } from "../../web/languages/languages.ts";

const made = new Map<Language, Sentences>();

/** The words in a language; English ones where it has none, as for tools of external plugins. */
export function callWords(summary: string, language: Language): string {
  if (language === "en") return summary;
  const sentences = made.get(language) ?? createSentences(formatsOf(language));
  if (!made.has(language)) sentences.add(serverTexts(language).calls);
  made.set(language, sentences);
  return sentences.translate(summary);
}

const formatsOf = (language: Language) => ({
  number: (value: number) => new Intl.NumberFormat(language, { maximumFractionDigits: 18 }).format(value),
  time: (at: number) => new Date(at).toISOString(),
});
