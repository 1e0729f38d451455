// Files of messages, fetched over the agent's line when a turn wants them.
import { ChannelError, type ChannelId } from "../../channels/channel.ts";
import type { FetchFile } from "../runtime/index.ts";
import type { Lines } from "./lines.ts";

/** Who fetches files for a channel. Rejects with the channel's error where a later try may succeed. */
export function createFetchFile(channel: ChannelId, { lines }: { lines: Lines }): FetchFile {
  return async (agentId, { ref, kind, mimeType }, limit, signal) => {
    const line = await lines.of(agentId, channel);
    if (!line) return undefined;
    try {
      return await line.channel.fetchFile(line.binding, { ref, kind, mimeType }, limit, signal);
    } catch (error) {
      if (error instanceof ChannelError && error.kind === "refused") return undefined;
      throw error;
    }
  };
}
