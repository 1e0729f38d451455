// Lists an agent's conversations of all platforms by their last activity, and searches them within a bound of rows.
import type { Row } from "@libsql/client";
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { PENDING_INBOX } from "../inbox/inbox-sql.ts";
import { HIDDEN_PLATFORM } from "../sessions/session-sql.ts";
import { type SessionStatus, sessionStatus } from "../sessions/sessions.ts";
import { topicFromPeer } from "../sessions/topics.ts";
import { findMatches, type Match } from "./conversation-search.ts";

export interface ConversationView {
  id: string;
  platform: string;
  /** Who writes there: the name of its latest sender; empty for the agent's owner. */
  name: string;
  isGroup: boolean;
  topic: string | null;
  /** Its first words, or its topic. */
  title: string;
  /** The beginning of its latest message. */
  preview: string;
  previewRole: "user" | "assistant";
  messageCount: number;
  /** Messages that wait for their reply. */
  waiting: number;
  status: SessionStatus;
  createdAt: string;
  lastActivityAt: string;
  /** The newest message that a search has found. */
  match: { seq: number; text: string } | null;
}

export interface ConversationPage {
  conversations: ConversationView[];
  nextCursor: string | null;
  /** Whether all conversations from the cursor on were looked at; if not, the next page goes on with the search. */
  complete: boolean;
}

interface ListQuery {
  limit: number;
  cursor: string | undefined;
  platform: string | undefined;
  query: string | undefined;
}

/** Conversations that one request looks at, where it filters by platform, or searches. */
const SCAN = 2_000;
const SEARCHED_CONVERSATIONS = 500;
/** Messages that one request searches. */
const SEARCHED_MESSAGES = 20_000;
const MAX_PENDING = 1_000;

/**
 * ?1 agent, ?2 and ?3: the activity and the number of the conversation after which the page begins, ?4 rows, ?5 ids of
 * conversations with a message that waits. Conversations without any message are left out. The condition on the platform
 * decides about the partial index, in whose order the rows are read.
 */
const windowSql = (condition: string) => `SELECT rowid AS n, id, platform, message_count, last_activity_at FROM sessions
  WHERE agent_id = ?1 AND ${condition} AND (last_activity_at, rowid) < (?2, ?3)
    AND (message_count > 0 OR id IN (SELECT value FROM json_each(?5)))
  ORDER BY last_activity_at DESC, rowid DESC LIMIT ?4`;
export const SHOWN_WINDOW = windowSql(`platform NOT IN ('${HIDDEN_PLATFORM}', 'public')`);
export const VISITED_WINDOW = windowSql("platform = 'public'");

/** Characters of a title and of a preview that are read; the page shows fewer. */
const SHOWN = 200;
/** A message that is no command, among the first ones. */
const FIRST_WORDS = `SELECT substr(content, 1, ${SHOWN}) FROM
    (SELECT seq, role, content FROM messages WHERE session_id = s.id ORDER BY seq LIMIT 6)
  WHERE role = 'user' AND substr(content, 1, 1) <> '/' ORDER BY seq LIMIT 1`;
/** ?1: ids as JSON, ?2: the agent. */
const DETAILS = `SELECT s.id, s.platform, s.peer, s.status, s.message_count, s.created_at, s.last_activity_at,
    (${FIRST_WORDS}) AS title, substr(m.content, 1, ${SHOWN}) AS preview, m.role, i.sender_name, i.by_owner, i.is_group, i.topic
  FROM json_each(?1) AS wanted CROSS JOIN sessions AS s ON s.id = wanted.value AND s.agent_id = ?2
  LEFT JOIN messages AS m ON m.seq = (SELECT max(seq) FROM messages WHERE session_id = s.id)
  LEFT JOIN inbox AS i ON i.agent_id = ?2 AND i.id = m.inbox_id
  WHERE s.platform <> '${HIDDEN_PLATFORM}' ORDER BY wanted.key`;
const PENDING = `SELECT session_id, sender_name, by_owner, is_group, topic, substr(content, 1, ${SHOWN}) AS content FROM ${PENDING_INBOX}
  WHERE status = 'pending' AND agent_id = ? ORDER BY id LIMIT ${MAX_PENDING}`;

