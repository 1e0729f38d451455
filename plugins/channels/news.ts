// What an agent's owner is told of a connection: a line in the agent's log and an event.
import type { ChannelId } from "../../channels/channel.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { Connection } from "./connections.ts";

interface Deps extends Pick<Kernel, "database" | "events" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
}

/** Of a connection. */
export type State = "connecting" | "connected" | "backing_off" | "failed";

export type Tell = (connection: Connection, state: State, reason: string | null) => void;

/** Somebody does not get an answer. */
export interface Loss {
  agentId: string;
  channel: ChannelId;
  /** A sentence for the owner. */
  reason: string;
}

/** Both return at once; what goes wrong is logged. */
export interface News {
  state: Tell;
  /** The event alone: who finds out writes the line in the log. */
  undelivered(loss: Loss): void;
}

export function createNews({ agents, database, events, log }: Deps): News {
  function record(type: string, agentId: string, data: object): void {
    const write = async () => {
      const agent = await agents.find(agentId);
      if (agent) await database.write([events.record(type, { userId: agent.userId, agentId, data })]);
    };
    write().catch((error: unknown) => log.error("an event of a channel could not be recorded", { agentId, error }));
  }

  return {
    state({ agentId, channel }, state, reason) {
      const line = (level: "info" | "warning" | "error", text: string) => agents.log(agentId, level, text, "channels");
      if (state === "connected") line("info", `${channel} is connected.`);
      if (state === "backing_off") line("warning", `${channel} is down and will be tried again: ${reason}`);
      if (state === "failed") line("error", `${channel} is given up until it is connected again: ${reason}`);
      record("channel.state", agentId, { agentId, channel, state, reason });
    },
    undelivered: (loss) => record("channel.undelivered", loss.agentId, loss),
  };
}
