// The list of languages: a row for each, with its own name. Each besides English has a file web/languages/<code>.ts beside this one.

export const LANGUAGES = { en: "English", de: "Deutsch" } as const;

/** A language that the console, pages, mails and templates speak: its code (ISO 639-1). */
export type Language = keyof typeof LANGUAGES;

/** A language with a file; English is in the source. */
export type TranslatedLanguage = Exclude<Language, "en">;

export const isLanguage = (code: string): code is Language => Object.hasOwn(LANGUAGES, code);

export const TRANSLATED = Object.keys(LANGUAGES).filter((code): code is TranslatedLanguage => code !== "en");
