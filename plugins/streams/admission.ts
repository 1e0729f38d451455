// Decides who may publish: the holder of a stream key whose agent is not stopped and whose owner's account is enabled.
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { type agents as agentsPlugin, isFrozen } from "../agents/index.ts";
import { type auth, isPlaceholderAccount, type PlanTable, type User } from "../auth/index.ts";
import type { Admission } from "./stream-driver.ts";
import type { StreamStore } from "./stream-store.ts";

interface Deps {
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  plans: PlanTable;
  rows: Pick<StreamStore, "findByKey">;
}

/** Streams that one user may publish at once. */
const maxStreamsOf = (owner: User, plans: PlanTable): number =>
  owner.isAdmin ? Number.POSITIVE_INFINITY : plans.ofAccount(owner).streams;

export function createAdmission({ users, agents, plans, rows }: Deps) {
  return async function admit(key: string): Promise<Admission> {
    const stream = await rows.findByKey(key);
    const agent = stream && (await agents.find(stream.agentId));
    const owner = agent && (await users.byId(agent.userId));
    // One refusal for all of these cases, so that it tells a stranger nothing about accounts.
    if (!stream || !agent || !owner || owner.disabledAt !== null) return { refusal: "This stream key is not known." };
    if (isFrozen(agent)) return { refusal: "The operator of this service has paused the agent." };
    if (agent.status === "stopped") return { refusal: "The agent is stopped. Start it first." };
    return {
      stream: { ...stream, userId: agent.userId },
      maxStreams: maxStreamsOf(owner, plans),
      isUnclaimed: isPlaceholderAccount(owner),
    };
  };
}
