// What goes out: replies of the outbox, sent through the agent's line, with the platform's answer in the outbox's words.
import { ChannelError, type ChannelId } from "../../../channels/port.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { Deliver, DeliveryOutcome } from "../../runtime/index.ts";
import type { OpenConnection, OpenConnections } from "../connections/open-connections.ts";
import type { OwnerNotices } from "../connections/owner-notices.ts";
import type { Supervisor } from "../connections/supervisor.ts";
import { toPlatformMessageId } from "./stored-message-id.ts";

interface Deps extends Pick<Kernel, "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  openConnections: OpenConnections;
  supervisor: Pick<Supervisor, "markRefused" | "giveUpReason">;
  recordUndelivered: OwnerNotices["recordUndelivered"];
}

/** Who delivers for a channel. */
export function createReplyDelivery(
  channel: ChannelId,
  { agents, openConnections, supervisor, recordUndelivered, log }: Deps,
): Deliver {
  return async (
    { id, agentId, peer, body, replyTo, previewId, parts, attempts },
    onPartDelivered,
    signal,
  ): Promise<DeliveryOutcome> => {
    let openConnection: OpenConnection | undefined;
    try {
      const agent = await agents.find(agentId);
      if (!agent) return { kind: "refused", reason: "The agent is gone." };
      if (agent.status === "stopped") return { kind: "held" };
      openConnection = await openConnections.find(agentId, channel);
      if (!openConnection) return { kind: "refused", reason: `${channel} is not connected any more.` };
      // Who goes on asking with a token that was refused is what platforms ban a whole host for.
      const giveUpReason = supervisor.giveUpReason(openConnection);
      if (giveUpReason !== undefined) return { kind: "refused", reason: giveUpReason };
      const platformReplyTo = toPlatformMessageId(openConnection.binding.bot, replyTo);
      const message = {
        id,
        peer,
        text: body,
        attempts,
        deliveredParts: [...parts],
        ...(platformReplyTo === undefined ? {} : { replyTo: platformReplyTo }),
        ...(previewId === null ? {} : { previewMessageId: previewId }),
      };
      await openConnection.adapter.send(openConnection.binding, message, onPartDelivered, signal);
      return { kind: "sent" };
    } catch (error) {
      if (!(error instanceof ChannelError)) {
        log.error("a reply could not be delivered", { agentId, channel, error });
        return { kind: "later", reason: "Berth could not send it." };
      }
      if (error.kind !== "refused") return { kind: "later", reason: error.message, after: error.retryAfter };
      if (error.scope === "bot" && openConnection) supervisor.markRefused(openConnection, error.message);
      recordUndelivered({ agentId, channel, reason: error.message });
      return { kind: "refused", reason: error.message };
    }
  };
}
