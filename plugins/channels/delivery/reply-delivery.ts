// Connects a channel to the runtime: sends the replies of its outbox, and fetches the files of messages.
import { ChannelError, type ChannelId } from "../../../channels/port.ts";
import { channelDefinition } from "../../../channels/registry.ts";
import { withWrittenChoices } from "../../../channels/shared/written-choices.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { Deliver, DeliveryOutcome, FetchFile, OwnerCommandHandler, PlatformHooks } from "../../runtime/index.ts";
import type { OpenConnection, OpenConnections } from "../connections/open-connections.ts";
import type { OwnerNotices } from "../connections/owner-notices.ts";
import type { Supervisor } from "../connections/supervisor.ts";
import type { OutgoingFiles } from "./outgoing-files.ts";
import type { ReplyPreviews } from "./reply-previews.ts";
import { toPlatformMessageId } from "./stored-message-id.ts";

interface Deps extends Pick<Kernel, "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "settings">;
  openConnections: Pick<OpenConnections, "find">;
  supervisor: Pick<Supervisor, "markRefused" | "giveUpReason">;
  recordUndelivered: OwnerNotices["recordUndelivered"];
  previews: ReplyPreviews;
  outgoingFiles: OutgoingFiles;
  ownerCommand: OwnerCommandHandler;
}

/** The hooks of a channel for `runtimeService.registerPlatform`. */
export const createPlatformHooks = (channel: ChannelId, deps: Deps): PlatformHooks => ({
  deliver: createDeliver(channel, deps),
  fetchFile: createFetchFile(channel, deps),
  preview: (entry, save) => deps.previews.watch(channel, entry, save),
  typing: (entry) => deps.previews.watch(channel, entry, async () => undefined),
  isConnected: async (agentId) => (await deps.openConnections.find(agentId, channel)) !== undefined,
  isOwner: createOwnerCheck(channel, deps),
  ownerCommand: deps.ownerCommand,
});

function createDeliver(
  channel: ChannelId,
  { agents, openConnections, supervisor, recordUndelivered, outgoingFiles, log }: Deps,
): Deliver {
  const { hasButtons } = channelDefinition(channel).capabilities;
  return async (
    { id, agentId, peer, body, replyTo, previewId, choices, files, parts, attempts },
    onPartDelivered,
    signal,
  ): Promise<DeliveryOutcome> => {
    let openConnection: OpenConnection | undefined;
    try {
      const agent = await agents.find(agentId);
      if (!agent) return { kind: "refused", reason: "The agent is gone." };
      if (agent.status === "stopped") return { kind: "paused" };
      openConnection = await openConnections.find(agentId, channel);
      if (!openConnection)
        return { kind: "refused", reason: `${channelDefinition(channel).label} is not connected any more.` };
      // Platforms ban the whole host for repeated calls with a revoked token.
      const giveUpReason = supervisor.giveUpReason(openConnection);
      if (giveUpReason !== undefined) return { kind: "refused", reason: giveUpReason };
      const platformReplyTo = toPlatformMessageId(openConnection.binding.bot, replyTo);
      const message = {
        id,
        peer,
        text: choices && !hasButtons ? withWrittenChoices(body, choices) : body,
        attempts,
        deliveredParts: [...parts],
        ...(platformReplyTo === undefined ? {} : { replyTo: platformReplyTo }),
        ...(previewId === null ? {} : { previewMessageId: previewId }),
        ...(choices && hasButtons && { choices }),
        ...(files && { files: await outgoingFiles(agentId, files, signal) }),
      };
      await openConnection.adapter.send(openConnection.binding, message, onPartDelivered, signal);
      return { kind: "sent" };
    } catch (error) {
      if (!(error instanceof ChannelError)) {
        log.error("a reply could not be delivered", { agentId, channel, error });
        return { kind: "retry", reason: "Berth could not send it." };
      }
      if (error.kind !== "refused") return { kind: "retry", reason: error.message, after: error.retryAfter };
      if (error.scope === "bot" && openConnection) supervisor.markRefused(openConnection, error.message);
      recordUndelivered({ agentId, channel, reason: error.message });
      return { kind: "refused", reason: error.message };
    }
  };
}

/** A person may be listed by the id of an alternative name, which then is the end of the conversation's address. */
function createOwnerCheck(channel: ChannelId, { agents, openConnections }: Deps) {
  return async (agentId: string, senderId: string, peer: string): Promise<boolean> => {
    const openConnection = await openConnections.find(agentId, channel);
    if (!openConnection) return false;
    const { owners = [] } = (await agents.settings(agentId)).channels?.[channel] ?? {};
    const listed: readonly (string | null)[] = [openConnection.connection.ownerId, ...owners];
    return listed.includes(senderId) || listed.includes(peer.slice(peer.lastIndexOf(":") + 1));
  };
}

/** Rejects with the channel's error where a later try may succeed. */
function createFetchFile(channel: ChannelId, { openConnections }: Deps): FetchFile {
  return async (agentId, { ref, kind, mimeType }, limit, signal) => {
    const openConnection = await openConnections.find(agentId, channel);
    if (!openConnection) return undefined;
    try {
      return await openConnection.adapter.fetchFile(openConnection.binding, { ref, kind, mimeType }, limit, signal);
    } catch (error) {
      if (error instanceof ChannelError && error.kind === "refused") return undefined;
      throw error;
    }
  };
}
