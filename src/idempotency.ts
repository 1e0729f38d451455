// Idempotency-Key: a request that is sent again gets the first answer again, and nothing happens twice. Contract §1.

import { rateKey } from "./client-address.ts";
import { type Database, isUniqueViolation, type Statement } from "./database.ts";
import { AppError, invalid } from "./errors.ts";
import { contextOf } from "./http.ts";
import type { Vault } from "./vault.ts";

export interface Answer {
  status: number;
  /** JSON text. */
  body: string;
}

export interface Replayable extends Answer {
  /** True: this is the kept answer, and nothing was done. */
  replayed: boolean;
}

/**
 * Statements that keep this answer. Put into the batch of the work itself they make it exact: after a kill either both
 * are there or neither. Not used, the answer is kept right after the work.
 */
export type Keep = (answer: Answer) => Statement[];

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
    produce: (keep: Keep) => Promise<Answer>,
    options?: RunOptions,
  ): Promise<Replayable>;
  /**
   * `run` for a route: the key is the request's `Idempotency-Key`, the scope its method, path and caller (the user, or
   * without one the address), the body what the surface has read. A replayed answer says so in `idempotency-replayed`.
   * An answer that streams events is passed on and not kept.
   */
  respond(
    caller: { request: Request; userId?: string | undefined },
    produce: (keep: Keep) => Promise<Response>,
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

interface Kept extends Answer {
  bodyHash: string;
}

interface UnderWay {
  bodyHash: string;
  /** False while it still looks for an answer that was kept earlier, which need not be of its own body. */
  working: boolean;
  /** What was kept; undefined when nothing was. Never rejects. */
  done: Promise<Kept | undefined>;
}

const KEPT_MS = 24 * 60 * 60_000;

export function createIdempotency({
  database,
  vault,
  now = Date.now,
  waitMs = 30_000,
}: IdempotencyOptions): Idempotency {
  const underWay = new Map<string, UnderWay>();

  async function find(scope: string, key: string): Promise<Kept | undefined> {
    const { rows } = await database.read(
      "SELECT body_hash, status, body FROM idempotency_keys WHERE scope = ? AND key = ? AND created_at > ?",
      [scope, key, now() - KEPT_MS],
    );
    const row = rows[0];
    return row && { bodyHash: String(row.body_hash), status: Number(row.status), body: String(row.body) };
  }

  const keeping = (scope: string, key: string, kept: Kept, after: () => void): Statement[] => [
    { sql: "DELETE FROM idempotency_keys WHERE created_at <= ?", args: [now() - KEPT_MS] },
    {
      sql: "INSERT INTO idempotency_keys (scope, key, body_hash, status, body, created_at) VALUES (?, ?, ?, ?, ?, ?)",
      args: [scope, key, kept.bodyHash, kept.status, kept.body, now()],
      after,
    },
  ];

  /** Does the work and keeps its answer; `kept` is told what was kept, whatever happens then. */
  async function work(
    scope: string,
    key: string,
    bodyHash: string,
    produce: (keep: Keep) => Promise<Answer>,
    secretFields: readonly string[],
    kept: (answer: Kept) => void,
  ): Promise<Replayable> {
    let isKept = false;
    const keep: Keep = (answer) => {
      const copy = { ...answer, body: withoutSecrets(answer.body, secretFields), bodyHash };
      return keeping(scope, key, copy, () => {
        isKept = true;
        kept(copy);
      });
    };
    try {
      const answer = await produce(keep);
      if (!isKept && answer.status < 500 && answer.status !== 429) await database.write(keep(answer));
      return { ...answer, replayed: false };
    } catch (error) {
      // Another process on the same database was first, and our batch was undone.
      const other = isUniqueViolation(error, "idempotency_keys.key") ? await find(scope, key) : undefined;
      if (!other) throw error;
      kept(other);
      return replay(other, bodyHash);
    }
  }

  const idempotency: Idempotency = {
    async run(scope, key, bodyText, produce, { secretFields = [] } = {}) {
      if (key === null) return { ...(await produce(() => [])), replayed: false };
      if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
        throw invalid({ path: "Idempotency-Key", message: "must be 1 to 255 visible ASCII characters" });
      }
      // Keyed, since bodies may hold passwords that a bare hash would let somebody guess.
      const bodyHash = vault.sign("idempotency", bodyText);
      const id = `${scope}\n${key}`;
      for (let other = underWay.get(id); other; other = underWay.get(id)) {
        if (other.working && other.bodyHash !== bodyHash) throw mismatch();
        const kept = await within(other.done, waitMs);
        if (kept) return replay(kept, bodyHash);
      }
      const { promise: done, resolve } = Promise.withResolvers<Kept | undefined>();
      const own: UnderWay = { bodyHash, working: false, done };
      underWay.set(id, own);
      let kept: Kept | undefined;
      try {
        kept = await find(scope, key);
        if (kept) return replay(kept, bodyHash);
        own.working = true;
        return await work(scope, key, bodyHash, produce, secretFields, (answer) => {
          kept = answer;
        });
      } finally {
        underWay.delete(id);
        resolve(kept);
      }
    },

    async respond({ request, userId }, produce, options) {
      const key = request.headers.get("idempotency-key");
      if (key === null) return produce(() => []);
      const { address, bodyText = "" } = contextOf(request);
      const caller = userId === undefined ? `address:${rateKey(address)}` : `user:${userId}`;
      const scope = `${caller} ${request.method} ${new URL(request.url).pathname}`;
      let original: Response | undefined;
      const produceText = async (keep: Keep): Promise<Answer> => {
        original = await produce(keep);
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

function replay({ status, body, bodyHash }: Kept, given: string): Replayable {
  if (bodyHash !== given) throw mismatch();
  return { status, body, replayed: true };
}

/** The promise's value, or 409 when it takes longer. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(inProgress()), ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function withoutSecrets(body: string, fields: readonly string[]): string {
  if (fields.length === 0) return body;
  const root: unknown = JSON.parse(body);
  for (const field of fields) {
    const path = field.split(".");
    const last = path.pop() ?? "";
    const holder = path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), root);
    if (isObject(holder) && Object.hasOwn(holder, last)) holder[last] = null;
  }
  return JSON.stringify(root);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const mismatch = () =>
  new AppError(409, "IDEMPOTENCY_MISMATCH", "This Idempotency-Key was used for another body. Use a new key.");

const inProgress = () =>
  new AppError(
    409,
    "IDEMPOTENCY_IN_PROGRESS",
    "The first request with this Idempotency-Key is still running. Try again soon.",
  );
