// Stops the agents of an account that is disabled or taken over, until the account's owner starts them.
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { channels as channelsPlugin } from "../channels/index.ts";
import type { Operations } from "./operations.ts";
import { OWNER_DISABLED_REASON } from "./transitions.ts";

const TAKEOVER_JOB = "lifecycle.strangers-out";

const TAKEOVER_REASON = "its owner's account was taken over by the holder of its email address";
const TAKEOVER_NOTICE =
  "Its credentials, its channels and the people paired with it were removed, since a stranger may have added them. " +
  "Look at its configuration before you start it: instructions, owners, MCP servers.";

interface Deps extends Pick<Kernel, "jobs"> {
  authService: Pick<ServiceOf<typeof auth>, "administration" | "onAccountReclaim" | "users">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "list" | "log">;
  channels: Pick<ServiceOf<typeof channelsPlugin>, "listChannelIds" | "disconnect">;
  stop: Operations["stop"];
}

export function stopAgentsWithOwner({ jobs, authService, agents, channels, stop }: Deps): void {
  /** Stops the agents that were created until `by`, and returns their ids. May be repeated. */
  async function stopAll(userId: string, reason: string, by = Number.POSITIVE_INFINITY): Promise<string[]> {
    const agentIds = (await agents.list(userId)).filter(({ createdAt }) => createdAt <= by).map(({ id }) => id);
    await Promise.all(agentIds.map((id) => stop(id, reason).catch(ignoreNotFound)));
    return agentIds;
  }

  /**
   * Disconnects every bot: a stranger who connected it still knows its token, and has named its owner on the platform.
   */
  async function disconnectAll(agentId: string): Promise<void> {
    for (const channel of await channels.listChannelIds(agentId)) await channels.disconnect(agentId, channel);
    agents.log(agentId, "warning", TAKEOVER_NOTICE, "lifecycle");
  }

  authService.administration.onDisabled(async (userId) => {
    const owner = await authService.users.byId(userId);
    // The account may be enabled again by now; then its agents keep running.
    if (owner && owner.disabledAt !== null) await stopAll(userId, OWNER_DISABLED_REASON);
  });

  // Agents that a stranger left running would use the new owner's credentials and reply in the new owner's name.
  authService.onAccountReclaim((userId) => [jobs.enqueueStatement(TAKEOVER_JOB, { userId, by: Date.now() })]);
  jobs.handle(TAKEOVER_JOB, async (payload) => {
    const { userId, by } = payload as { userId: string; by: number };
    for (const id of await stopAll(userId, TAKEOVER_REASON, by)) await disconnectAll(id);
  });
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof AppError && error.code === "AGENT_NOT_FOUND")) throw error;
}
