// Files of messages, fetched over the agent's line when a turn wants them.
import { ChannelError, type ChannelId } from "../../../channels/port.ts";
import type { FetchFile } from "../../runtime/index.ts";
import type { OpenConnections } from "../connections/open-connections.ts";

/** Who fetches files for a channel. Rejects with the channel's error where a later try may succeed. */
export function createFileFetcher(
  channel: ChannelId,
  { openConnections }: { openConnections: OpenConnections },
): FetchFile {
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
