// What an agent's owner is told of a connection: a line in the agent's log and an event.
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { Connection } from "./connections.ts";

interface Deps extends Pick<Kernel, "database" | "events" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
}

/** Of a connection. */
export type State = "connecting" | "connected" | "backing_off" | "failed";

export type Tell = (connection: Connection, state: State, reason: string | null) => void;

/** Returns at once; what goes wrong is logged. */
export function createNews({ agents, database, events, log }: Deps): Tell {
  async function record(agentId: string, data: object): Promise<void> {
    const agent = await agents.find(agentId);
    if (agent) await database.write([events.record("channel.state", { userId: agent.userId, agentId, data })]);
  }

  return ({ agentId, channel }, state, reason) => {
    const line = (level: "info" | "warning" | "error", text: string) => agents.log(agentId, level, text, "channels");
    if (state === "connected") line("info", `${channel} is connected.`);
    if (state === "backing_off") line("warning", `${channel} is down and will be tried again: ${reason}`);
    if (state === "failed") line("error", `${channel} is given up until it is connected again: ${reason}`);
    record(agentId, { agentId, channel, state, reason }).catch((error: unknown) =>
      log.error("an event of a channel could not be recorded", { agentId, error }),
    );
  };
}
