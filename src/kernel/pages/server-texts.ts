// Reads a language's file from the source. The build puts another module in its place (src/server/language-embedder.ts): the binary holds
// the server's part of each file as JSON.
import type { TranslatedLanguage } from "../../../web/languages/languages.ts";
import type { ServerTexts } from "../../../web/languages/translation.ts";

/** Synchronous, since a mail is made as part of a batch. */
export function readServerTexts(language: TranslatedLanguage): ServerTexts {
  const { translation } = require(`../../../web/languages/${language}.ts`) as { translation: ServerTexts };
  return translation;
}
