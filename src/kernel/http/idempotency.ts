// Implements the Idempotency-Key header: a repeated request gets the stored response of the first one for 24 hours.

import { type Database, isUniqueViolation, type Statement } from "../database/database.ts";
import { AppError, invalidInput } from "../errors.ts";
import type { Vault } from "../security/vault.ts";
import { DAY, SECOND } from "../util/time.ts";
import { rateLimitKey } from "./client-address.ts";
import { contextOf } from "./request-context.ts";

export interface SerializedResponse {
  status: number;
  /** JSON text. */
  body: string;
}

export interface IdempotentResponse extends SerializedResponse {
  /** True if this is a stored response, and nothing was done. */
  replayed: boolean;
}

/**
 * Makes the statements that store this response. In the batch of the work itself, both are stored or neither, also after
 * a kill. If a producer does not use them, the response is stored right after its work.
 */
export type KeepStatements = (response: SerializedResponse) => Statement[];

export interface RunOptions {
  /** Fields of the body, with dots for nested ones (`agent.token`), that are shown once: a replay has null. */
  secretFields?: readonly string[];
}

export interface Idempotency {
  /**
   * Runs `produce` unless `scope` (caller, method and path) has a response for this key from the last 24 hours. Without a
   * key (null) it always runs. A second request with the same key waits for the first.
   * Responses of 500 and above, 429, and errors of `produce` are not stored: the work was not done.
   * Throws 400 INVALID_INPUT for an invalid key, 409 IDEMPOTENCY_MISMATCH for another body under the same key, and
   * 409 IDEMPOTENCY_IN_PROGRESS if the first request takes longer than `waitMs`.
   */
  run(
    scope: string,
    key: string | null,
    bodyText: string,
    produce: (keepStatements: KeepStatements) => Promise<SerializedResponse>,
    options?: RunOptions,
  ): Promise<IdempotentResponse>;
  /**
   * `run` for a route: the key is the request's `Idempotency-Key`; the scope consists of its method, path and caller (the
   * user, or the address without one); the body is the one that was read. A replayed response has the header
   * `idempotency-replayed`. A response that streams events is passed on and not stored.
   */
  respond(
    caller: Caller,
    produce: (keepStatements: KeepStatements) => Promise<Response>,
    options?: RunOptions,
  ): Promise<Response>;
  /**
   * Holds the request's key to one `content` (what of the body must not change) for 24 hours, and runs `work` each time: for work
   * that finds its earlier answer by itself. An error below 500 of `work` frees the key, since nothing was begun.
   * Throws as `run` does.
   */
  holdToOneBody<Result>(caller: Caller, content: string, work: () => Promise<Result>): Promise<Result>;
}

export interface Caller {
  request: Request;
  userId?: string | undefined;
}

export interface IdempotencyOptions {
  database: Pick<Database, "read" | "write">;
  vault: Pick<Vault, "sign">;
  /** Epoch ms. */
  now?: () => number;
  /** Milliseconds that a repeated request waits for the first. Default 30,000. */
  waitMs?: number;
}

interface StoredResponse extends SerializedResponse {
  bodyHash: string;
}

interface InFlightRequest {
  bodyHash: string;
  /** False while it looks for a stored response, which may be that of another body. */
  isProducing: boolean;
  /** The stored response; undefined if nothing was stored. Never rejects. */
  done: Promise<StoredResponse | undefined>;
}

const RETENTION_MS = DAY;

export function createIdempotency({
  database,
  vault,
  now = Date.now,
  waitMs = 30 * SECOND,
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

  /** Does the work and stores its response; `stored` is called with the stored response, even if the work fails then. */
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
      // Another process on the same database was first, and this batch was undone.
      const earlier = isUniqueViolation(error, "idempotency_keys.key") ? await find(scope, key) : undefined;
      if (!earlier) throw error;
      stored(earlier);
      return replay(earlier, bodyHash);
    }
  }

  const idempotency: Idempotency = {
    async run(scope, key, bodyText, produce, { secretFields = [] } = {}) {
      if (key === null) return { ...(await produce(() => [])), replayed: false };
      requireValidKey(key);
      // A keyed hash: bodies may hold passwords, which could be guessed from a plain hash.
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
      const { bodyText = "", bodyBytes } = contextOf(request);
      // A large body is hashed on another thread first.
      const content = bodyBytes ? await sha256(bodyBytes) : bodyText;
      const scope = scopeOf({ request, userId });
      let original: Response | undefined;
      const produceText = async (keepStatements: KeepStatements): Promise<SerializedResponse> => {
        original = await produce(keepStatements);
        if (isStream(original)) throw STREAMED;
        return { status: original.status, body: await original.clone().text() };
      };
      try {
        const { status, body, replayed } = await idempotency.run(scope, key, content, produceText, options);
        if (!replayed && original) return original;
        return new Response(body, { status, headers: { "content-type": JSON_TYPE, "idempotency-replayed": "true" } });
      } catch (error) {
        if (error === STREAMED && original) return original;
        throw error;
      }
    },

    async holdToOneBody(caller, content, work) {
      const key = caller.request.headers.get("idempotency-key");
      if (key === null) return work();
      requireValidKey(key);
      const scope = scopeOf(caller);
      const bodyHash = vault.sign("idempotency", await sha256(new TextEncoder().encode(content)));
      const held = { status: HELD, body: "", bodyHash };
      let isNew = false;
      const stored =
        (await find(scope, key)) ??
        (await database
          .write(insertStatements(scope, key, held, () => (isNew = true)))
          .then(() => held)
          .catch(async (error: unknown) => {
            // A request at the same time was first.
            const earlier = isUniqueViolation(error, "idempotency_keys.key") ? await find(scope, key) : undefined;
            if (!earlier) throw error;
            return earlier;
          }));
      if (stored.bodyHash !== bodyHash) throw idempotencyMismatch();
      try {
        return await work();
      } catch (error) {
        if (isNew && error instanceof AppError && error.status < 500) {
          const args = [scope, key, HELD];
          await database.write([
            { sql: "DELETE FROM idempotency_keys WHERE scope = ? AND key = ? AND status = ?", args },
          ]);
        }
        throw error;
      }
    },
  };
  return idempotency;
}

/** The status of a row that holds a key to a body, without a response. */
const HELD = 0;

/** The caller, method and path of a request. */
function scopeOf({ request, userId }: Caller): string {
  const { address } = contextOf(request);
  const caller = userId === undefined ? `address:${rateLimitKey(address)}` : `user:${userId}`;
  return `${caller} ${request.method} ${new URL(request.url).pathname}`;
}

function requireValidKey(key: string): void {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return;
  throw invalidInput({ path: "Idempotency-Key", message: "must be 1 to 255 visible ASCII characters" });
}

const sha256 = async (bytes: Uint8Array<ArrayBuffer>) =>
  Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");

const JSON_TYPE = "application/json;charset=utf-8";
/** Thrown to leave `run` without storing a response. */
const STREAMED = Symbol("streamed");
const isStream = ({ headers }: Response) => headers.get("content-type")?.startsWith("text/event-stream") === true;

function replay({ status, body, bodyHash }: StoredResponse, requestHash: string): IdempotentResponse {
  if (bodyHash !== requestHash) throw idempotencyMismatch();
  return { status, body, replayed: true };
}

/** Resolves with the promise's value, or throws 409 if it takes longer. */
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
