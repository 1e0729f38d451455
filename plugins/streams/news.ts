// What an agent's owner is told of its stream: a line in the agent's log and an event, written with the state itself.
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { Ending } from "./driver.ts";
import type { StreamRows } from "./rows.ts";

interface Deps extends Pick<Kernel, "events" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
  rows: Pick<StreamRows, "put" | "active">;
}

export interface News {
  /** Returns at once; what goes wrong is logged. */
  tell(stream: { id: string; agentId: string }, state: "active" | "idle", why?: Ending): void;
  /** Tells that those are off the air that a process before this one left as if they were on it. */
  afterStart(): Promise<void>;
  /** Resolves when all that was told is written. */
  written(): Promise<void>;
}

export function createNews({ agents, rows, events, log }: Deps): News {
  let last: Promise<void> = Promise.resolve();

  async function record(id: string, agentId: string, state: "active" | "idle", reason: string | null): Promise<void> {
    const agent = await agents.find(agentId);
    if (!agent) return;
    const data = { agentId, liveStreamId: id, state, reason };
    await rows.put(id, state === "active", [events.record("stream.state", { userId: agent.userId, agentId, data })]);
  }

  function tell(stream: { id: string; agentId: string }, state: "active" | "idle", why?: Ending): void {
    const { id, agentId } = stream;
    if (state === "active") agents.log(agentId, "info", "The live stream is on the air.", "stream");
    else if (why === undefined) agents.log(agentId, "info", "The live stream has ended.", "stream");
    else agents.log(agentId, "warning", `The live stream was ended: ${why}`, "stream");
    // One after the other: what happened last must be what stays.
    last = last
      .then(() => record(id, agentId, state, why ?? null))
      .catch((error: unknown) => log.error("the state of a stream could not be recorded", { agentId, error }));
  }

  return {
    tell,
    written: () => last,
    async afterStart() {
      for (const stream of await rows.active()) tell(stream, "idle", "Berth was stopped while it was on the air.");
    },
  };
}
