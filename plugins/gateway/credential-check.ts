// Whether those who are in may stay: asked of the database, since another process may have ended what let them in.
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { GatewayTokens } from "./gateway-tokens.ts";
import type { SocketCredential } from "./socket-authentication.ts";

export interface CredentialHolder {
  readonly agentId: string;
  readonly ownerId: string;
  readonly credential: SocketCredential;
  /** Something was written of its agent's owner, or it has just come in: the agent and the owner are looked at too. */
  ownerCheckDue: boolean;
}

type AuthService = ServiceOf<typeof auth>;

interface Deps {
  filterActiveSessions: AuthService["filterActiveSessions"];
  users: Pick<AuthService["users"], "byId">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  tokens: Pick<GatewayTokens, "currentHashes">;
}

/** Those of `holders` whose right has ended; all of them in two questions, but for those that are doubted. */
export function createCredentialCheck({ filterActiveSessions, users, agents, tokens }: Deps) {
  async function isOwned({ agentId, ownerId }: CredentialHolder): Promise<boolean> {
    const [agent, owner] = await Promise.all([agents.find(agentId), users.byId(ownerId)]);
    return agent?.userId === ownerId && owner?.disabledAt === null;
  }

  return async function findExpired<Each extends CredentialHolder>(holders: readonly Each[]): Promise<Each[]> {
    const sessionIds = holders.flatMap(({ credential }) =>
      credential.kind === "session" ? [credential.sessionId] : [],
    );
    const agentIds = holders.flatMap(({ credential, agentId }) => (credential.kind === "token" ? [agentId] : []));
    const none: ReadonlySet<string> = new Set();
    const [sessions, hashes] = await Promise.all([
      sessionIds.length > 0 ? filterActiveSessions(sessionIds) : none,
      agentIds.length > 0 ? tokens.currentHashes(agentIds) : none,
    ]);
    const expired: Each[] = [];
    for (const holder of holders) {
      const { credential, ownerCheckDue } = holder;
      const isValid = credential.kind === "session" ? sessions.has(credential.sessionId) : hashes.has(credential.hash);
      holder.ownerCheckDue = false;
      if (!isValid || (ownerCheckDue && !(await isOwned(holder)))) expired.push(holder);
    }
    return expired;
  };
}
