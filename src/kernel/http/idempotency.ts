// Idempotency-Key: a request that is sent again gets the first answer again, and nothing happens twice. Contract §1.

import { type Database, isUniqueViolation, type Statement } from "../database/database.ts";
import { AppError, invalidInput } from "../errors.ts";
import type { Vault } from "../security/vault.ts";
import { rateLimitKey } from "./client-address.ts";
import { contextOf } from "./http.ts";

export interface SerializedResponse {
  status: number;
  /** JSON text. */
  body: string;
}

export interface IdempotentResponse extends SerializedResponse {
  /** True: this is the kept answer, and nothing was done. */
  replayed: boolean;
}

/**
 * Statements that keep this answer. Put into the batch of the work itself they make it exact: after a kill either both
 * are there or neither. Not used, the answer is kept right after the work.
 */
export type KeepStatements = (response: SerializedResponse) => Statement[];

export interface RunOptions {
  /** Fields of the body, with dots for nested ones (`agent.token`), that are shown once: null when replayed. */
  secretFields?: readonly string[];
}

export interface Idempotency {
  /**
   * Runs `produce` unless `scope` (caller, method and path) has an answer for this key that is younger than 24 hours.
   * Without a key (null) it always runs. A second request with the same key waits for the first.
   * Answers of 500 and above, 429, and whatever `produce` throws are not kept: there the work was not done.
   * Throws 400 INVALID_INPUT for a key that is none, 409 IDEMPOTENCY_MISMATCH for another body under the same key,
   * 409 IDEMPOTENCY_IN_PROGRESS when the first request takes too long to wait for.
   */
  run(
    scope: string,
    key: string | null,
    bodyText: string,
    produce: (keepStatements: KeepStatements) => Promise<SerializedResponse>,
    options?: RunOptions,
  ): Promise<IdempotentResponse>;
  /**
   * `run` for a route: the key is the request's `Idempotency-Key`, the scope its method, path and caller (the user, or
   * without one the address), the body what the surface has read. A replayed answer says so in `idempotency-replayed`.
   * An answer that streams events is passed on and not kept.
   */
  respond(
    caller: { request: Request; userId?: string | undefined },
    produce: (keepStatements: KeepStatements) => Promise<Response>,
    options?: RunOptions,
  ): Promise<Response>;
}

export interface IdempotencyOptions {
  database: Pick<Database, "read" | "write">;
  vault: Pick<Vault, "sign">;
  /** Epoch ms. */
  now?: () => number;
  /** How long a repeated request waits for the first. Default 30,000. */
  waitMs?: number;
}

interface StoredResponse extends SerializedResponse {
  bodyHash: string;
}

interface InFlightRequest {
  bodyHash: string;
  /** False while it still looks for an answer that was kept earlier, which need not be of its own body. */
  isProducing: boolean;
  /** What was kept; undefined when nothing was. Never rejects. */
  done: Promise<StoredResponse | undefined>;
}

const RETENTION_MS = 24 * 60 * 60_000;

