// Finds the files of earlier messages of a conversation for tools that ask for them; no other turn reads anything.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { EarlierFile, MessageFile } from "../../skills/index.ts";
import type { Upload, UploadService } from "../../uploads/index.ts";
import type { Platforms } from "../platforms.ts";
import { parseAttachments } from "./attachments.ts";
import type { InboxEntry } from "./entries.ts";
import { messageFiles } from "./message-files.ts";

/** Messages of the conversation that are looked at, with replies. */
const MAX_MESSAGES = 60;

// A message that came later may be answered already, while the turn waited for an approval. CROSS JOIN, so that SQLite begins with the
// messages of the conversation, not with all entries of the agent.
export const EARLIER = `SELECT i.id, i.attachments FROM
    (SELECT inbox_id, max(seq) AS seq FROM
      (SELECT inbox_id, seq FROM messages WHERE session_id = ?2 ORDER BY seq DESC LIMIT ${MAX_MESSAGES}) GROUP BY inbox_id) AS m
  CROSS JOIN inbox AS i ON i.agent_id = ?1 AND i.id = m.inbox_id WHERE m.inbox_id <= ?3 ORDER BY m.seq DESC`;
export const REPLIED = `SELECT id, attachments FROM inbox
  WHERE agent_id = ?1 AND platform = ?2 AND platform_message_id = ?3 AND peer = ?4 AND id < ?5`;

interface Deps extends Pick<Kernel, "database"> {
  platforms: Pick<Platforms, "of">;
  uploads: Pick<UploadService, "fetchFile" | "ofMessages" | "ofReplies">;
}

type UploadFacts = Pick<Upload, "id" | "name" | "type" | "size">;

interface EarlierMessage {
  id: string;
  attachments: string | null;
}

export function createEarlierFiles({ database, platforms, uploads }: Deps) {
  const read = async (sql: string, args: string[]): Promise<EarlierMessage[]> =>
    (await database.read(sql, args)).rows.map(({ id, attachments }) => ({
      id: String(id),
      attachments: attachments === null ? null : String(attachments),
    }));

  /**
   * The files that came with the message to which this one replies, then those of the latest messages and replies of its
   * conversation, newest first. The files of this message itself are left out.
   */
  return async (entry: InboxEntry): Promise<EarlierFile[]> => {
    const { id, agentId, sessionId, platform, peer, repliesTo } = entry;
    const [replied = [], latest] = await Promise.all([
      repliesTo !== null && peer !== null ? read(REPLIED, [agentId, platform, repliesTo, peer, id]) : undefined,
      read(EARLIER, [agentId, sessionId, id]),
    ]);
    // The turn itself may have made files already.
    const own = { id, attachments: null };
    const messages = [...replied, own, ...latest.filter((one) => one.id !== id)];
    const turnIds = [...new Set(messages.map((one) => one.id))];
    // Messages of a restored or imported conversation have no references, but may have uploads.
    const withoutReferences = messages.filter((one) => one.attachments === null && one.id !== id).map((one) => one.id);
    const [sent, uploaded] = await Promise.all([
      uploads.ofReplies(agentId, turnIds),
      uploads.ofMessages(agentId, withoutReferences),
    ]);
    const toFile = ({ id: uploadId, name, type: mediaType, size }: UploadFacts): MessageFile => ({
      ...{ name, mediaType, size },
      read: (limit) => uploads.fetchFile(agentId, { ref: `upload:${uploadId}` }, limit),
    });
    const fetch = platforms.of(platform)?.fetchFile ?? uploads.fetchFile;
    const seen = new Set<string>();
    return messages.flatMap((message) => {
      if (seen.has(message.id)) return [];
      seen.add(message.id);
      const fromPerson = [
        ...messageFiles(agentId, parseAttachments(message.attachments), fetch),
        ...(uploaded.get(message.id) ?? []).map(toFile),
      ];
      const fromAgent = (sent.get(message.id) ?? []).map(toFile);
      return [
        ...fromPerson.map((file) => ({ ...file, messageId: message.id, byAgent: false })),
        ...fromAgent.map((file) => ({ ...file, messageId: message.id, byAgent: true })),
      ];
    });
  };
}
