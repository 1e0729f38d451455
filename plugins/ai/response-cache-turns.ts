// Kept answers for agents: those whose owner turned it on answer the same conversation again without a call.
import type { LanguageModelV4CallOptions, LanguageModelV4ToolCall } from "@ai-sdk/provider";
import type { Statement } from "../../src/database.ts";
import { type Kernel, ownsDatabase } from "../../src/plugin.ts";
import type { Parts, Rows } from "../agents/index.ts";
import type { Ledger, Spending } from "./ledger.ts";
import { cacheKey, type ResponseCache } from "./response-cache.ts";
import type { TurnModel } from "./turns.ts";

/** What a model said in one call of a turn. */
export interface Said {
  text: string;
  calls: readonly LanguageModelV4ToolCall[];
}

/** For one turn of an agent that has it turned on. */
export interface TurnCache {
  /** What was said to exactly this before, and the row of the call that it saves. */
  find(options: LanguageModelV4CallOptions): (Said & { spending: Spending }) | undefined;
  keep(options: LanguageModelV4CallOptions, said: Said): void;
}

/** Seconds that answers of an agent are kept; undefined: not at all. */
export type MaxAge = number | undefined;

interface Deps extends Pick<Kernel, "database" | "config"> {
  cache: ResponseCache;
  ledger: Pick<Ledger, "cached">;
}

export interface CacheEstate {
  readonly parts: Parts<"cache">;
  restore(agentId: string, rows: Rows<"cache">): Statement[];
}

/** Agents whose setting is remembered, where nobody else can write it. */
const MAX_KNOWN = 20_000;

export function createTurnCaches({ database, config, cache, ledger }: Deps) {
  const known = ownsDatabase({ config, database }) ? new Map<string, MaxAge>() : undefined;

  async function maxAgeOf(agentId: string): Promise<MaxAge> {
    if (known?.has(agentId)) return known.get(agentId);
    const { rows } = await database.read("SELECT max_age_s FROM response_caches WHERE agent_id = ?", [agentId]);
    const maxAgeS = rows[0] ? Number(rows[0][0]) : undefined;
    if (known && known.size >= MAX_KNOWN) known.clear();
    known?.set(agentId, maxAgeS);
    return maxAgeS;
  }

  return {
    maxAgeOf,

    /** Turns it on, or off; the agent has to be there. */
    async set(agentId: string, maxAgeS: MaxAge): Promise<void> {
      const args = maxAgeS === undefined ? [agentId] : [agentId, maxAgeS];
      await database.write([{ sql: maxAgeS === undefined ? OFF : ON, args }]);
      known?.delete(agentId);
    },

    forget: (agentId: string) => void known?.delete(agentId),

    /** The setting as rows of an agent's backup. */
    estate: {
      parts: { cache: PART },
      /** Puts it back as it was. */
      restore: (agentId: string, { cache }: Rows<"cache">): Statement[] => [
        { sql: OFF, args: [agentId], after: () => void known?.delete(agentId) },
        { sql: BRING, args: [agentId, cache] },
      ],
    } satisfies CacheEstate,

    /** Undefined for an agent that has it turned off. */
    async forTurn(agent: { id: string; userId: string }, model: TurnModel): Promise<TurnCache | undefined> {
      const maxAgeS = await maxAgeOf(agent.id);
      if (maxAgeS === undefined) return undefined;
      const { provider, modelId, apiKey = "", pricing, ownKey } = model;
      const key = (options: LanguageModelV4CallOptions) =>
        cacheKey("turn", agent.id, provider, modelId, Bun.hash(apiKey).toString(36), options);
      const call = {
        kind: "turn",
        agentId: agent.id,
        userId: agent.userId,
        provider,
        modelId,
        pricing,
        ownKey,
      } as const;
      return {
        find(options) {
          const found = cache.find(key(options), maxAgeS);
          return found && { ...(found.value as Said), spending: ledger.cached(call) };
        },
        keep(options, { text, calls }) {
          if (text === "" && calls.length === 0) return;
          const said: Said = { text, calls };
          cache.keep(key(options), said, 2 * JSON.stringify(said).length);
        },
      };
    },
  };
}

const PART = `SELECT json_group_array(json_object('maxAge', max_age_s)) FROM response_caches WHERE agent_id = ?1`;
const BRING =
  "INSERT INTO response_caches (agent_id, max_age_s) SELECT ?1, value ->> 'maxAge' FROM json_each(?2) LIMIT 1";
const OFF = "DELETE FROM response_caches WHERE agent_id = ?";
const ON = `INSERT INTO response_caches (agent_id, max_age_s) VALUES (?, ?)
  ON CONFLICT (agent_id) DO UPDATE SET max_age_s = excluded.max_age_s`;
