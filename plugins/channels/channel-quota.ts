// How many bots all agents of an account may connect, by its plan: checked in the write that connects one.
import { GuardFailed, guard, type Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import { isPlaceholderAccount, type PlanTable, UNLIMITED, type User } from "../auth/index.ts";

const GUARD = "channels.quota";
const OTHERS = `SELECT count(*) FROM channel_connections c JOIN agents a ON a.id = c.agent_id
  WHERE a.user_id = ?1 AND NOT (c.agent_id = ?2 AND c.channel = ?3)`;
/** ?4: how many are added; null: those that the agent ?2, which comes to the account, has. */
const HAS_ROOM = `UPDATE users SET updated_at = updated_at WHERE id = ?1 AND (${OTHERS})
  + coalesce(?4, (SELECT count(*) FROM channel_connections WHERE agent_id = ?2)) <= ?5`;

export interface ChannelQuota {
  /** Fail their batch unless the account has room. None without a limit, for admins, and for agents that have no owner yet. */
  roomStatements(userId: string, added: { agentId?: string; channel?: string; count?: number }): Promise<Statement[]>;
  /** 429 `CHANNEL_LIMIT_REACHED` if these statements have failed a batch, else the error itself. */
  toLimitError(error: unknown, userId: string): Promise<unknown>;
}

interface Deps {
  users: { byId(id: string): Promise<User | undefined> };
  isAdmin(user: User): boolean;
  plans: PlanTable;
}

export function createChannelQuota({ users, isAdmin, plans }: Deps): ChannelQuota {
  async function limitOf(userId: string): Promise<number> {
    const user = await users.byId(userId);
    return user && !isPlaceholderAccount(user) && !isAdmin(user) ? plans.ofAccount(user).channels : UNLIMITED;
  }
  return {
    async roomStatements(userId, { agentId = "", channel = "", count }) {
      const limit = await limitOf(userId);
      if (limit === UNLIMITED || count === 0) return [];
      return [{ sql: HAS_ROOM, args: [userId, agentId, channel, count ?? null, limit] }, guard(GUARD)];
    },
    async toLimitError(error, userId) {
      if (!(error instanceof GuardFailed) || error.guard !== GUARD) return error;
      const limit = await limitOf(userId);
      const text = `Your plan has room for ${limit} connected ${limit === 1 ? "bot" : "bots"}. Disconnect one, or choose a larger plan.`;
      return new AppError(429, "CHANNEL_LIMIT_REACHED", text, { limit });
    },
  };
}
