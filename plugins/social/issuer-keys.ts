// The issuer's public keys: fetched when they are needed, kept while it can't be reached, fetched again when it has new ones.
import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from "jose";
import { AppError } from "../../src/kernel/errors.ts";
import type { Log } from "../../src/kernel/telemetry/log.ts";

/** The key a token says it was signed with. Throws jose's errors, and 500 `ISSUER_UNAVAILABLE` while no keys are known. */
export type FindKey = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

export interface IssuerKeysOptions {
  /** Its keys are at `/.well-known/jwks.json`. */
  issuer: string;
  log: Pick<Log, "warn">;
  /** For one fetch. Default 5 s. */
  timeoutMs?: number;
  /** Between two fetches. Default 1 s. */
  minIntervalMs?: number;
  /** Epoch ms. */
  now?: () => number;
}

const MINUTE = 60_000;
/** Keys older than this are fetched again before they are used … */
const FRESH_MS = 10 * MINUTE;
/** … and go on while that fails, up to this age: a key that was withdrawn must not be good for ever. */
const MAX_AGE_MS = 24 * 60 * MINUTE;
/** While known keys go on, an issuer in trouble is left alone for so long. */
const COOLDOWN_MS = 30_000;
const MAX_BYTES = 256 * 1024;

export function createIssuerKeys(options: IssuerKeysOptions): FindKey {
  const { issuer, log, timeoutMs = 5_000, minIntervalMs = 1_000, now = Date.now } = options;
  const url = `${issuer.replace(/\/+$/, "")}/.well-known/jwks.json`;
  let keySet: { find: FindKey; at: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let lastFetchAt = Number.NEGATIVE_INFINITY;
  let inFlight: Promise<boolean> | undefined;

  const age = () => (keySet ? now() - keySet.at : Number.POSITIVE_INFINITY);

  /**
   * Whether new keys came. Tokens that name unknown keys are anybody's to make, so fetches keep a distance, and one serves
   * all who wait for it.
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
      log.warn("The keys of the social issuer could not be fetched.", { issuer, error });
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
  if (response.status !== 200) throw new Error(`The issuer answers ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Error("The issuer's answer is too large.");
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

const unavailable = () =>
  new AppError(500, "ISSUER_UNAVAILABLE", "The issuer of identity tokens can't be asked right now. Try again later.");
