// Makes the versions of a page's template by language. The source is English; each text in it is marked.
import type { TranslatedLanguage } from "../../../web/languages/languages.ts";
import type { ServerTexts } from "../../../web/languages/translation.ts";
import tokens from "../../../web/tokens.css" with { type: "text" };
import baseStyle from "./base-style.css" with { type: "text" };
import type { Language } from "./language.ts";
import { serverTexts } from "./translations.ts";

type PageTexts = Pick<ServerTexts, "pages" | "pageErrors">;

export interface TemplateOptions {
  /** Whose words the comment `errors` in a script is replaced by. */
  errors?: keyof ServerTexts["pageErrors"];
  /** What is said in a language. Default: its file. */
  textsOf?: (language: TranslatedLanguage) => PageTexts;
}

/**
 * Returns a function that makes the template in a language, once. In the source, `[[text]]` is a text to translate (in
 * scripts, inside a string in double quotes). The comment `base` in the style is replaced by the tokens and the common style, and the
 * comment `errors` in a script by the texts of errors by code. The function throws if a text has no translation.
 */
export function pageTemplate(source: string, options: TemplateOptions = {}): (language: Language) => string {
  const made: Partial<Record<Language, string>> = {};
  return (language) => {
    made[language] ??= translate(source, language, options);
    return made[language];
  };
}

/** Marks a text in a table, for `translateText` to translate when it is shown. */
export const pageText = (english: string): string => english;

/**
 * A text in a language, with its `{places}` filled. A test finds the texts in the source, so `english` is a literal, or marked
 * by `pageText()`. Throws if it has no translation.
 */
export function translateText(
  english: string,
  language: Language,
  values: Readonly<Record<string, string>> = {},
  textsOf: (language: TranslatedLanguage) => Pick<PageTexts, "pages"> = serverTexts,
): string {
  const pages = language === "en" ? { [english]: english } : textsOf(language).pages;
  const translated = Object.hasOwn(pages, english) ? pages[english] : undefined;
  if (translated === undefined) throw new Error(`The text "${english}" has no translation to "${language}".`);
  return translated.replace(
    /\{(\w+)\}/g,
    (place, name: string) => (Object.hasOwn(values, name) ? values[name] : undefined) ?? place,
  );
}

function translate(source: string, language: Language, { errors, textsOf = serverTexts }: TemplateOptions): string {
  const errorTexts = language === "en" || !errors ? {} : textsOf(language).pageErrors[errors];
  return source
    .split(/(<script>.*?<\/script>)/s)
    .map((part) => {
      const encode = part.startsWith("<script>") ? (text: string) => scriptJson(text).slice(1, -1) : String;
      return part.replace(/\[\[(.+?)\]\]/gs, (_, text: string) => encode(translateText(text, language, {}, textsOf)));
    })
    .join("")
    .replace('<html lang="en">', `<html lang="${language}">`)
    .replace("/* base */", () => BASE_STYLE)
    .replace(/\{\s*\/\* errors \*\/\s*\}/, () => scriptJson(errorTexts));
}

/** Without comments and indentation, since every page holds it. */
const BASE_STYLE = (tokens + baseStyle).replace(/\/\*.*?\*\//gs, "").replace(/\s*\n\s*/g, "\n");

/** JSON that can't end the script element it is in. */
const scriptJson = (value: unknown) => JSON.stringify(value).replaceAll("<", "\\u003c");
