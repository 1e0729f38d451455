// Says to the reader of a client's chat that a call waits for the owner's approval, and where it is given.
import type { Language } from "../../src/kernel/pages/language.ts";
import { translateText } from "../../src/kernel/pages/page-template.ts";
import { translateCall } from "../../src/kernel/pages/sentences.ts";
import { visibleText } from "../../src/kernel/util/text/visible-text.ts";

export const callWords = (summary: string, language: Language): string => visibleText(translateCall(summary, language));

/** `isShown`: the client may show the question itself, with its answers. */
export function waitingWords(summary: string, baseUrl: string, language: Language, isShown: boolean): string {
  const url = `${baseUrl}/console/approvals`;
  const where = isShown
    ? translateText("Decide here, if you see the question, or in the console: {url}", language, { url })
    : translateText("Decide in the console: {url} Then I go on.", language, { url });
  return `${translateText("This waits for your approval:", language)} ${callWords(summary, language)}\n\n${where}`;
}
