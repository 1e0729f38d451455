// Chooses the language of mails from the Accept-Language header.
import { type Language, templates } from "../mails/templates.ts";

const isSupported = (language: string): language is Language => Object.hasOwn(templates, language);

/** The supported language with the highest weight in `Accept-Language` (RFC 9110 §12.5.4); English if there is none. */
export function preferredLanguage(header: string | null): Language {
  const ranges = (header ?? "").slice(0, 500).split(",").map(readRange);
  const accepted = ranges.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight);
  return accepted.map(({ language }) => language).find(isSupported) ?? "en";
}

function readRange(range: string): { language: string; weight: number } {
  const [tag = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  return { language: tag.split("-")[0] ?? "", weight: Number.parseFloat(weight) };
}
