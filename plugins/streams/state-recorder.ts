// What an agent's owner is told of its stream: a line in the agent's log and an event, written with the state itself.
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { EndReason } from "./stream-driver.ts";
import type { StreamStore } from "./stream-store.ts";

interface Deps extends Pick<Kernel, "events" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
  rows: Pick<StreamStore, "setActive" | "active">;
}

export interface StateRecorder {
  /** Returns at once; what goes wrong is logged. */
  recordState(stream: { id: string; agentId: string }, state: "active" | "idle", reason?: EndReason): void;
  /** Tells that those are off the air that a process before this one left as if they were on it. */
  recordInterrupted(): Promise<void>;
  /** Resolves when all that was told is written. */
  flush(): Promise<void>;
}

export function createStateRecorder({ agents, rows, events, log }: Deps): StateRecorder {
  let lastWrite: Promise<void> = Promise.resolve();

  async function writeState(
    id: string,
    agentId: string,
    state: "active" | "idle",
    reason: string | null,
  ): Promise<void> {
    const agent = await agents.find(agentId);
    if (!agent) return;
    const data = { agentId, liveStreamId: id, state, reason };
    await rows.setActive(id, state === "active", [
      events.recordStatement("stream.state", { userId: agent.userId, agentId, data }),
    ]);
  }

  function recordState(stream: { id: string; agentId: string }, state: "active" | "idle", reason?: EndReason): void {
    const { id, agentId } = stream;
    if (state === "active") agents.log(agentId, "info", "The live stream is on the air.", "stream");
    else if (reason === undefined) agents.log(agentId, "info", "The live stream has ended.", "stream");
    else agents.log(agentId, "warning", `The live stream was ended: ${reason}`, "stream");
    // One after the other: what happened last must be what stays.
    lastWrite = lastWrite
      .then(() => writeState(id, agentId, state, reason ?? null))
      .catch((error: unknown) => log.error("the state of a stream could not be recorded", { agentId, error }));
  }

  return {
    recordState,
    flush: () => lastWrite,
    async recordInterrupted() {
      for (const stream of await rows.active())
        recordState(stream, "idle", "Berth was stopped while it was on the air.");
    },
  };
}
