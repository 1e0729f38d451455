// What an agent's owner is told of a connection: a line in the agent's log and an event.
import type { ChannelId, DeliveryFailure } from "../../../channels/port.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { runtime as runtimePlugin } from "../../runtime/index.ts";
import type { Connection } from "./connection-store.ts";

/** Events of an agent that wait to be written, at most: beyond that nobody is told. */
const MAX_PENDING_EVENTS = 64;

interface Deps extends Pick<Kernel, "database" | "events" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "recordDeliveryFailures">;
}

/** Of a connection. */
export type ConnectionState = "connecting" | "connected" | "backing_off" | "failed";

export type NotifyState = (connection: Connection, state: ConnectionState, reason: string | null) => void;

/** Somebody does not get an answer. */
export interface UndeliveredReply {
  agentId: string;
  channel: ChannelId;
  /** A sentence for the owner. */
  reason: string;
}

/** The first two return at once; what goes wrong is logged. */
export interface OwnerNotices {
  reportState: NotifyState;
  /** The event alone: who finds out writes the line in the log. */
  recordUndelivered(reply: UndeliveredReply): void;
  /** Replies that were sent, and are said not to have arrived: each of the agent's own is told once, in its log and by an event. */
  reportLostReplies(connection: Connection, failures: DeliveryFailure[]): Promise<void>;
}

export function createOwnerNotices({ agents, runtime, database, events, log }: Deps): OwnerNotices {
  /** By agent. */
  const pending = new Map<string, number>();

  function record(type: string, agentId: string, data: object): void {
    const before = pending.get(agentId) ?? 0;
    if (before >= MAX_PENDING_EVENTS) {
      log.warn("too many events of an agent's channels at once", { agentId, type });
      return;
    }
    pending.set(agentId, before + 1);
    const write = async () => {
      const agent = await agents.find(agentId);
      if (agent) await database.write([events.recordStatement(type, { userId: agent.userId, agentId, data })]);
    };
    const failed = (error: unknown) => log.error("an event of a channel could not be recorded", { agentId, error });
    write()
      .catch(failed)
      .finally(() => {
        const left = (pending.get(agentId) ?? 1) - 1;
        if (left === 0) pending.delete(agentId);
        else pending.set(agentId, left);
      });
  }

  return {
    reportState({ agentId, channel }, state, reason) {
      const writeLog = (level: "info" | "warning" | "error", text: string) =>
        agents.log(agentId, level, text, "channels");
      if (state === "connected") writeLog("info", `${channel} is connected.`);
      if (state === "backing_off") writeLog("warning", `${channel} is down and will be tried again: ${reason}`);
      if (state === "failed") writeLog("error", `${channel} is given up until it is connected again: ${reason}`);
      record("channel.state", agentId, { agentId, channel, state, reason });
    },
    recordUndelivered: (reply) => record("channel.undelivered", reply.agentId, reply),

    async reportLostReplies({ agentId, channel }, failures) {
      const agent = await agents.find(agentId);
      if (!agent) return;
      const reasons = new Map(failures.map(({ message, reason }) => [message, reason]));
      const { userId } = agent;
      const reported = await runtime.recordDeliveryFailures(agentId, channel, reasons, (reason) =>
        events.recordStatement("channel.undelivered", { userId, agentId, data: { agentId, channel, reason } }),
      );
      for (const reason of reported) {
        agents.log(agentId, "error", `A reply did not reach its reader: ${reason}`, "channels");
      }
    },
  };
}
