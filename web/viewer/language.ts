// Translates the texts of the console. The source language is English: a text is written where it is shown, and
// web/languages holds one file for each other language. A test finds texts without a translation.

import { createSentences } from "../../src/kernel/util/text/sentences.ts";
import { isLanguage, type Language } from "../languages/languages.ts";
import { timeZone } from "./time-zone.ts";

export { LANGUAGES, type Language } from "../languages/languages.ts";

/** A text that was marked by `text()` in a table, for `t()` to translate when it is shown. */
export type Text = string & { readonly __text: true };

type Values = Readonly<Record<string, string | number>>;
/** Accepts literals and marked texts only, so that each text is found in the source. */
type Literal<S extends string> = string extends S ? (S extends Text ? S : never) : S;

/** The translations that a page's folder needs. */
export interface AreaTexts {
  texts: Readonly<Record<string, string>>;
  /** Sentences of the server, for `said()`. */
  server: Readonly<Record<string, string>>;
  /** Calls of tools in words, for `saidCall()`. */
  calls: Readonly<Record<string, string>>;
}
type AreaLoader = () => Promise<AreaTexts>;

const STORED_AS = "berth-language";
const table = new Map<string, string>();
const loaded = new Set<string>();
let areaLoaders: Readonly<Record<string, AreaLoader>> = {};

export const language: Language = chooseLanguage();

/** The language as the viewer's region writes dates and times, such as "en-GB"; the language itself if it is not the browser's. */
export const timeLocale: string =
  globalThis.navigator?.languages?.find((code) => code.split("-")[0] === language) ?? language;

function chooseLanguage(): Language {
  const wished = [readStored(), ...(globalThis.navigator?.languages ?? [])].map((code) => code?.split("-")[0] ?? "");
  return wished.find(isLanguage) ?? "en";
}

