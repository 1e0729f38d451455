// What was said to an agent and by it, newest first, in steps that leave others their turn however much there is.
import { setImmediate as breathe } from "node:timers/promises";
import type { Row } from "@libsql/client";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Platform } from "../inbox/inbox.ts";
import { HIDDEN_PLATFORM } from "./sessions.ts";

/** A message as its agent's owner sees it. */
export interface ListedMessage {
  id: string;
  sender: "user" | "agent";
  content: string;
  /** Epoch ms: when it came in, or was answered. */
  at: number;
  platform: Platform;
}

export interface MessageList {
  /**
   * One page, newest first: message by message in the order in which they came in, the agent's reply before what it
   * answers; each page for itself by time. What was forgotten, and what nobody said (a reminder falling due), is left out.
   */
  page(
    agentId: string,
    page: { limit: number; offset: number; platforms: readonly Platform[] },
  ): Promise<ListedMessage[]>;
}

/** Entries that are looked through at once: a few milliseconds. */
const STEP = 1_000;
/** After every id. */
const NEWEST = "~";

const STEP_START = `SELECT id FROM inbox WHERE agent_id = ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ${STEP - 1}`;

/**
 * ?1 agent, ?2 platforms, from id ?3 to before ?4. Everything here is in the inbox, kept by agent: nothing of others is
 * looked at. A wiped entry that has a reply was brought back from a backup, and its words are in its session.
 */
const SIDES = `inbox AS i CROSS JOIN (SELECT 1 AS reply UNION ALL SELECT 0) AS side
  CROSS JOIN sessions AS s ON s.id = i.session_id AND s.platform <> '${HIDDEN_PLATFORM}'
  WHERE i.agent_id = ?1 AND i.id >= ?3 AND i.id < ?4 AND i.platform IN (SELECT value FROM json_each(?2))
    AND iif(side.reply, i.reply IS NOT NULL, i.kind <> 'reminder' AND (i.reply IS NOT NULL OR octet_length(i.content) > 0))`;
const COUNT = `SELECT count(*) AS count FROM ${SIDES}`;
/** The words come last, of one page alone. A question is written right before its reply. */
const PAGE = `WITH page AS (
    SELECT i.id AS id, side.reply AS reply FROM ${SIDES} ORDER BY i.id DESC, side.reply DESC LIMIT ?5 OFFSET ?6
  )
  SELECT page.reply AS is_reply, said.id AS said_id, said.content AS said, said.created_at AS said_at,
    i.id AS id, i.content AS content, i.received_at AS at, i.platform AS platform
  FROM page CROSS JOIN inbox AS i ON i.agent_id = ?1 AND i.id = page.id
  LEFT JOIN messages AS said ON said.seq = i.reply - (NOT page.reply) AND said.inbox_id = i.id
  ORDER BY page.id DESC, page.reply DESC`;

export function createMessageList({ database }: Pick<Kernel, "database">): MessageList {
  return {
    async page(agentId, { limit, offset, platforms }) {
      const wanted = JSON.stringify(platforms);
      const found: ListedMessage[] = [];
      let skip = offset;
      for (let before = NEWEST; ; await breathe()) {
        const stepStart = (await database.read(STEP_START, [agentId, before])).rows[0]?.id;
        const step = [agentId, wanted, String(stepStart ?? ""), before];
        const count = skip === 0 ? 0 : Number((await database.read(COUNT, step)).rows[0]?.count);
        if (skip > 0 && count <= skip) skip -= count;
        else {
          const { rows } = await database.read(PAGE, [...step, limit - found.length, skip]);
          found.push(...rows.flatMap(toListedMessages));
          skip = 0;
        }
        if (found.length >= limit || stepStart === undefined) return found.sort((a, b) => b.at - a.at);
        before = String(stepStart);
      }
    },
  };
}

function toListedMessages(row: Row): ListedMessage[] {
  const { platform, said_id, said, said_at, id, content, at } = row;
  const common = { platform: String(platform) as Platform };
  if (row.is_reply) {
    return said_id === null
      ? []
      : [{ ...common, id: String(said_id), sender: "agent", content: String(said), at: Number(said_at) }];
  }
  const words = content === "" ? said : content;
  return words === null ? [] : [{ ...common, id: String(id), sender: "user", content: String(words), at: Number(at) }];
}
