// Tells an agent's owner, in their own chat with it, why somebody else got no answer: others are never told the cause.
import type { Choice } from "../../../channels/port.ts";
import { channelDefinition, channelIds, isChannelId } from "../../../channels/registry.ts";
import type { Database, Statement } from "../../../src/kernel/database/database.ts";
import { translateText } from "../../../src/kernel/pages/page-template.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import type { Platforms } from "../platforms.ts";
import type { Language, ReaderLanguage } from "../reader-language.ts";
import type { Outbox } from "./outbox.ts";

interface Deps {
  database: Pick<Database, "read">;
  outbox: Pick<Outbox, "enqueueStatement">;
  platforms: Pick<Platforms, "of">;
  readerLanguage: ReaderLanguage;
}

export interface OwnerAlerts {
  /**
   * Statements that send the cause to the owner, for the batch that settles the failed entry. None if the owner has no chat
   * with the agent, or was told the same within the last hour.
   */
  alertStatements(entry: InboxEntry, cause: (language: Language) => string): Promise<Statement[]>;
  /** Statements that send a notice to the owner's own chat with the agent; none if there is no such chat. */
  noticeStatements(
    entry: { agentId: string; inboxId: string },
    write: (language: Language) => { body: string; choices?: readonly Choice[] },
  ): Promise<Statement[]>;
  /** Whether the owner alone reads this conversation of a channel. */
  isOwnerChat(agentId: string, platform: string, peer: string): Promise<boolean>;
}

interface OwnerChat {
  platform: string;
  peer: string;
  /** As the platform has named it last. */
  language: string | null;
}

/** Agents whose latest alert is remembered. */
const MAX_REMEMBERED = 10_000;

export function createOwnerAlerts({ database, outbox, platforms, readerLanguage }: Deps): OwnerAlerts {
  const latestAlerts = new Map<string, { cause: string; at: number }>();

  async function* ownerChats(agentId: string): AsyncGenerator<OwnerChat, void> {
    const { rows } = await database.read(OWNER_CHATS_SQL, [agentId, JSON.stringify(channelIds())]);
    for (const row of rows) {
      const [platform, peer, senderId] = [String(row.platform), String(row.peer), String(row.sender_id)];
      // Somebody else may have become the owner since.
      if (!(await platforms.of(platform)?.isOwner?.(agentId, senderId, peer))) continue;
      yield { platform, peer, language: row.language === null ? null : String(row.language) };
    }
  }

  async function findOwnerChat(agentId: string): Promise<OwnerChat | undefined> {
    for await (const chat of ownerChats(agentId)) return chat;
    return undefined;
  }

  return {
    async noticeStatements({ agentId, inboxId }, write) {
      const chat = await findOwnerChat(agentId);
      if (!chat) return [];
      const { platform, peer, language } = chat;
      const words = write(await readerLanguage(agentId, language));
      return [outbox.enqueueStatement({ inboxId, agentId, platform, peer, ...words, replyTo: null, previewId: null })];
    },

    async isOwnerChat(agentId, platform, peer) {
      for await (const chat of ownerChats(agentId)) if (chat.platform === platform && chat.peer === peer) return true;
      return false;
    },

    async alertStatements({ id: inboxId, agentId, platform }, causeIn) {
      const cause = causeIn("en");
      const latest = latestAlerts.get(agentId);
      if (latest?.cause === cause && Date.now() - latest.at < HOUR) return [];
      const chat = await findOwnerChat(agentId);
      if (!chat) return [];
      const language = await readerLanguage(agentId, chat.language);
      const values = {
        channel: isChannelId(platform) ? channelDefinition(platform).label : "",
        cause: causeIn(language),
      };
      const body = isChannelId(platform)
        ? translateText("I could not answer somebody on {channel}. {cause}", language, values)
        : translateText("I could not answer somebody on my public page. {cause}", language, values);
      const to = { platform: chat.platform, peer: chat.peer };
      const statement = outbox.enqueueStatement({ inboxId, agentId, ...to, body, replyTo: null, previewId: null });
      const after: Statement["after"] = (result) => {
        statement.after?.(result);
        if (latestAlerts.size >= MAX_REMEMBERED) latestAlerts.clear();
        latestAlerts.set(agentId, { cause, at: Date.now() });
      };
      return [{ ...statement, after }];
    },
  };
}

/**
 * The owner's chats among the agent's latest 2,000 messages, newest first, with the language of the newest (SQLite takes the other columns
 * from the row of the maximum). Who wrote there is the owner at that time.
 */
const OWNER_CHATS_SQL = `SELECT platform, peer, sender_id, language, max(id) AS newest FROM (
    SELECT id, platform, peer, sender_id, language, by_owner, is_group, kind FROM inbox WHERE agent_id = ?1 ORDER BY id DESC LIMIT 2000)
  WHERE by_owner = 1 AND is_group = 0 AND kind <> 'reminder' AND peer IS NOT NULL
    AND platform IN (SELECT value FROM json_each(?2))
  GROUP BY platform, peer, sender_id ORDER BY newest DESC LIMIT 4`;
