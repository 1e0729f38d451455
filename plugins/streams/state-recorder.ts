// Records each start and end of a live stream: a line in the agent's log, and the row's state with an event in one batch.
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { createKeyedQueue } from "../../src/kernel/util/keyed-queue.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { EndReason } from "./stream-driver.ts";
import type { StreamStore } from "./stream-store.ts";

interface Deps extends Pick<Kernel, "events" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
  rows: Pick<StreamStore, "setActive" | "listActive">;
}

export interface StateRecorder {
  /** Returns at once and writes later; a failed write is logged. */
  recordState(stream: { id: string; agentId: string }, state: "active" | "idle", reason?: EndReason): void;
  /** Records the end of streams that a killed process left as active. Call it once, before publishers can come. */
  recordInterrupted(): Promise<void>;
  /** Resolves when every recorded state is written. */
  flush(): Promise<void>;
}

/** All writes share one queue, which `flush` can wait for. */
const QUEUE_KEY = "states";

export function createStateRecorder({ agents, rows, events, log }: Deps): StateRecorder {
  const enqueue = createKeyedQueue();

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
    // In order, so that the newest state is the one that stays in the row.
    enqueue(QUEUE_KEY, () => writeState(id, agentId, state, reason ?? null)).catch((error: unknown) =>
      log.error("The state of a live stream could not be recorded.", { agentId, error }),
    );
  }

  return {
    recordState,
    flush: () => enqueue(QUEUE_KEY, () => Promise.resolve()),
    async recordInterrupted() {
      for (const stream of await rows.listActive())
        recordState(stream, "idle", "Berth was stopped while it was on the air.");
    },
  };
}
