// Who may publish: whoever shows the key of an agent that is up, whose owner may come in.
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import { type auth, isActive, isHolder, type User } from "../auth/index.ts";
import type { Admission } from "./driver.ts";
import type { StreamRows } from "./rows.ts";

interface Deps {
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  rows: Pick<StreamRows, "byKey">;
}

/** Streams on the air at once, by plan; others have room for one. */
const ROOM: Readonly<Record<string, number>> = { starter: 1, pro: 3, enterprise: 20 };

function roomOf({ isAdmin, subscription }: User): number {
  if (isAdmin) return Number.POSITIVE_INFINITY;
  return (subscription && isActive(subscription) && ROOM[subscription.plan]) || 1;
}

export function createAdmission({ users, agents, rows }: Deps) {
  return async function admit(key: string): Promise<Admission> {
    const found = await rows.byKey(key);
    const agent = found && (await agents.find(found.agentId));
    const owner = agent && (await users.byId(agent.userId));
    // The same for all of these: a stranger is told nothing.
    if (!found || !agent || !owner || owner.disabledAt !== null) return { refusal: "This stream key is not known." };
    if (agent.status === "stopped") return { refusal: "The agent is stopped. Start it first." };
    return { stream: { ...found, userId: agent.userId }, most: roomOf(owner), isUnclaimed: isHolder(owner) };
  };
}
