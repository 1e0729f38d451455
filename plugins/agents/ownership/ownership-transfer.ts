// Transfers an agent and its data from one account to another, in one write.
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { AgentHooks } from "../agent-hooks.ts";
import type { AgentStore } from "../agent-store.ts";
import type { LogStore } from "../logs/log-store.ts";
import type { AgentQuota } from "./agent-quota.ts";

export interface OwnershipTransfer {
  agentId: string;
  /** The user id of the present owner. */
  from: string;
  to: { userId: string; isAdmin: boolean };
  /** Written before the transfer, in the same batch; may hold guards. */
  statementsBefore: readonly Statement[];
  /** Written after the transfer, in the same batch. Must not hold guards. */
  statementsAfter: readonly Statement[];
}

/**
 * SQL expression for the user id of agent `?`'s owner, for rows that name the owner: a value that was read earlier may
 * name a former owner. Null for a removed agent and for null.
 */
export const AGENT_OWNER_SQL = "(SELECT user_id FROM agents WHERE id = ?)";

/**
 * Transfers agents within the new owner's quota: throws 401, 402 `SUBSCRIPTION_REQUIRED`, 429 `AGENT_LIMIT_REACHED` as
 * provisioning does, and GuardFailed for guards of `statementsBefore`. Triggers delete proofs of the former owner's
 * identity; data that other plugins store under the owner follows by `onTransfer`.
 */
export function createOwnershipTransfer({
  database,
  events,
  audit,
  agents,
  quota,
  hooks,
  logs,
}: Pick<Kernel, "database" | "events" | "audit"> & {
  agents: Pick<AgentStore, "find" | "invalidateOwner">;
  quota: AgentQuota;
  hooks: AgentHooks;
  logs: Pick<LogStore, "add">;
}) {
  const transferSql = `UPDATE agents SET user_id = ?1, updated_at = ?2 WHERE id = ?4 AND user_id = ?5 AND ${quota.isWithin}`;
  const transferHooks: ((agentId: string, from: string, to: string) => Statement[])[] = [];

  return {
    /** Adds statements that move data which a plugin stores under the agent's owner. They must not hold guards. */
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
        logs.add(agentId, "info", "claim: the agent belongs to another account now", "lifecycle");
      };
      try {
        await database.write([
          ...statementsBefore,
          { sql: transferSql, args: [userId, Date.now(), isAdmin, agentId, from], after },
          guard("quota"),
          ...transferHooks.flatMap((hook) => hook(agentId, from, userId)),
          events.recordStatement("agent.claimed", { userId, agentId, data: { id: agentId, name } }),
          audit.record({
            action: "agent.transfer",
            target: { kind: "agent", id: agentId, name },
            details: { owner: { from, to: userId } },
          }),
          ...statementsAfter,
        ]);
      } catch (error) {
        if (error instanceof GuardFailed && error.guard === "quota") throw await quota.error(userId, isAdmin);
        throw error;
      }
    },
  };
}
