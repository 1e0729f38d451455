// Reads from the ledger which calls of models a turn has made, with their tokens and cost.
import type { Database } from "../../../src/kernel/database/database.ts";
import type { Ledger } from "./ledger.ts";

/** One call of a model. Times are epoch ms. */
export interface TurnCall {
  startedAt: number;
  endedAt: number;
  provider: string;
  model: string;
  inputTokens: number;
  outputTokens: number;
  costMicroUsd: number;
  /** The provider reported no count. */
  estimated: boolean;
  /** Answered from the response cache. */
  cached: boolean;
}

/** ?1: ids of turns as JSON. The ids of their rows begin with them (`newRowId`); `/` is the character after `.`. */
export const TURN_CALLS_SQL = `SELECT turn.value AS turn, u.at, u.provider, u.model, u.input_tokens, u.output_tokens,
    u.cost_micro_usd, u.latency_ms, u.estimated, u.cached
  FROM json_each(?1) AS turn CROSS JOIN usage AS u ON u.id > turn.value || '.' AND u.id < turn.value || '/'`;

interface Deps {
  database: Pick<Database, "read">;
  ledger: Pick<Ledger, "flush">;
}

/** Returns the function from ids of turns to their calls, oldest first. */
export function createTurnCalls({ database: { read }, ledger }: Deps) {
  return async (turnIds: readonly string[]): Promise<Map<string, TurnCall[]>> => {
    if (turnIds.length === 0) return new Map();
    await ledger.flush();
    const { rows } = await read(TURN_CALLS_SQL, [JSON.stringify(turnIds)]);
    const calls = new Map<string, TurnCall[]>();
    for (const row of rows) {
      const startedAt = Number(row.at);
      const call = {
        startedAt,
        endedAt: startedAt + Number(row.latency_ms),
        provider: String(row.provider),
        model: String(row.model),
        inputTokens: Number(row.input_tokens),
        outputTokens: Number(row.output_tokens),
        costMicroUsd: Number(row.cost_micro_usd),
        estimated: row.estimated === 1,
        cached: row.cached === 1,
      };
      const turn = String(row.turn);
      calls.set(turn, [...(calls.get(turn) ?? []), call]);
    }
    for (const list of calls.values()) list.sort((a, b) => a.startedAt - b.startedAt);
    return calls;
  };
}
