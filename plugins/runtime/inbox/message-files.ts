// Gives tools the files of the message that is being answered. The bytes stay at the platform, or in the uploads.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { UploadService } from "../../uploads/index.ts";
import type { FetchFile, Platforms } from "../platforms.ts";
import { type Attachment, parseAttachments } from "./attachments.ts";

interface Deps extends Pick<Kernel, "database"> {
  platforms: Pick<Platforms, "of">;
  uploads: Pick<UploadService, "fetchFile">;
}

/** The files of a message, which are known until it is answered, and the function that fetches one. */
export interface MessageFiles {
  files: Attachment[];
  fetch: FetchFile | undefined;
}

export const createMessageFiles =
  ({ database, platforms, uploads }: Deps) =>
  async (agentId: string, inboxId: string): Promise<MessageFiles> => {
    const sql = "SELECT platform, attachments FROM inbox WHERE agent_id = ? AND id = ?";
    const [row] = (await database.read(sql, [agentId, inboxId])).rows;
    if (!row || row.attachments === null) return { files: [], fetch: undefined };
    const channel = platforms.of(String(row.platform));
    // Files of messages that came through the web or the API are uploads.
    return { files: parseAttachments(String(row.attachments)), fetch: channel ? channel.fetchFile : uploads.fetchFile };
  };
