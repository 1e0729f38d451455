// Says a sentence that was made in English in another language: a note about a file, a call of a tool to approve. Sentences that
// are written where they are said use `translateText()`.
import type { Language } from "../../../web/languages/languages.ts";
import { createSentences, type Sentences } from "../util/text/sentences.ts";
import { serverTexts } from "./translations.ts";

/** A function that says sentences of one table; English ones where a language has none, as for tools of external plugins. */
function translatorOf(table: "notes" | "calls"): (english: string, language: Language) => string {
  const made = new Map<Language, Sentences>();
  return (english, language) => {
    if (language === "en") return english;
    const sentences = made.get(language) ?? createSentences(formatsOf(language));
    if (!made.has(language)) sentences.add(serverTexts(language)[table]);
    made.set(language, sentences);
    return sentences.translate(english);
  };
}

const formatsOf = (language: Language) => ({
  number: (value: number) => new Intl.NumberFormat(language, { maximumFractionDigits: 18 }).format(value),
  time: (at: number) => new Date(at).toISOString(),
});

/** A note about a file, or why there is no reply. */
export const translateNote = translatorOf("notes");

/** A call that waits for approval. */
export const translateCall = translatorOf("calls");
