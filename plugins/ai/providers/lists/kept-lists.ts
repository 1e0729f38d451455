// Keeps the providers' lists of models in the database, so that prices and windows are known at once after a restart.

import { createHash } from "node:crypto";
import type { Database } from "../../../../src/kernel/database/database.ts";
import type { Log } from "../../../../src/kernel/telemetry/log.ts";
import { DAY } from "../../../../src/kernel/util/time.ts";
import type { ListedModel } from "../model-list.ts";
import type { Upstream } from "../providers.ts";

/** A list as it was read from the provider. */
export interface KeptList {
  readonly models: readonly ListedModel[];
  /** Epoch ms. */
  readonly fetchedAt: number;
}

export interface KeptLists {
  /** Reads all lists; call it once. Never rejects: without them the providers are asked. */
  load(): Promise<void>;
  /** The loaded list of this address; undefined if there is none, or it is too old for its prices to be relied on. */
  of(upstream: Upstream): KeptList | undefined;
  /** Stores a list in the background, if it differs from the stored one or that is a day old. */
  save(upstream: Upstream, models: readonly ListedModel[]): void;
}

interface Deps {
  database: Pick<Database, "read" | "write">;
  log: Pick<Log, "warn">;
}

/** What is known of a stored list. */
interface StoredList {
  readonly source: string;
  readonly digest: string;
  readonly fetchedAt: number;
}

const MAX_AGE_MS = 7 * DAY;
const TOUCH_AFTER_MS = DAY;
/** Part of the digest: lists that another form of `ListedModel` was stored in are not read. */
const FORMAT = 2;

const SELECT_SQL = "SELECT provider, source, models, fetched_at FROM model_lists";
const UPSERT_SQL = `INSERT INTO model_lists (provider, source, models, fetched_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (provider) DO UPDATE SET source = excluded.source, models = excluded.models, fetched_at = excluded.fetched_at`;

export function createKeptLists({ database, log }: Deps): KeptLists {
  /** By provider. The texts are not held in memory. */
  const stored = new Map<string, StoredList>();
  /** Lists that nobody has asked for yet. */
  const loaded = new Map<string, readonly ListedModel[]>();

  return {
    async load() {
      try {
        const { rows } = await database.read(SELECT_SQL);
        for (const { provider, source, models, fetched_at } of rows) {
          const text = String(models);
          loaded.set(String(provider), JSON.parse(text));
          stored.set(String(provider), {
            source: String(source),
            digest: digestOf(text),
            fetchedAt: Number(fetched_at),
          });
        }
      } catch (error) {
        log.warn("the stored lists of models could not be read; the providers are asked", { error });
      }
    },

    of(upstream) {
      const { provider } = upstream;
      const models = loaded.get(provider);
      const about = stored.get(provider);
      if (!models || !about) return undefined;
      loaded.delete(provider);
      const { source, fetchedAt } = about;
      const isUsable = source === sourceOf(upstream) && Date.now() - fetchedAt <= MAX_AGE_MS;
      return isUsable ? { models, fetchedAt } : undefined;
    },

    save(upstream, models) {
      const { provider } = upstream;
      const source = sourceOf(upstream);
      const text = JSON.stringify(models);
      const digest = digestOf(text);
      const fetchedAt = Date.now();
      const last = stored.get(provider);
      if (last?.source === source && last.digest === digest && fetchedAt - last.fetchedAt < TOUCH_AFTER_MS) return;
      stored.set(provider, { source, digest, fetchedAt });
      database.write([{ sql: UPSERT_SQL, args: [provider, source, text, fetchedAt] }]).catch((error: unknown) => {
        stored.delete(provider);
        log.warn("a list of models could not be stored; the next one will be", { provider, error });
      });
    },
  };
}

const digestOf = (text: string) => createHash("sha256").update(text).digest("base64url");

/** The address is stored as a digest, since it may contain a password. */
const sourceOf = ({ baseUrl }: Upstream) => digestOf(`${FORMAT} ${baseUrl}`);
