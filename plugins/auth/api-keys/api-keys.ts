// API keys: random 256-bit tokens, shown once, stored as hashes, and looked up through a bounded cache.
import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import {
  type Database,
  GuardFailed,
  guard,
  preparedQuery,
  type Statement,
  statement,
  statementTemplate,
} from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { type Kernel, ownsDatabase } from "../../../src/kernel/plugin.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import { randomToken, sha256Hex } from "../../../src/kernel/util/tokens.ts";
import { apiKeys } from "../schema.ts";

export const SCOPES = ["read", "write", "chat"] as const;

/** What a route requires. API keys have some scopes, sessions all of them. */
export type Scope = (typeof SCOPES)[number];

/** Throws for a scope that doesn't exist, such as a misspelt one of a route: no key could ever have it. */
export function requireKnownScopes(...scopes: readonly unknown[]): void {
  for (const scope of scopes) {
    if (!SCOPES.some((known) => known === scope))
      throw new Error(`There is no scope "${String(scope)}". The scopes are ${SCOPES.join(", ")}.`);
  }
}

/** An API key without its text. Times are epoch ms. */
export interface ApiKey {
  id: string;
  userId: string;
  name: string;
  /** The first characters of the key, to distinguish keys in a list. */
  prefix: string;
  scopes: ReadonlySet<Scope>;
  /** Created by a request that came directly from this machine, in a session that did too. */
  direct: boolean;
  expiresAt: number | null;
  lastUsedAt: number | null;
  createdAt: number;
}

export type NewApiKey = Pick<ApiKey, "userId" | "name" | "scopes" | "direct" | "expiresAt">;

export interface ApiKeys {
  /**
   * Creates a key and returns its text, which is not stored. `extraStatements` join the batch. Throws 409
   * `TOO_MANY_KEYS`.
   */
  create(
    key: NewApiKey,
    extraStatements?: (apiKey: ApiKey, key: string) => Statement[],
  ): Promise<{ apiKey: ApiKey; key: string }>;
  /** The valid key with this text, if any. Records its use. */
  find(key: string): Promise<ApiKey | undefined>;
  /** A user's keys, newest first, including expired ones. */
  listByUser(userId: string): Promise<ApiKey[]>;
  /** Deletes one key of this user. Changes no row if there is none with this id. */
  revokeStatement(userId: string, id: string): Statement;
  /** Deletes every key of this user. */
  revokeAllStatement(userId: string): Statement;
  /** Writes the uses that are still only in memory. */
  close(): Promise<void>;
}

const KEY_PREFIX = "bk_";
const KEY_PATTERN = /^bk_[\w-]{43}(?:~[\w-]{2})?$/;
export const MAX_KEYS_PER_USER = 50;
const MAX_CACHED_KEYS = 10_000;
/** The last use is stored at most this often per key. */
const LAST_USED_RESOLUTION_MS = MINUTE;
const LAST_USED_FLUSH_DELAY_MS = 5 * SECOND;

/** Whether a bearer token has the prefix of API keys. */
export const looksLikeApiKey = (token: string) => token.startsWith(KEY_PREFIX);

