// Chooses the language of pages and mails.
import { acceptedValues } from "./accept.ts";

const LANGUAGES = ["en", "de"] as const;

/** A language in which pages and mails are written. */
export type Language = (typeof LANGUAGES)[number];

/** The supported language that comes first in `Accept-Language` (RFC 9110 §12.5.4); English if there is none. */
export function preferredLanguage(header: string | null): Language {
  for (const range of acceptedValues(header)) {
    const language = LANGUAGES.find((supported) => supported === range.split("-")[0]);
    if (language) return language;
  }
  return "en";
}

export const languageOf = ({ headers }: Pick<Request, "headers">): Language =>
  preferredLanguage(headers.get("accept-language"));
