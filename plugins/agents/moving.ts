// An agent that goes from one account to another, with all that belongs to it.
import { GuardFailed, guard, type Statement } from "../../src/database.ts";
import type { Kernel } from "../../src/plugin.ts";
import type { Agents } from "./agents.ts";
import type { Changes } from "./changes.ts";
import { HAS_ROOM, noRoom } from "./room.ts";

export interface Move {
  agentId: string;
  /** Whose it is now. */
  from: string;
  to: { userId: string; isAdmin: boolean };
  /** Written before it, in the same batch; may hold guards of its own. */
  first: readonly Statement[];
  /** Written after it, in the same batch. Must not hold guards. */
  also: readonly Statement[];
}

/**
 * Whose agent `?` is, as an expression for what is written about it by others: a value that was read before may be of an
 * owner who has given it away meanwhile. Null for an agent that is gone, and for none.
 */
export const OWNER_OF = "(SELECT user_id FROM agents WHERE id = ?)";

const MOVE = `UPDATE agents SET user_id = ?1, updated_at = ?2 WHERE id = ?4 AND user_id = ?5 AND ${HAS_ROOM}`;

/**
 * Gives an agent to another account, by the rules of provisioning: 401, 402 `SUBSCRIPTION_REQUIRED`, 429
 * `AGENT_LIMIT_REACHED`. Whatever comes in at once, nobody gets more than the limit. What proves who the owner is stays behind
 * (the database sees to it), and what was counted for the agent goes along (`onMove`). Throws GuardFailed of `first`.
 */
export function createMoving({
  database,
  events,
  agents,
  changes,
}: Pick<Kernel, "database" | "events"> & { agents: Pick<Agents, "find" | "added">; changes: Changes }) {
  const hooks: ((agentId: string, from: string, to: string) => Statement[])[] = [];

  return {
    /** Gives what makes that follow the agent which a capability keeps under its owner. Without guards. */
    onMove: (hook: (typeof hooks)[number]) => void hooks.push(hook),

    async move({ agentId, from, to: { userId, isAdmin }, first, also }: Move): Promise<void> {
      const name = (await agents.find(agentId))?.name ?? "";
      const after = () => {
        agents.added(from);
        agents.added(userId);
        changes.changed(agentId);
      };
      try {
        await database.write([
          ...first,
          { sql: MOVE, args: [userId, Date.now(), isAdmin, agentId, from], after },
          guard("room"),
          ...hooks.flatMap((hook) => hook(agentId, from, userId)),
          events.record("agent.claimed", { userId, agentId, data: { id: agentId, name } }),
          ...also,
        ]);
      } catch (error) {
        if (error instanceof GuardFailed && error.guard === "room") throw await noRoom(database, userId, isAdmin);
        throw error;
      }
    },
  };
}
