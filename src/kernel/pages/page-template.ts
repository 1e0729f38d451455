// Makes the versions of a page's template by language. The source is English; each text in it is marked.
import tokens from "../../../web/tokens.css" with { type: "text" };
import baseStyle from "./base-style.css" with { type: "text" };
import type { Language } from "./language.ts";

/** What a template needs to appear in one language. */
export interface Translation {
  /** The translation of each marked text, by the English text. May hold the same markup. */
  texts: Readonly<Record<string, string>>;
  /** Replaces the English text of the API's errors, by their code. */
  errors?: Readonly<Record<string, string>>;
}

/** By language. English needs none. */
export type Translations = Readonly<Record<Exclude<Language, "en">, Translation>>;

/**
 * Returns a function that makes the template in a language, once. In the source, `[[text]]` is a text to translate (in
 * scripts, inside a string in double quotes). The comment `base` in the style is replaced by the tokens and the common style, and the
 * comment `errors` in a script by the texts of errors by code. The function throws if a text has no translation.
 */
export function pageTemplate(source: string, translations: Translations): (language: Language) => string {
  const made: Partial<Record<Language, string>> = {};
  return (language) => {
    made[language] ??= translate(source, language, translations);
    return made[language];
  };
}

/** The text in a language, for what a template does not hold. Throws like `pageTemplate`. */
export function translateText(text: string, language: Language, translations: Translations): string {
  if (language === "en") return text;
  const { texts } = translations[language];
  const translated = Object.hasOwn(texts, text) ? texts[text] : undefined;
  if (translated === undefined) throw new Error(`The text "${text}" has no translation to "${language}".`);
  return translated;
}

function translate(source: string, language: Language, translations: Translations): string {
  const errors = language === "en" ? {} : (translations[language].errors ?? {});
  return source
    .split(/(<script>.*?<\/script>)/s)
    .map((part) => {
      const encode = part.startsWith("<script>") ? (text: string) => scriptJson(text).slice(1, -1) : String;
      return part.replace(/\[\[(.+?)\]\]/gs, (_, text: string) => encode(translateText(text, language, translations)));
    })
    .join("")
    .replace('<html lang="en">', `<html lang="${language}">`)
    .replace("/* base */", () => BASE_STYLE)
    .replace(/\{\s*\/\* errors \*\/\s*\}/, () => scriptJson(errors));
}

/** Without comments and indentation, since every page holds it. */
const BASE_STYLE = (tokens + baseStyle).replace(/\/\*.*?\*\//gs, "").replace(/\s*\n\s*/g, "\n");

/** JSON that can't end the script element it is in. */
const scriptJson = (value: unknown) => JSON.stringify(value).replaceAll("<", "\\u003c");
