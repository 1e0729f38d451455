// Says a sentence that was made in English in another language: a call of a tool to approve, a note about a file. Sentences that
// are written where they are said use `translateText()`.
import type { Language } from "../../../web/languages/languages.ts";
import { createSentences, type Sentences } from "../util/text/sentences.ts";
import { serverTexts } from "./translations.ts";

const made = new Map<Language, Sentences>();

/** The sentence in a language; the English one if there is none, as for calls of tools of external plugins. */
export function translateSentence(english: string, language: Language): string {
  if (language === "en") return english;
  const sentences = made.get(language) ?? createSentences(formatsOf(language));
  if (!made.has(language)) sentences.add(serverTexts(language).sentences);
  made.set(language, sentences);
  return sentences.translate(english);
}

const formatsOf = (language: Language) => ({
  number: (value: number) => new Intl.NumberFormat(language, { maximumFractionDigits: 18 }).format(value),
  time: (at: number) => new Date(at).toISOString(),
});
