// Checks the credentials of open sockets against the database, since another process may have revoked them.
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { GatewayTokens } from "./gateway-tokens.ts";
import type { SocketCredential } from "./socket-authentication.ts";

export interface CredentialHolder {
  readonly agentId: string;
  readonly ownerId: string;
  readonly credential: SocketCredential;
  /** The agent and its owner are checked too: the socket was just opened, or the owner's account was changed. */
  ownerCheckDue: boolean;
}

type AuthService = ServiceOf<typeof auth>;

interface Deps {
  filterActiveSessions: AuthService["filterActiveSessions"];
  users: Pick<AuthService["users"], "byId">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  tokens: Pick<GatewayTokens, "currentHashes">;
}

/**
 * Returns the function that finds the holders whose credential was revoked. It makes two queries for all of them, and two
 * look-ups for each whose owner is to be checked.
 */
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
