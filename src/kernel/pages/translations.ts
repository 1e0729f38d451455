// Reads what the server says in a language when it is first needed, so that a service without its speakers never has it in memory.
import type { TranslatedLanguage } from "../../../web/languages/languages.ts";
import type { ServerTexts } from "../../../web/languages/translation.ts";
import { readServerTexts } from "./server-texts.ts";

const loaded: Partial<Record<TranslatedLanguage, ServerTexts>> = {};

export function serverTexts(language: TranslatedLanguage): ServerTexts {
  loaded[language] ??= readServerTexts(language);
  return loaded[language];
}
