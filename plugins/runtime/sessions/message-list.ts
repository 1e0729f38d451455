// Lists an agent's messages and replies, newest first, by paging through its inbox in steps that yield to the event loop.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Row } from "@libsql/client";
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Platform } from "../inbox/entries.ts";
import { HIDDEN_PLATFORM } from "./session-sql.ts";

/** A message as its agent's owner sees it. */
export interface ListedMessage {
  id: string;
  sender: "user" | "agent";
  content: string;
  /** The turn of a reply. */
  turnId?: string;
  /** Epoch ms: when the message arrived, or when the reply was written. */
  at: number;
  platform: Platform;
}

export interface MessageList {
  /**
   * One page, newest first. Pages follow the order in which messages arrived, each with its reply; within a page, entries are
   * sorted by time. Erased messages, and the text of reminders that fell due, are left out.
   */
  page(agentId: string, page: MessagePage): Promise<{ messages: ListedMessage[]; nextCursor: string | null }>;
}

export interface MessagePage {
  limit: number;
  offset: number;
  /** The `nextCursor` of the page before. */
  cursor?: string | undefined;
  platforms: readonly Platform[];
}

/** Entries read in one step, which takes a few milliseconds. */
const STEP = 1_000;
/** Sorts after every id. */
const NEWEST = "~";

/** Whether any conversation takes place there: an agent that has none there may have many others, which are all looked through. */
const HAS_ANY = `SELECT 1 FROM sessions WHERE agent_id = ?1 AND platform IN (SELECT value FROM json_each(?2)) LIMIT 1`;
const STEP_START = `SELECT id FROM inbox WHERE agent_id = ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ${STEP - 1}`;

/**
 * ?1 agent, ?2 platforms, from id ?3 to before the side ?5 (1: the reply) of id ?4; a reply is listed before its message.
 * The inbox is clustered by agent, so that no rows of others are read. A wiped entry with a reply was restored from a backup,
 * and its text is in its session.
 */
const SIDES = `inbox AS i CROSS JOIN (SELECT 1 AS reply UNION ALL SELECT 0) AS side
  CROSS JOIN sessions AS s ON s.id = i.session_id AND s.platform <> '${HIDDEN_PLATFORM}'
  WHERE i.agent_id = ?1 AND i.id >= ?3 AND i.id <= ?4 AND (i.id < ?4 OR side.reply < ?5)
    AND i.platform IN (SELECT value FROM json_each(?2))
    AND iif(side.reply, i.reply IS NOT NULL, i.kind <> 'reminder' AND (i.reply IS NOT NULL OR octet_length(i.content) > 0))`;
const COUNT = `SELECT count(*) AS count FROM ${SIDES}`;
/** The texts are joined last, for one page alone. A turn writes the user's message right before its reply. */
const PAGE = `WITH page AS (
    SELECT i.id AS id, side.reply AS reply FROM ${SIDES} ORDER BY i.id DESC, side.reply DESC LIMIT ?6 OFFSET ?7
  )
  SELECT page.reply AS is_reply, stored.id AS stored_id, stored.content AS stored, stored.created_at AS stored_at,
    i.id AS id, i.content AS content, i.received_at AS at, i.platform AS platform
  FROM page CROSS JOIN inbox AS i ON i.agent_id = ?1 AND i.id = page.id
  LEFT JOIN messages AS stored ON stored.seq = i.reply - (NOT page.reply) AND stored.inbox_id = i.id
  ORDER BY page.id DESC, page.reply DESC`;

export function createMessageList({ database }: Pick<Kernel, "database">): MessageList {
  return {
    async page(agentId, { limit, offset, cursor, platforms }) {
      const platformsJson = JSON.stringify(platforms);
      const hasAny = (await database.read(HAS_ANY, [agentId, platformsJson])).rows.length > 0;
      if (!hasAny) return { messages: [], nextCursor: null };
      const found: ListedMessage[] = [];
      const sorted = () => found.sort((a, b) => b.at - a.at);
      let skip = offset;
      for (let [before, side] = parseCursor(cursor); ; await yieldToEventLoop()) {
        const stepStart = (await database.read(STEP_START, [agentId, before])).rows[0]?.id;
        const step = [agentId, platformsJson, String(stepStart ?? ""), before, side];
        const count = skip === 0 ? 0 : Number((await database.read(COUNT, step)).rows[0]?.count);
        if (skip > 0 && count <= skip) skip -= count;
        else {
          const asked = limit - found.length;
          const { rows } = await database.read(PAGE, [...step, asked, skip]);
          found.push(...rows.flatMap(toListedMessages));
          skip = 0;
          const last = rows.at(-1);
          if (last && rows.length === asked) {
            // The step may have more, which are needed if a message of the page is gone.
            [before, side] = [String(last.id), Number(last.is_reply)];
            if (found.length >= limit) return { messages: sorted(), nextCursor: `${before}-${side}` };
            continue;
          }
        }
        if (stepStart === undefined) return { messages: sorted(), nextCursor: null };
        [before, side] = [String(stepStart), 0];
      }
    },
  };
}

/** The entry after which a page begins, and its side: 1 if its reply was shown, and the message itself was not. */
function parseCursor(cursor = `${NEWEST}-0`): [id: string, side: number] {
  const [, id, side] = /^(.{1,64})-([01])$/s.exec(cursor) ?? [];
  if (id === undefined) {
    throw invalidInput({ path: "cursor", message: "Give the nextCursor of the page before, or leave it out." });
  }
  return [id, Number(side)];
}

function toListedMessages(row: Row): ListedMessage[] {
  const { platform, stored_id, stored, stored_at, id, content, at } = row;
  const common = { platform: String(platform) as Platform };
  if (row.is_reply) {
    return stored_id === null
      ? []
      : [
          {
            ...common,
            id: String(stored_id),
            turnId: String(id),
            sender: "agent",
            content: String(stored),
            at: Number(stored_at),
          },
        ];
  }
  const text = content === "" ? stored : content;
  return text === null ? [] : [{ ...common, id: String(id), sender: "user", content: String(text), at: Number(at) }];
}