function readStored(): string | undefined {
  try {
    return globalThis.localStorage?.getItem(STORED_AS) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the language for this browser and shows the console in it. */
export function changeLanguage(next: Language): void {
  localStorage.setItem(STORED_AS, next);
  location.reload();
}

/** Called once by main.tsx with the loaders of the chosen language; none for English. */
export function setTextLoaders(loaders: Readonly<Record<string, AreaLoader>> | undefined): void {
  areaLoaders = loaders ?? {};
  document.documentElement.lang = language;
}

/** Loads the translations of a page's folder before the page is shown. */
export async function loadTexts(area: string): Promise<void> {
  const load = areaLoaders[area];
  if (!load || loaded.has(area)) return;
  const { texts, server, calls: ofTools } = await load();
  for (const [english, translated] of Object.entries(texts)) table.set(english, translated);
  sentences.add(server);
  calls.add(ofTools);
  loaded.add(area);
}

/** Marks a text in a table; `t()` translates it when it is shown. */
export const text = <const S extends string>(english: S): Text => english as string as Text;

/**
 * Translates a text and fills its `{places}`.
 *
 * @example t("{name} is running", { name: agent.name })
 */
export function t<const S extends string>(english: Literal<S>, values?: Values): string {
  return fill(table.get(english) ?? english, values);
}

/**
 * The form for one or for several, with `{n}` as the formatted number.
 *
 * @example tn("{n} agent", "{n} agents", agents.length)
 */
export function tn<const A extends string, const B extends string>(
  one: Literal<A>,
  other: Literal<B>,
  count: number,
  values?: Values,
): string {
  const english = count === 1 ? one : other;
  return fill(table.get(english) ?? english, { ...values, n: formatNumber(count) });
}

const fill = (template: string, values: Values = {}): string =>
  template.replace(/\{(\w+)\}/g, (place, name: string) => (name in values ? String(values[name]) : place));

/** The parts of a translated text with marked words: `rich("Read <a>the guide</a>.", { a: (words) => <Link …/> })`. */
export function rich<const S extends string, Node>(
  english: Literal<S>,
  elements: Readonly<Record<string, (words: string, key: string) => Node>>,
  values?: Values,
): (string | Node)[] {
  const parts = (table.get(english) ?? english).split(/(<(\w+)>.*?<\/\2>)/g);
  const nodes: (string | Node)[] = [];
  for (let index = 0; index < parts.length; index += 3) {
    nodes.push(fill(parts[index] ?? "", values));
    const [, name = "", words = ""] = /^<(\w+)>(.*)<\/\1>$/.exec(parts[index + 1] ?? "") ?? [];
    const make = elements[name];
    if (make) nodes.push(make(fill(words, values), String(index)));
  }
  return nodes;
}

const formats = {
  number: (value: number) => formatNumber(value, { maximumFractionDigits: 18 }),
  time: (at: number) => formatTime(at),
};
const sentences = createSentences(formats);
const calls = createSentences(formats);

/**
 * A sentence of the server in the viewer's language: a reason, a refusal, a description. It stays English, or whatever it is, if
 * the language has none for it, so texts of platforms and people may be given, too.
 */
export const said = (english: string): string => sentences.translate(english);

/** A call that waits for approval, in words. What it quotes can't be taken for another sentence of the server. */
export const saidCall = (english: string): string => calls.translate(english);

/** "1,234" or "1.234". */
export const formatNumber = (value: number, options?: Intl.NumberFormatOptions): string =>
  new Intl.NumberFormat(language, options).format(value);

/** A decimal text of the API, such as "2.50", as the viewer writes it. */
export const formatAmount = (decimal: string): string =>
  formatNumber(Number(decimal), {
    minimumFractionDigits: Math.min(decimal.split(".")[1]?.length ?? 0, 2),
    maximumFractionDigits: 18,
  });

/**
 * US dollars: two digits after the point, more for amounts below a cent. The amounts of an axis lie `step` apart, and get as
 * many digits as tell them apart.
 */
export function formatUsd(usd: number, step?: number): string {
  const smallest = step ?? Math.abs(usd);
  const digits = step ? 1 - Math.floor(Math.log10(step)) : 5;
  const maximumFractionDigits = smallest > 0 && smallest < 0.01 ? digits : 2;
  return formatNumber(usd, { style: "currency", currency: "USD", maximumFractionDigits });
}

const BYTE_UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** "3.4 MB". */
export function formatBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), BYTE_UNITS.length - 1);
  // The short form of bytes has no plural in English: "2 byte".
  const unitDisplay = power === 0 ? "long" : "short";
  const options = { style: "unit", unit: BYTE_UNITS[power] ?? "byte", unitDisplay } as const;
  return formatNumber(bytes / 1000 ** power, { ...options, maximumFractionDigits: power === 0 ? 0 : 1 });
}

const DAY_MS = 86_400_000;
const RELATIVE_UNITS = [
  ["year", 365 * DAY_MS],
  ["month", 30 * DAY_MS],
  ["day", DAY_MS],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** "3 minutes ago", "in 2 days", or "now" for less than a minute. */
export function formatRelative(time: number, now = Date.now()): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const distance = time - now;
  const [unit, ms] = RELATIVE_UNITS.find(([, size]) => Math.abs(distance) >= size) ?? ["second", 0];
  return ms === 0 ? format.format(0, "second") : format.format(Math.round(distance / ms), unit);
}

/** Date and time in the zone that the viewer chose, by default the system's. */
export const formatTime = (time: number, options?: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(timeLocale, {
    ...(timeZone && { timeZone }),
    ...(options ?? { dateStyle: "medium", timeStyle: "short" }),
  }).format(time);

/** Names the day of a time in the zone that the viewer chose, to compare days. */
export const dayOf = (time: number): string => formatTime(time, { dateStyle: "short" });

/** The time of day if it was today, else the date: for columns without room for both. */
export function formatMoment(time: number, now = Date.now()): string {
  if (dayOf(time) === dayOf(now)) return formatTime(time, { timeStyle: "short" });
  const isLongAgo = Math.abs(now - time) > 300 * DAY_MS;
  return isLongAgo ? dayOf(time) : formatTime(time, { day: "numeric", month: "short" });
}

/** "1.2 s", "350 ms", "2 min 5 s". */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${formatNumber(Math.round(ms))} ms`;
  if (ms < 60_000) return `${formatNumber(ms / 1_000, { maximumFractionDigits: 1 })} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60
    ? `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`
    : `${formatNumber(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}
