// Serves agents' turns from the response cache: an agent with the cache enabled answers the same conversation without a call.
import type { LanguageModelV4CallOptions, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import type { Statement } from "../../../src/kernel/database/database.ts";
import { type Kernel, ownsDatabase } from "../../../src/kernel/plugin.ts";
import type { BackupTableRows, BackupTables } from "../../agents/index.ts";
import type { Ledger, Reservation, ServedModel } from "../ledger/ledger.ts";
import { cacheKey, type ResponseCache } from "./response-cache.ts";

/** The reply of a model to one call of a turn. */
export interface CachedReply {
  text: string;
  calls: readonly LanguageModelV4ToolCall[];
}

/** The response cache of an agent, for one turn. */
export interface TurnCache {
  /** The cached reply to the same call, with the reservation for its row in the ledger. */
  get(options: LanguageModelV4CallOptions): (CachedReply & { spending: Reservation }) | undefined;
  set(options: LanguageModelV4CallOptions, reply: CachedReply): void;
}

/** The model of a turn, as far as the key of a cached reply depends on it. */
type CachedModel = ServedModel & { apiKey: string | undefined; ownKey: boolean };

/** Seconds that replies of an agent are cached; undefined: the cache is disabled. */
export type MaxAge = number | undefined;

interface Deps extends Pick<Kernel, "database" | "config"> {
  cache: ResponseCache;
  ledger: Pick<Ledger, "cachedReservation">;
}

export interface CacheBackupRows {
  readonly tables: BackupTables<"cache">;
  restoreStatements(agentId: string, rows: BackupTableRows<"cache">): Statement[];
}

/** Agents whose setting is kept in memory, if this process owns the database. */
const MAX_REMEMBERED_AGENTS = 20_000;

export function createTurnCaches({ database, config, cache, ledger }: Deps) {
  const maxAgeByAgent = ownsDatabase({ config, database }) ? new Map<string, MaxAge>() : undefined;

  async function maxAgeOf(agentId: string): Promise<MaxAge> {
    if (maxAgeByAgent?.has(agentId)) return maxAgeByAgent.get(agentId);
    const { rows } = await database.read("SELECT max_age_s FROM response_caches WHERE agent_id = ?", [agentId]);
    const maxAgeS = rows[0] ? Number(rows[0][0]) : undefined;
    if (maxAgeByAgent && maxAgeByAgent.size >= MAX_REMEMBERED_AGENTS) maxAgeByAgent.clear();
    maxAgeByAgent?.set(agentId, maxAgeS);
    return maxAgeS;
  }

  return {
    maxAgeOf,

    /** Enables or disables the cache of an existing agent. */
    async setMaxAge(agentId: string, maxAgeS: MaxAge): Promise<void> {
      const args = maxAgeS === undefined ? [agentId] : [agentId, maxAgeS];
      await database.write([{ sql: maxAgeS === undefined ? DELETE_SQL : UPSERT_SQL, args }]);
      maxAgeByAgent?.delete(agentId);
    },

    forgetAgent: (agentId: string) => void maxAgeByAgent?.delete(agentId),

    /** The setting as rows of the agent's backup. */
    backupRows: {
      tables: { cache: BACKUP_ROWS_SQL },
      /** Restores the setting. */
      restoreStatements: (agentId: string, { cache }: BackupTableRows<"cache">): Statement[] => [
        { sql: DELETE_SQL, args: [agentId], after: () => void maxAgeByAgent?.delete(agentId) },
        { sql: RESTORE_SQL, args: [agentId, cache] },
      ],
    } satisfies CacheBackupRows,

    /** Undefined if the cache of the agent is disabled. */
    async forTurn(
      agent: { id: string; userId: string },
      model: CachedModel,
      turnId?: string,
    ): Promise<TurnCache | undefined> {
      const maxAgeS = await maxAgeOf(agent.id);
      if (maxAgeS === undefined) return undefined;
      const { provider, modelId, apiKey = "", pricing, ownKey } = model;
      const key = (options: LanguageModelV4CallOptions) =>
        cacheKey("turn", agent.id, provider, modelId, Bun.hash(apiKey).toString(36), options);
      const call = {
        kind: "turn",
        agentId: agent.id,
        userId: agent.userId,
        turnId,
        provider,
        modelId,
        pricing,
        ownKey,
      } as const;
      return {
        get(options) {
          const hit = cache.get(key(options), maxAgeS);
          return hit && { ...(hit.value as CachedReply), spending: ledger.cachedReservation(call) };
        },
        set(options, { text, calls }) {
          if (text === "" && calls.length === 0) return;
          const reply: CachedReply = { text, calls };
          cache.set(key(options), reply, 2 * JSON.stringify(reply).length);
        },
      };
    },
  };
}

const BACKUP_ROWS_SQL = `SELECT json_group_array(json_object('maxAge', max_age_s)) FROM response_caches WHERE agent_id = ?1`;
const RESTORE_SQL =
  "INSERT INTO response_caches (agent_id, max_age_s) SELECT ?1, value ->> 'maxAge' FROM json_each(?2) LIMIT 1";
const DELETE_SQL = "DELETE FROM response_caches WHERE agent_id = ?";
const UPSERT_SQL = `INSERT INTO response_caches (agent_id, max_age_s) VALUES (?, ?)
  ON CONFLICT (agent_id) DO UPDATE SET max_age_s = excluded.max_age_s`;