export function createConversationList({ database }: Pick<Kernel, "database">) {
  /** The pending entries of each conversation, oldest first. */
  async function findPending(agentId: string): Promise<Map<string, Row[]>> {
    const { rows } = await database.read(PENDING, [agentId]);
    return Map.groupBy(rows, ({ session_id }) => String(session_id));
  }

  /** The next conversations by activity, of both partial indexes. */
  async function readWindow(
    agentId: string,
    { at, n }: Position,
    size: number,
    platform: string | undefined,
    withPending: string,
  ): Promise<Row[]> {
    const args = [agentId, at, n, size, withPending];
    const none = { rows: [] };
    const [shown, visited] = await Promise.all([
      platform === "public" ? none : database.read(SHOWN_WINDOW, args),
      platform === undefined || platform === "public" ? database.read(VISITED_WINDOW, args) : none,
    ]);
    return [...shown.rows, ...visited.rows]
      .sort((a, b) => Number(b.last_activity_at) - Number(a.last_activity_at) || Number(b.n) - Number(a.n))
      .slice(0, size);
  }

  async function details(
    agentId: string,
    ids: readonly string[],
    pending: ReadonlyMap<string, Row[]>,
    matches: ReadonlyMap<string, Match> = new Map(),
  ): Promise<ConversationView[]> {
    if (ids.length === 0) return [];
    const { rows } = await database.read(DETAILS, [JSON.stringify(ids), agentId]);
    return rows.map((row) => toView(row, pending.get(String(row.id)) ?? [], matches.get(String(row.id))));
  }

  return {
    async page(agentId: string, { limit, cursor, platform, query }: ListQuery): Promise<ConversationPage> {
      const isFiltered = query !== undefined || (platform !== undefined && platform !== "public");
      const size = query !== undefined ? SEARCHED_CONVERSATIONS : isFiltered ? SCAN : limit + 1;
      const pending = await findPending(agentId);
      const from = parseCursor(cursor);
      const looked = await readWindow(agentId, from, size, platform, JSON.stringify([...pending.keys()]));
      const candidates = looked.filter((row) => platform === undefined || row.platform === platform);
      let matches: ReadonlyMap<string, Match> | undefined;
      let searched = candidates;
      let isWhole = true;
      if (query !== undefined) {
        const found = await findMatches(database, agentId, candidates, query, SEARCHED_MESSAGES);
        [matches, searched, isWhole] = [found.matches, found.searched, found.isWhole];
      }
      const hits = matches ? searched.filter(({ id }) => matches.has(String(id))) : searched;
      const shown = hits.slice(0, limit);
      const conversations = await details(
        agentId,
        shown.map(({ id }) => String(id)),
        pending,
        matches,
      );
      // The page ends after its last conversation, or where this request stopped to look.
      const isFull = hits.length > limit;
      const cut = searched.length < candidates.length;
      const last = isFull ? shown.at(-1) : cut ? searched.at(-1) : looked.length === size ? looked.at(-1) : undefined;
      return { conversations, nextCursor: last ? toCursor(last) : null, complete: isWhole && (!last || isFull) };
    },

    /** One conversation of this agent. */
    async find(agentId: string, id: string): Promise<ConversationView | undefined> {
      return (await details(agentId, [id], await findPending(agentId)))[0];
    },
  };
}

export type ConversationList = ReturnType<typeof createConversationList>;

/** The place in the order of conversations: the time of the last activity, and the number of the row. */
interface Position {
  at: number;
  n: number;
}

const toCursor = ({ last_activity_at, n }: Row) => `${last_activity_at}-${n}`;

function parseCursor(cursor: string | undefined): Position {
  if (cursor === undefined) return { at: Number.MAX_SAFE_INTEGER, n: Number.MAX_SAFE_INTEGER };
  const [, at, n] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? [];
  if (at === undefined || n === undefined) {
    throw invalidInput({ path: "cursor", message: "Give the nextCursor of the page before, or leave it out." });
  }
  return { at: Number(at), n: Number(n) };
}

function toView(row: Row, pending: readonly Row[], match: Match | undefined): ConversationView {
  const newest = pending.at(-1);
  // A message that waits is newer than all that are answered.
  const latest = newest ?? row;
  const topic = (latest.topic as string | null) ?? topicFromPeer(row.peer as string | null);
  const first = String(row.title ?? pending[0]?.content ?? "");
  return {
    id: String(row.id),
    platform: String(row.platform),
    // Another agent of the owner's acts for them, but is named.
    name:
      latest.by_owner === 1 && latest.is_group !== 1 && row.platform !== "agent"
        ? ""
        : String(latest.sender_name ?? ""),
    isGroup: latest.is_group === 1,
    topic,
    title: topic ?? firstLine(first),
    preview: String(newest?.content ?? row.preview ?? ""),
    previewRole: newest === undefined && row.role === "assistant" ? "assistant" : "user",
    messageCount: Number(row.message_count),
    waiting: pending.length,
    status: sessionStatus(String(row.status), Number(row.last_activity_at)),
    createdAt: new Date(Number(row.created_at)).toISOString(),
    lastActivityAt: new Date(Number(row.last_activity_at)).toISOString(),
    match: match ?? null,
  };
}

/** Lines in brackets before the words name the message's files for the model; they are the title only if there are no words. */
function firstLine(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.find((line) => !/^\[.*\]$/.test(line)) ?? lines[0] ?? "";
}
