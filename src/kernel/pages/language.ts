// Chooses the language of pages and mails.
import { isLanguage, type Language } from "../../../web/languages/languages.ts";
import { acceptedValues } from "./accept.ts";

export type { Language } from "../../../web/languages/languages.ts";

/** The supported language that comes first in `Accept-Language` (RFC 9110 §12.5.4); English if there is none. */
export function preferredLanguage(header: string | null): Language {
  for (const range of acceptedValues(header)) {
    const [code = ""] = range.split("-");
    if (isLanguage(code)) return code;
  }
  return "en";
}

export const languageOf = ({ headers }: Pick<Request, "headers">): Language =>
  preferredLanguage(headers.get("accept-language"));

/** The language of a stored locale; English if Berth does not speak it. */
export const languageOfLocale = (locale: string): Language => (isLanguage(locale) ? locale : "en");
