// What an agent's owner is told of a connection: a line in the agent's log and an event.
import type { ChannelId, Undelivered } from "../../channels/channel.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import type { Connection } from "./connections.ts";

/** Events of an agent that wait to be written, at most: beyond that nobody is told. */
const MOST_WAITING = 64;

interface Deps extends Pick<Kernel, "database" | "events" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "lost">;
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

/** The first two return at once; what goes wrong is logged. */
export interface News {
  state: Tell;
  /** The event alone: who finds out writes the line in the log. */
  undelivered(loss: Loss): void;
  /** Replies that were sent, and are said not to have arrived: each of the agent's own is told once, in its log and by an event. */
  lost(connection: Connection, failures: Undelivered[]): Promise<void>;
}

export function createNews({ agents, runtime, database, events, log }: Deps): News {
  /** By agent. */
  const waiting = new Map<string, number>();

  function record(type: string, agentId: string, data: object): void {
    const before = waiting.get(agentId) ?? 0;
    if (before >= MOST_WAITING) {
      log.warn("too many events of an agent's channels at once", { agentId, type });
      return;
    }
    waiting.set(agentId, before + 1);
    const write = async () => {
      const agent = await agents.find(agentId);
      if (agent) await database.write([events.record(type, { userId: agent.userId, agentId, data })]);
    };
    const failed = (error: unknown) => log.error("an event of a channel could not be recorded", { agentId, error });
    write()
      .catch(failed)
      .finally(() => {
        const left = (waiting.get(agentId) ?? 1) - 1;
        if (left === 0) waiting.delete(agentId);
        else waiting.set(agentId, left);
      });
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

    async lost({ agentId, channel }, failures) {
      const agent = await agents.find(agentId);
      if (!agent) return;
      const reasons = new Map(failures.map(({ message, reason }) => [message, reason]));
      const { userId } = agent;
      const told = await runtime.lost(agentId, channel, reasons, (reason) =>
        events.record("channel.undelivered", { userId, agentId, data: { agentId, channel, reason } }),
      );
      for (const reason of told) {
        agents.log(agentId, "error", `A reply did not reach its reader: ${reason}`, "channels");
      }
    },
  };
}
