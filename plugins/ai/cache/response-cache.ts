// Caches responses of models in memory, bounded in size and age.
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { Metrics } from "../../../src/kernel/telemetry/metrics.ts";

/** Seconds that a cached response is valid: by default, and at most. */
export const DEFAULT_AGE_S = 3_600;
export const MAX_AGE_S = 86_400;
/** Bytes of one response, at most. */
export const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_CACHE_BYTES = 32 * 1024 * 1024;
/** Bytes of an entry besides its value. */
const ENTRY_OVERHEAD_BYTES = 300;

export interface ResponseCache {
  /** The cached value, if it is at most `maxAgeS` seconds old. */
  get(key: string, maxAgeS: number): { value: unknown; ageS: number } | undefined;
  /** Caches a value, unless it is too large. `bytes`: its approximate size. */
  set(key: string, value: unknown, bytes: number): void;
  /** Drops everything: a response does not tell whose words are in it. */
  clear(): void;
}

interface CacheEntry {
  value: unknown;
  bytes: number;
  /** Epoch ms. */
  at: number;
}

interface Options {
  metrics: Pick<Metrics, "counter" | "gauge">;
  maxBytes?: number;
  /** Epoch ms. */
  now?: () => number;
}

/** Evicts the least recently used entries first. */
export function createResponseCache({ metrics, maxBytes = MAX_CACHE_BYTES, now = Date.now }: Options): ResponseCache {
  const entries = new Map<string, CacheEntry>();
  let heldBytes = 0;
  const lookups = metrics.counter("berth_ai_cache_total", "Cache lookups, by outcome.", ["outcome"]);
  const hits = lookups.labels({ outcome: "hit" });
  const misses = lookups.labels({ outcome: "miss" });
  metrics.gauge("berth_ai_cache_bytes", "Bytes of cached responses.", () => heldBytes);

  function remove(key: string): void {
    heldBytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  return {
    get(key, maxAgeS) {
      const entry = entries.get(key);
      const ageS = entry ? (now() - entry.at) / 1000 : 0;
      if (!entry || ageS > Math.min(maxAgeS, MAX_AGE_S)) {
        misses.inc();
        // Another caller may accept an older one.
        if (ageS > MAX_AGE_S) remove(key);
        return undefined;
      }
      hits.inc();
      entries.delete(key);
      entries.set(key, entry);
      return { value: entry.value, ageS: Math.floor(ageS) };
    },
    set(key, value, bytes) {
      if (bytes > MAX_RESPONSE_BYTES) return;
      remove(key);
      entries.set(key, { value, bytes: bytes + ENTRY_OVERHEAD_BYTES, at: now() });
      heldBytes += bytes + ENTRY_OVERHEAD_BYTES;
      for (const oldest of entries.keys()) {
        if (heldBytes <= maxBytes) break;
        remove(oldest);
      }
    },
    clear() {
      entries.clear();
      heldBytes = 0;
    },
  };
}

/** The hash of the parts as JSON with sorted members, so that equal requests have one key. */
export const cacheKey = (...parts: unknown[]): string =>
  new Bun.CryptoHasher("sha256").update(JSON.stringify(parts, sortMembers)).digest("base64url");

function sortMembers(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** For the API's description. */
export const cacheHeader = {
  name: "x-berth-cache",
  in: "header" as const,
  schema: { type: "string" as const },
  description:
    `on, max-age=SECONDS (at most ${MAX_AGE_S}), or off. With it the caller gets the answer to exactly the same request again, ` +
    `where it is no older than that (on: ${DEFAULT_AGE_S}); it costs nothing. The answer then has this header, too: hit (with ` +
    "age) or miss. Kept in memory, for each account apart; not for streams.",
};

/** Parses the request header `x-berth-cache`: the greatest age in seconds; undefined: no caching. 400 for any other value. */
export function parseCacheHeader(header: string | null): number | undefined {
  if (header === null || /^off$/i.test(header)) return undefined;
  if (/^on$/i.test(header)) return DEFAULT_AGE_S;
  const age = Number(/^max-age=(\d{1,9})$/i.exec(header)?.[1] ?? 0);
  if (age > 0) return Math.min(age, MAX_AGE_S);
  throw invalidInput({ path: "x-berth-cache", message: "This header is on, off, or max-age=SECONDS." });
}
