// Notifies an agent's owner about its connections, by lines in the agent's log and by events.
import type { ChannelId, DeliveryFailure } from "../../../channels/port.ts";
import { channelDefinition } from "../../../channels/registry.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { runtime as runtimePlugin } from "../../runtime/index.ts";
import type { NotifyState } from "./connection-states.ts";
import type { Connection } from "./connection-store.ts";

/** Events of an agent that may wait to be written; more are dropped. */
const MAX_PENDING_EVENTS = 64;

interface Deps extends Pick<Kernel, "database" | "events" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "recordDeliveryFailures">;
}

/** A reply that could not be delivered. */
export interface UndeliveredReply {
  agentId: string;
  channel: ChannelId;
  /** A sentence for the owner. */
  reason: string;
}

/** A person of a channel; the code is left out, because events go to other services. */
export interface PairingNotice {
  agentId: string;
  channel: ChannelId;
  senderId: string;
  /** As the person chose it. */
  name: string;
  status: "pending" | "approved" | "denied" | "removed";
}

/** All but the last return at once and log their own failures. */
export interface OwnerNotices {
  reportState: NotifyState;
  /** Records that somebody asks to talk to the agent, or what was decided about them. */
  reportPairing(pairing: PairingNotice): void;
  /** Records the event only; the caller writes the line in the log. */
  recordUndelivered(reply: UndeliveredReply): void;
  /** Reports sent replies that did not arrive: each of the agent's replies once, in its log and by an event. */
  reportLostReplies(connection: Connection, failures: DeliveryFailure[]): Promise<void>;
}

export function createOwnerNotices({ agents, runtime, database, events, log }: Deps): OwnerNotices {
  /** Pending events by agent. */
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
    const failed = (error: unknown) => log.error("recording an event of a channel failed", { agentId, error });
    write()
      .catch(failed)
      .finally(() => {
        const left = (pending.get(agentId) ?? 1) - 1;
        if (left === 0) pending.delete(agentId);
        else pending.set(agentId, left);
      });
  }

  return {
    reportState({ agentId, channel }, state, failure) {
      const reason = failure?.reason ?? null;
      const writeLog = (level: "info" | "warning" | "error", text: string) =>
        agents.log(agentId, level, text, "channels", { channel });
      const { label } = channelDefinition(channel);
      if (state === "connected") writeLog("info", `${label} is connected.`);
      if (state === "backing_off") writeLog("warning", `${label} is down and will be tried again: ${reason}`);
      if (state === "failed") writeLog("error", `${label} is given up until it is connected again: ${reason}`);
      record("channel.state", agentId, { agentId, channel, state, reason, problem: failure?.problem ?? null });
    },
    reportPairing({ agentId, channel, senderId, name, status }) {
      const { label } = channelDefinition(channel);
      const writeLog = (text: string) => agents.log(agentId, "info", text, "channels", { channel });
      if (status === "pending") writeLog(`Somebody asks on ${label} to talk to this agent.`);
      if (status === "approved") writeLog(`A person on ${label} was admitted.`);
      if (status === "denied") writeLog(`A person on ${label} was refused.`);
      if (status === "removed") writeLog(`A person on ${label} was removed.`);
      record("channel.pairing", agentId, { agentId, channel, senderId, name: name.slice(0, 200), status });
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
        agents.log(agentId, "error", `A reply did not reach its reader: ${reason}`, "channels", { channel });
      }
    },
  };
}
