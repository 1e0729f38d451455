// Reads the file of a language, for the build and the tests.
import type { TranslatedLanguage } from "./languages.ts";
import type { Translation } from "./translation.ts";

export async function readTranslation(language: TranslatedLanguage): Promise<Translation> {
  const { translation }: { translation: Translation } = await import(`./${language}.ts`);
  return translation;
}
