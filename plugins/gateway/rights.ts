// Whether those who are in may stay: asked of the database, since another process may have ended what let them in.
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { Right } from "./entrance.ts";
import type { GatewayTokens } from "./tokens.ts";

export interface Holder {
  readonly agentId: string;
  readonly ownerId: string;
  readonly right: Right;
  /** Something was written of its agent's owner, or it has just come in: the agent and the owner are looked at too. */
  doubted: boolean;
}

type Accounts = ServiceOf<typeof auth>;

interface Deps {
  aliveSessions: Accounts["aliveSessions"];
  users: Pick<Accounts["users"], "byId">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  tokens: Pick<GatewayTokens, "hashes">;
}

/** Those of `holders` whose right has ended; all of them in two questions, but for those that are doubted. */
export function createRights({ aliveSessions, users, agents, tokens }: Deps) {
  async function isOwned({ agentId, ownerId }: Holder): Promise<boolean> {
    const [agent, owner] = await Promise.all([agents.find(agentId), users.byId(ownerId)]);
    return agent?.userId === ownerId && owner?.disabledAt === null;
  }

  return async function ended<Each extends Holder>(holders: readonly Each[]): Promise<Each[]> {
    const sessionIds = holders.flatMap(({ right }) => (right.kind === "session" ? [right.sessionId] : []));
    const agentIds = holders.flatMap(({ right, agentId }) => (right.kind === "token" ? [agentId] : []));
    const none: ReadonlySet<string> = new Set();
    const [sessions, hashes] = await Promise.all([
      sessionIds.length > 0 ? aliveSessions(sessionIds) : none,
      agentIds.length > 0 ? tokens.hashes(agentIds) : none,
    ]);
    const over: Each[] = [];
    for (const holder of holders) {
      const { right, doubted } = holder;
      const good = right.kind === "session" ? sessions.has(right.sessionId) : hashes.has(right.hash);
      holder.doubted = false;
      if (!good || (doubted && !(await isOwned(holder)))) over.push(holder);
    }
    return over;
  };
}
