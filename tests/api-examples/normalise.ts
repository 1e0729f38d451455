// Makes recorded requests and answers readable and free of anything that is secret or differs between two runs.

/** A list of an answer is cut to so many items, a text to so many characters: an example shows the shape. */
const MAX_ITEMS = 2;
const MAX_TEXT = 700;

/** The moment at which every example takes place. */
export const NOW = Date.parse("2026-01-15T09:30:00.000Z");
const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const YEAR = 366 * DAY;

const RANDOM = /(?<![\w/+-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])(?:0x)?[\w-]{20,}={0,2}(?![\w/+-])/g;

const FOREIGN_HOST = /(\w+:\/\/)(?!localhost|127\.0\.0\.1|(?:\w+\.)?example\.com)([\w-]+)(?:\.[\w-]+)+/g;

/** Replaces ids, times, addresses and secrets, alike wherever they stand in the value. `own` are the addresses of Berth itself. */
export function createNormaliser(own: readonly string[], now = Date.now()) {
  const known = new Map<string, string>();
  const counts = new Map<string, number>();
  const number = (kind: string) => {
    const next = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, next);
    return next;
  };
  const once = (text: string, make: () => string) => {
    const made = known.get(text) ?? make();
    known.set(text, made);
    return made;
  };
  /** Keeps the distance to the present, in whole seconds; of a full hour, the time of the day and the number of whole days. */
  function shift(at: number): number {
    if (at % HOUR !== 0) return NOW + Math.round((at - now) / 1000) * 1000;
    const isFirst = new Date(at).getUTCDate() === 1 && at % DAY === 0;
    if (isFirst && at > now) return Date.parse("2026-02-01T00:00:00.000Z");
    const days = Math.floor((at - now) / DAY);
    const first = NOW - (NOW % DAY) + (at % DAY);
    return (first > NOW ? first : first + DAY) + days * DAY;
  }
  const isNear = (at: number) => Math.abs(at - now) < 11 * YEAR;

  function text(value: string): string {
    const shown = value
      .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, (id) =>
        once(id, () => `01990000-0000-7000-8000-${String(number("uuid")).padStart(12, "0")}`),
      )
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) =>
        isNear(Date.parse(time)) ? new Date(shift(Date.parse(time))).toISOString() : time,
      )
      .replace(/\b20\d\d-\d\d-\d\d(?!T)\b/g, (day) =>
        isNear(Date.parse(day)) ? new Date(shift(Date.parse(day))).toISOString().slice(0, 10) : day,
      )
      // A fake of this machine stands for a service elsewhere: a private address would be refused.
      .replace(/\bhttps?:\/\/127\.0\.0\.1:\d+/g, (origin) =>
        own.includes(origin) ? origin : "https://www.example.com",
      )
      .replace(/\b(?:localhost|127\.0\.0\.1|berth\.example):\d+/g, "localhost:3000")
      // No example names a foreign address; the first part of its name stays.
      .replace(FOREIGN_HOST, (_, scheme: string, host: string) => `${scheme}${host.replaceAll("-", "")}.example.com`)
      .replace(/\/tmp\/[\w./-]+/g, "/var/lib/berth")
      .replace(/\bsess_[0-9a-f]{16}\b/g, (id) => once(id, () => `sess_${String(number("session")).padStart(16, "0")}`))
      .replace(/user-\d+-[0-9a-f]{8}@example\.com/g, (mail) =>
        once(mail, () => (number("mail") === 1 ? "ada@example.com" : `user${counts.get("mail")}@example.com`)),
      )
      .replace(/\b(?:0x[0-9a-fA-F]{40}|0x[0-9a-fA-F]{64})\b/g, (hex) =>
        once(
          hex.toLowerCase(),
          () =>
            `0x${String(number("hex"))
              .padStart(2, "0")
              .repeat((hex.length - 2) / 2)}`,
        ),
      )
      .replace(RANDOM, (random) => (isWord(random) ? random : once(random, () => sameLength(random))));
    return shown.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT)} …` : shown;
  }

  function value(given: unknown, isAnswer: boolean): unknown {
    if (typeof given === "string") return text(given);
    if (typeof given === "number") {
      return Number.isInteger(given) && given > 1.5e12 && isNear(given) ? shift(given) : given;
    }
    if (Array.isArray(given)) {
      return (isAnswer ? given.slice(0, MAX_ITEMS) : given).map((item) => value(item, isAnswer));
    }
    if (typeof given !== "object" || given === null) return given;
    return Object.fromEntries(Object.entries(given).map(([key, of]) => [key, value(of, isAnswer)]));
  }
  return { value, text };
}

/** Ids of this form are made here, or are words with dashes. */
const isWord = (text: string) =>
  /^01990000-|^sess_0|^0x(\d\d)\1+$/.test(text) || !/[A-Z0-9]{2}|\d[a-z]|[a-z]\d/.test(text);

/** Keeps the prefix that tells kinds of tokens apart, and the length, which schemas may fix. */
function sameLength(random: string): string {
  const [, prefix = ""] = /^([a-z]{2,8}[_-])/.exec(random) ?? [];
  return prefix + "example0".repeat(Math.ceil(random.length / 8)).slice(0, random.length - prefix.length);
}
