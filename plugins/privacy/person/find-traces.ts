// Finds where a person is in the data of one agent: entries of the inbox, conversations, and the addresses that were theirs alone.
import type { Database } from "../../../src/kernel/database/database.ts";
import { addressOf, endOf, type Subject, VISITORS } from "./subject.ts";

export interface Traces {
  agentId: string;
  /** Ids of the person's entries in the inbox, which are those of their turns. */
  entries: string[];
  /** Conversations with the person alone. */
  sessions: string[];
  /** Conversations of groups in which the person has written. */
  groups: string[];
  /** The addresses of conversations with the person alone. */
  peers: string[];
  /** Names that the person had. */
  names: string[];
  /** Epoch ms of the first entry, or of the first request to talk; undefined without either. */
  since: number | undefined;
}

type Reader = Pick<Database, "readLong">;

/** Who is approved anew was not brought back. */
export const PAIRED_AT = "coalesce(approved_at, created_at)";

/**
 * ?1: platform, ?2: sender, ?3: address, ?4: until when, ?5: the agent. A conversation that goes on counts as long as it has messages of
 * before. Looks through all entries, since no index is kept for so rare a question.
 */
const agentsSql = (ofAgent: string) => `SELECT json_group_array(DISTINCT agent_id) AS ids FROM (
  SELECT agent_id FROM inbox WHERE ${ofAgent} platform = ?1 AND sender_id = ?2 AND received_at < ?4
  UNION SELECT agent_id FROM sessions WHERE ${ofAgent} platform = ?1 AND peer = ?3 AND (last_activity_at < ?4
    OR EXISTS (SELECT 1 FROM messages WHERE session_id = sessions.id AND created_at < ?4))
  UNION SELECT agent_id FROM pairings WHERE ${ofAgent} channel = ?1 AND sender_id = ?2 AND ${PAIRED_AT} < ?4
  UNION SELECT agent_id FROM memories WHERE ${ofAgent} circle = ?1 || ':' || ?3 AND created_at < ?4
  UNION SELECT agent_id FROM outbox WHERE ${ofAgent} platform = ?1 AND peer = ?3 AND created_at < ?4)`;
const OF_ALL = agentsSql("");
const OF_ONE = agentsSql("agent_id = ?5 AND");
const ENTRIES = `SELECT json_group_array(json_array(id, session_id, peer, is_group, sender_name, received_at)) AS rows
  FROM inbox WHERE agent_id = ?1 AND platform = ?2 AND sender_id = ?3 AND received_at < ?4`;
/** ?3: addresses. */
const SESSIONS = `SELECT json_group_array(id) AS ids FROM sessions
  WHERE agent_id = ?1 AND platform = ?2 AND peer IN (SELECT value FROM json_each(?3)) AND created_at < ?4`;
const PAIRED = `SELECT json_group_array(json_array(sender_name, created_at)) AS rows FROM pairings
  WHERE agent_id = ?1 AND channel = ?2 AND sender_id = ?3 AND ${PAIRED_AT} < ?4`;

const parsed = <Value>(text: unknown) => JSON.parse(String(text ?? "[]")) as Value[];

export async function agentsOf({ readLong }: Reader, subject: Subject): Promise<string[]> {
  const { channel, id, agentId } = subject;
  const args = [channel, id, addressOf(subject), endOf(subject)];
  const { rows } = await (agentId === undefined ? readLong(OF_ALL, args) : readLong(OF_ONE, [...args, agentId]));
  return parsed<string>(rows[0]?.ids);
}

export async function findTraces({ readLong }: Reader, agentId: string, subject: Subject): Promise<Traces> {
  const { channel, id } = subject;
  const end = endOf(subject);
  type Entry = [id: string, session: string, peer: string | null, isGroup: number, name: string, at: number];
  const entries = parsed<Entry>((await readLong(ENTRIES, [agentId, channel, id, end])).rows[0]?.rows);
  const direct = entries.filter(([, , , isGroup]) => isGroup === 0);
  // On some channels the address of a conversation with one person is their id; a visitor's always is.
  const peers = [...new Set([addressOf(subject), ...direct.flatMap(([, , peer]) => peer ?? [])])];
  const [found] = (await readLong(SESSIONS, [agentId, channel, JSON.stringify(peers), end])).rows;
  const ofPeers = parsed<string>(found?.ids);
  type Paired = [name: string, at: number];
  const paired = parsed<Paired>((await readLong(PAIRED, [agentId, channel, id, end])).rows[0]?.rows);
  const groups = new Set(entries.filter(([, , , isGroup]) => isGroup === 1).map(([, session]) => session));
  const sessions = new Set([...ofPeers, ...direct.map(([, session]) => session)].filter((one) => !groups.has(one)));
  const names = channel === VISITORS ? [] : [...entries.map(([, , , , name]) => name), ...paired.map(([name]) => name)];
  const times = [...entries.map(([, , , , , at]) => at), ...paired.map(([, at]) => at)];
  return {
    agentId,
    entries: entries.map(([entry]) => entry),
    sessions: [...sessions],
    groups: [...groups],
    peers,
    names: [...new Set(names.filter((name) => name !== ""))],
    since: times.length === 0 ? undefined : times.reduce((first, at) => Math.min(first, at)),
  };
}
