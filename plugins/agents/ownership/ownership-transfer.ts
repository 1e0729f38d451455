// An agent that goes from one account to another, with all that belongs to it.
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { AgentHooks } from "../agent-hooks.ts";
import type { AgentStore } from "../agent-store.ts";
import { IS_WITHIN_QUOTA, quotaError } from "./agent-quota.ts";

export interface OwnershipTransfer {
  agentId: string;
  /** Whose it is now. */
  from: string;
  to: { userId: string; isAdmin: boolean };
  /** Written before it, in the same batch; may hold guards of its own. */
  statementsBefore: readonly Statement[];
  /** Written after it, in the same batch. Must not hold guards. */
  statementsAfter: readonly Statement[];
}

/**
 * Whose agent `?` is, as an expression for what is written about it by others: a value that was read before may be of an
 * owner who has given it away meanwhile. Null for an agent that is gone, and for none.
 */
export const AGENT_OWNER_SQL = "(SELECT user_id FROM agents WHERE id = ?)";

const TRANSFER = `UPDATE agents SET user_id = ?1, updated_at = ?2 WHERE id = ?4 AND user_id = ?5 AND ${IS_WITHIN_QUOTA}`;

/**
 * Gives an agent to another account, by the rules of provisioning: 401, 402 `SUBSCRIPTION_REQUIRED`, 429
 * `AGENT_LIMIT_REACHED`. Whatever comes in at once, nobody gets more than the limit. What proves who the owner is stays behind
 * (the database sees to it), and what was counted for the agent goes along (`onMove`). Throws GuardFailed of `first`.
 */
export function createOwnershipTransfer({
  database,
  events,
  agents,
  hooks,
}: Pick<Kernel, "database" | "events"> & { agents: Pick<AgentStore, "find" | "invalidateOwner">; hooks: AgentHooks }) {
  const transferHooks: ((agentId: string, from: string, to: string) => Statement[])[] = [];

  return {
    /** Gives what makes that follow the agent which a capability keeps under its owner. Without guards. */
    onTransfer: (hook: (typeof transferHooks)[number]) => void transferHooks.push(hook),

    async transfer({
      agentId,
      from,
      to: { userId, isAdmin },
      statementsBefore,
      statementsAfter,
    }: OwnershipTransfer): Promise<void> {
      const name = (await agents.find(agentId))?.name ?? "";
      const after = () => {
        agents.invalidateOwner(from);
        agents.invalidateOwner(userId);
        hooks.notifyChanged(agentId);
      };
      try {
        await database.write([
          ...statementsBefore,
          { sql: TRANSFER, args: [userId, Date.now(), isAdmin, agentId, from], after },
          guard("room"),
          ...transferHooks.flatMap((hook) => hook(agentId, from, userId)),
          events.recordStatement("agent.claimed", { userId, agentId, data: { id: agentId, name } }),
          ...statementsAfter,
        ]);
      } catch (error) {
        if (error instanceof GuardFailed && error.guard === "room") throw await quotaError(database, userId, isAdmin);
        throw error;
      }
    },
  };
}