export function createApiKeys({
  database,
  config,
  log,
  marks,
}: Pick<Kernel, "database" | "config" | "log" | "marks">): ApiKeys {
  const { drizzle } = database;
  const cache = ownsDatabase({ config, database }) ? new Map<string, ApiKey>() : undefined;
  const selectByHash = preparedQuery(() =>
    drizzle
      .select()
      .from(apiKeys)
      .where(eq(apiKeys.keyHash, sql.placeholder("hash"))),
  );

  /** Incremented by each revocation: a key whose read began before it is not cached. */
  let revocations = 0;
  const lastUses = createLastUses(database, log);

  async function load(hash: string): Promise<ApiKey | undefined> {
    const before = revocations;
    const [row] = await selectByHash.execute({ hash });
    if (!row) return undefined;
    const found = toKey(row);
    if (cache && revocations === before) {
      if (cache.size >= MAX_CACHED_KEYS) cache.delete(cache.keys().next().value ?? "");
      cache.set(hash, found);
    }
    return found;
  }

  /** Deletes keys; after the commit they are dropped from the cache. */
  function deleteStatement(condition: SQL | undefined): Statement {
    return {
      ...statement(drizzle.delete(apiKeys).where(condition).returning({ hash: apiKeys.keyHash })),
      after({ rows }) {
        revocations++;
        for (const row of rows) cache?.delete(String(row.key_hash));
      },
    };
  }

  return {
    async create({ scopes, ...fields }, extraStatements = () => []) {
      const key = marks.token(KEY_PREFIX + randomToken());
      const sorted = SCOPES.filter((scope) => scopes.has(scope));
      const apiKey: ApiKey = {
        ...fields,
        id: marks.newId(),
        prefix: key.slice(0, KEY_PREFIX.length + 6),
        scopes: new Set(sorted),
        lastUsedAt: null,
        createdAt: Date.now(),
      };
      const { id, userId, name, prefix, direct, expiresAt, createdAt } = apiKey;
      const insert = {
        sql: `INSERT INTO api_keys (id, user_id, name, key_hash, prefix, scopes, direct, expires_at, created_at)
              SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM api_keys WHERE user_id = ?) < ?`,
        args: [id, userId, name, sha256Hex(key), prefix, JSON.stringify(sorted), direct ? 1 : 0, expiresAt, createdAt],
      };
      insert.args.push(userId, MAX_KEYS_PER_USER);
      try {
        await database.write([insert, guard("keys"), ...extraStatements(apiKey, key)]);
      } catch (error) {
        if (!(error instanceof GuardFailed) || error.guard !== "keys") throw error;
        throw tooManyKeys(error);
      }
      return { apiKey, key };
    },

    async find(key) {
      if (!KEY_PATTERN.test(key)) return undefined;
      const hash = sha256Hex(key);
      const found = cache?.get(hash) ?? (await load(hash));
      const now = Date.now();
      if (!found || (found.expiresAt !== null && found.expiresAt <= now)) return undefined;
      if (now - (found.lastUsedAt ?? 0) >= LAST_USED_RESOLUTION_MS) {
        found.lastUsedAt = now;
        lastUses.record(found.id, now);
      }
      return found;
    },

    async listByUser(userId) {
      const rows = await drizzle
        .select()
        .from(apiKeys)
        .where(eq(apiKeys.userId, userId))
        .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id));
      return rows.map((row) => ({ ...toKey(row), lastUsedAt: lastUses.pendingUse(row.id) ?? row.lastUsedAt }));
    },

    revokeStatement: (userId, id) => deleteStatement(and(eq(apiKeys.userId, userId), eq(apiKeys.id, id))),
    revokeAllStatement: (userId) => deleteStatement(eq(apiKeys.userId, userId)),
    close: lastUses.close,
  };
}

/** 409 `TOO_MANY_KEYS`. */
export function tooManyKeys(cause?: unknown): AppError {
  const text = `You have ${MAX_KEYS_PER_USER} API keys, which is the limit. Delete one that you no longer need.`;
  return new AppError(409, "TOO_MANY_KEYS", text, { limit: MAX_KEYS_PER_USER }, { cause });
}

function toKey({ keyHash: _, scopes, ...row }: typeof apiKeys.$inferSelect): ApiKey {
  const stored: unknown = JSON.parse(scopes);
  return { ...row, scopes: new Set(SCOPES.filter((scope) => Array.isArray(stored) && stored.includes(scope))) };
}

/** Collects the last use of keys in memory and writes it in batches, so that no request waits for the write. */
function createLastUses(database: Pick<Database, "drizzle" | "write">, log: Kernel["log"]) {
  const pending = new Map<string, number>();
  const write = statementTemplate(
    database.drizzle
      .update(apiKeys)
      .set({ lastUsedAt: sql`${sql.placeholder("at")}` })
      .where(eq(apiKeys.id, sql.placeholder("id"))),
  );
  let timer: Timer | undefined;
  let lastFlush: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    timer = undefined;
    const batch = [...pending];
    try {
      if (batch.length > 0) await database.write(batch.map(([id, at]) => write({ id, at })));
    } catch (error) {
      // Dropped: the next recorded use writes again.
      log.warn("storing API key usage failed", { error });
    }
    for (const [id, at] of batch) if (pending.get(id) === at) pending.delete(id);
  }

  return {
    record(id: string, at: number): void {
      // Without a cache every request reads the row, which does not contain the pending use yet.
      if (at - (pending.get(id) ?? 0) < LAST_USED_RESOLUTION_MS) return;
      pending.set(id, at);
      timer ??= setTimeout(() => {
        lastFlush = flush();
      }, LAST_USED_FLUSH_DELAY_MS).unref();
    },
    pendingUse: (id: string) => pending.get(id),
    async close(): Promise<void> {
      clearTimeout(timer);
      await lastFlush;
      await flush();
    },
  };
}
