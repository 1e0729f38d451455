// Caches the issuer's public keys (JWKS): fetches them on first use, again after ten minutes or for an unknown key id,
// and keeps the known ones for up to a day while the issuer fails.
import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from "jose";
import { AppError } from "../../src/kernel/errors.ts";
import type { Log } from "../../src/kernel/telemetry/log.ts";
import { DAY, MINUTE, SECOND } from "../../src/kernel/util/time.ts";

/**
 * Finds the key that a token's header names. Throws jose's errors, and 500 `ISSUER_UNAVAILABLE` while no keys are
 * known.
 */
export type FindKey = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

export interface IssuerKeysOptions {
  /** URL of the issuer; its keys are at `/.well-known/jwks.json`. */
  issuer: string;
  log: Pick<Log, "warn">;
  /** Time limit of one fetch. Default 5 s. */
  timeoutMs?: number;
  /** Least time between two fetches. Default 1 s. */
  minIntervalMs?: number;
  /** The current time in epoch ms. */
  now?: () => number;
}

/** Keys older than this are fetched again before they are used. */
const FRESH_MS = 10 * MINUTE;
/** While fetches fail, known keys are used up to this age: a key that was withdrawn must not stay valid forever. */
const MAX_AGE_MS = DAY;
/** Time after a failed fetch in which known keys are used without another one. */
const COOLDOWN_MS = 30 * SECOND;
const MAX_BYTES = 256 * 1024;

export function createIssuerKeys(options: IssuerKeysOptions): FindKey {
  const { issuer, log, timeoutMs = 5 * SECOND, minIntervalMs = SECOND, now = Date.now } = options;
  const url = `${issuer.replace(/\/+$/, "")}/.well-known/jwks.json`;
  let keySet: { find: FindKey; at: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let lastFetchAt = Number.NEGATIVE_INFINITY;
  let inFlight: Promise<boolean> | undefined;

  const age = () => (keySet ? now() - keySet.at : Number.POSITIVE_INFINITY);

  /**
   * Fetches the keys; true if that succeeded. Anyone can make tokens with unknown key ids, so fetches keep a minimum
   * interval, and concurrent callers share one.
   */
  function refresh(): Promise<boolean> {
    if (keySet && now() - failedAt < COOLDOWN_MS) return Promise.resolve(false);
    inFlight ??= load().finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  }

  async function load(): Promise<boolean> {
    const waitMs = lastFetchAt + minIntervalMs - now();
    if (waitMs > 0) await Bun.sleep(Math.min(waitMs, minIntervalMs));
    const at = now();
    lastFetchAt = at;
    try {
      const [{ createLocalJWKSet }, set] = await Promise.all([import("jose"), fetchKeys(url, timeoutMs)]);
      keySet = { find: createLocalJWKSet(set), at };
      return true;
    } catch (error) {
      failedAt = at;
      log.warn("Fetching the social issuer's keys failed; known keys stay in use for up to a day.", { issuer, error });
      return false;
    }
  }

  return async (header, token) => {
    if (age() >= FRESH_MS) await refresh();
    if (!keySet || age() >= MAX_AGE_MS) throw unavailable();
    try {
      return await keySet.find(header, token);
    } catch (error) {
      const { JWKSNoMatchingKey } = await import("jose/errors");
      if (!(error instanceof JWKSNoMatchingKey) || !(await refresh())) throw error;
      return keySet.find(header, token);
    }
  };
}

async function fetchKeys(url: string, timeoutMs: number): Promise<JSONWebKeySet> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { signal, redirect: "manual", headers: { accept: "application/json" } });
  if (response.status !== 200) throw new Error(`The issuer answered with status ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Error(`The issuer's key set is larger than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

const unavailable = () =>
  new AppError(500, "ISSUER_UNAVAILABLE", "The issuer of identity tokens can't be reached right now. Try again later.");