export function createIdempotency({
  database,
  vault,
  now = Date.now,
  waitMs = 30_000,
}: IdempotencyOptions): Idempotency {
  const inFlight = new Map<string, InFlightRequest>();

  async function find(scope: string, key: string): Promise<StoredResponse | undefined> {
    const { rows } = await database.read(
      "SELECT body_hash, status, body FROM idempotency_keys WHERE scope = ? AND key = ? AND created_at > ?",
      [scope, key, now() - RETENTION_MS],
    );
    const row = rows[0];
    return row && { bodyHash: String(row.body_hash), status: Number(row.status), body: String(row.body) };
  }

  const insertStatements = (scope: string, key: string, stored: StoredResponse, after: () => void): Statement[] => [
    { sql: "DELETE FROM idempotency_keys WHERE created_at <= ?", args: [now() - RETENTION_MS] },
    {
      sql: "INSERT INTO idempotency_keys (scope, key, body_hash, status, body, created_at) VALUES (?, ?, ?, ?, ?, ?)",
      args: [scope, key, stored.bodyHash, stored.status, stored.body, now()],
      after,
    },
  ];

  /** Does the work and keeps its answer; `kept` is told what was kept, whatever happens then. */
  async function produceAndStore(
    scope: string,
    key: string,
    bodyHash: string,
    produce: (keepStatements: KeepStatements) => Promise<SerializedResponse>,
    secretFields: readonly string[],
    stored: (response: StoredResponse) => void,
  ): Promise<IdempotentResponse> {
    let isStored = false;
    const keepStatements: KeepStatements = (response) => {
      const copy = { ...response, body: withoutSecrets(response.body, secretFields), bodyHash };
      return insertStatements(scope, key, copy, () => {
        isStored = true;
        stored(copy);
      });
    };
    try {
      const response = await produce(keepStatements);
      if (!isStored && response.status < 500 && response.status !== 429) await database.write(keepStatements(response));
      return { ...response, replayed: false };
    } catch (error) {
      // Another process on the same database was first, and our batch was undone.
      const earlier = isUniqueViolation(error, "idempotency_keys.key") ? await find(scope, key) : undefined;
      if (!earlier) throw error;
      stored(earlier);
      return replay(earlier, bodyHash);
    }
  }

  const idempotency: Idempotency = {
    async run(scope, key, bodyText, produce, { secretFields = [] } = {}) {
      if (key === null) return { ...(await produce(() => [])), replayed: false };
      if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
        throw invalidInput({ path: "Idempotency-Key", message: "must be 1 to 255 visible ASCII characters" });
      }
      // Keyed, since bodies may hold passwords that a bare hash would let somebody guess.
      const bodyHash = vault.sign("idempotency", bodyText);
      const id = `${scope}\n${key}`;
      for (let earlier = inFlight.get(id); earlier; earlier = inFlight.get(id)) {
        if (earlier.isProducing && earlier.bodyHash !== bodyHash) throw idempotencyMismatch();
        const stored = await withTimeout(earlier.done, waitMs);
        if (stored) return replay(stored, bodyHash);
      }
      const { promise: done, resolve } = Promise.withResolvers<StoredResponse | undefined>();
      const own: InFlightRequest = { bodyHash, isProducing: false, done };
      inFlight.set(id, own);
      let stored: StoredResponse | undefined;
      try {
        stored = await find(scope, key);
        if (stored) return replay(stored, bodyHash);
        own.isProducing = true;
        return await produceAndStore(scope, key, bodyHash, produce, secretFields, (response) => {
          stored = response;
        });
      } finally {
        inFlight.delete(id);
        resolve(stored);
      }
    },

    async respond({ request, userId }, produce, options) {
      const key = request.headers.get("idempotency-key");
      if (key === null) return produce(() => []);
      const { address, bodyText = "" } = contextOf(request);
      const caller = userId === undefined ? `address:${rateLimitKey(address)}` : `user:${userId}`;
      const scope = `${caller} ${request.method} ${new URL(request.url).pathname}`;
      let original: Response | undefined;
      const produceText = async (keepStatements: KeepStatements): Promise<SerializedResponse> => {
        original = await produce(keepStatements);
        if (isStream(original)) throw STREAMED;
        return { status: original.status, body: await original.clone().text() };
      };
      try {
        const { status, body, replayed } = await idempotency.run(scope, key, bodyText, produceText, options);
        if (!replayed && original) return original;
        return new Response(body, { status, headers: { "content-type": JSON_TYPE, "idempotency-replayed": "true" } });
      } catch (error) {
        if (error === STREAMED && original) return original;
        throw error;
      }
    },
  };
  return idempotency;
}

const JSON_TYPE = "application/json;charset=utf-8";
/** What is thrown is not kept. */
const STREAMED = Symbol("streamed");
const isStream = ({ headers }: Response) => headers.get("content-type")?.startsWith("text/event-stream") === true;

function replay({ status, body, bodyHash }: StoredResponse, requestHash: string): IdempotentResponse {
  if (bodyHash !== requestHash) throw idempotencyMismatch();
  return { status, body, replayed: true };
}

/** The promise's value, or 409 when it takes longer. */
async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(idempotencyInProgress()), ms);
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

function withoutSecrets(body: string, fields: readonly string[]): string {
  if (fields.length === 0) return body;
  const root: unknown = JSON.parse(body);
  for (const field of fields) {
    const path = field.split(".");
    const last = path.pop() ?? "";
    const parent = path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), root);
    if (isObject(parent) && Object.hasOwn(parent, last)) parent[last] = null;
  }
  return JSON.stringify(root);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const idempotencyMismatch = () =>
  new AppError(409, "IDEMPOTENCY_MISMATCH", "This Idempotency-Key was used for another body. Use a new key.");

const idempotencyInProgress = () =>
  new AppError(
    409,
    "IDEMPOTENCY_IN_PROGRESS",
    "The first request with this Idempotency-Key is still running. Try again soon.",
  );
