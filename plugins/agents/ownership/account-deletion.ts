// Removes an account's agents before the account is deleted: through the backend, which writes agents and stops their
// bots.

import { guard, type Statement } from "../../../src/kernel/database/database.ts";
import { unwrap } from "../../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../../src/kernel/http/backend/backend-transport.ts";
import type { auth, BeforeDeletion } from "../../auth/index.ts";
import type { AgentStore } from "../agent-store.ts";
import type { AgentsBackend } from "../backend-routes.ts";

interface Deps {
  backend: BackendTransport;
  identities: Pick<ReturnType<typeof auth.setup>["service"]["identities"], "createGrant">;
  agents: Pick<AgentStore, "list">;
}

/** The hook throws 502 `BACKEND_UNAVAILABLE` when the agents can't be removed. */
export function createAccountDeletionHook({ backend, identities, agents }: Deps): BeforeDeletion {
  return async ({ user: { id: userId }, by, request }) => {
    const remove = async ({ id }: { id: string }) => {
      // In the owner's name: an admin who deletes the account does not own its agents.
      const granted = { ...identities.createGrant(by, request, "agent.delete", id), userId, isAdmin: false };
      const answer = await backend.client<AgentsBackend>(granted).api.agents({ id }).delete();
      // 404: another request has removed it.
      if (answer.status !== 404) unwrap(answer);
    };
    await Promise.all((await agents.list(userId)).map(remove));
    return requireNoAgentsStatements(userId);
  };
}

/**
 * Fails its batch when the user has an agent: an agent that is deleted with its owner's row would leave its bots
 * running.
 */
const requireNoAgentsStatements = (userId: string): Statement[] => [
  {
    sql: `UPDATE users SET updated_at = updated_at
      WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM agents WHERE user_id = ?1)`,
    args: [userId],
  },
  guard("agents"),
];
