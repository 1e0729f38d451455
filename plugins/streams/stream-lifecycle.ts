// Ends the live stream of an agent that is stopped or removed, so that publishing ends with the agent.
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Log } from "../../src/kernel/telemetry/log.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { StreamDriver } from "./stream-driver.ts";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "onChange" | "onDelete">;
  driver: Pick<StreamDriver, "publishedStreams" | "end">;
  log: Log;
}

/** Registers the listeners at the agents' service. */
export function endStreamsWithAgents({ agents, driver, log }: Deps): void {
  const streamsOf = (agentId: string) => driver.publishedStreams().filter((stream) => stream.agentId === agentId);

  async function endIfStopped(agentId: string): Promise<void> {
    const agent = await agents.find(agentId);
    if (agent?.status !== "stopped") return;
    for (const { id } of streamsOf(agentId)) await driver.end(id, "the agent was stopped.");
  }

  agents.onChange((agentId) => {
    // Most agents have no publisher: only for the others is the row read.
    if (streamsOf(agentId).length === 0) return;
    endIfStopped(agentId).catch((error: unknown) => log.error("A live stream could not be ended.", { agentId, error }));
  });
  agents.onDelete(async (agentId) => {
    // The database deletes the stream's row with the agent's.
    for (const { id } of streamsOf(agentId)) await driver.end(id, "the agent was removed.");
  });
}
