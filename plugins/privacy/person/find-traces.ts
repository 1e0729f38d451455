// Finds where a person is in the data of one agent: entries of the inbox, conversations, and the addresses that were theirs alone.
import type { Database } from "../../../src/kernel/database/database.ts";
import { addressOf, type Subject, VISITORS } from "./subject.ts";

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
  /** Epoch ms of the first entry; undefined without one. */
  since: number | undefined;
}

type Reader = Pick<Database, "readLong">;

/** ?1: platform, ?2: sender, ?3: owner, ?4: address. Looks through all entries, since no index is kept for so rare a question. */
const AGENTS = `SELECT json_group_array(DISTINCT agent_id) AS ids FROM (
  SELECT agent_id FROM inbox WHERE platform = ?1 AND sender_id = ?2
  UNION SELECT agent_id FROM sessions WHERE platform = ?1 AND peer = ?4
  UNION SELECT agent_id FROM pairings WHERE channel = ?1 AND sender_id = ?2
  UNION SELECT agent_id FROM memories WHERE circle = ?1 || ':' || ?4
  UNION SELECT agent_id FROM outbox WHERE platform = ?1 AND peer = ?4) AS found
  WHERE ?3 = '' OR agent_id IN (SELECT id FROM agents WHERE user_id = ?3)`;
const ENTRIES = `SELECT json_group_array(json_array(id, session_id, peer, is_group, sender_name, received_at)) AS rows
  FROM inbox WHERE agent_id = ?1 AND platform = ?2 AND sender_id = ?3`;
/** ?3: addresses. */
const SESSIONS = `SELECT json_group_array(id) AS ids FROM sessions
  WHERE agent_id = ?1 AND platform = ?2 AND peer IN (SELECT value FROM json_each(?3))`;
const NAMES = `SELECT json_group_array(DISTINCT sender_name) AS names FROM pairings WHERE agent_id = ?1 AND channel = ?2 AND sender_id = ?3`;

const parsed = <Value>(text: unknown) => JSON.parse(String(text ?? "[]")) as Value[];

export async function agentsOf({ readLong }: Reader, subject: Subject): Promise<string[]> {
  const { channel, id, ownerId = "" } = subject;
  return parsed<string>((await readLong(AGENTS, [channel, id, ownerId, addressOf(subject)])).rows[0]?.ids);
}

export async function findTraces({ readLong }: Reader, agentId: string, subject: Subject): Promise<Traces> {
  const { channel, id } = subject;
  type Entry = [id: string, session: string, peer: string | null, isGroup: number, name: string, at: number];
  const entries = parsed<Entry>((await readLong(ENTRIES, [agentId, channel, id])).rows[0]?.rows);
  const direct = entries.filter(([, , , isGroup]) => isGroup === 0);
  // On some channels the address of a conversation with one person is their id; a visitor's always is.
  const peers = [...new Set([addressOf(subject), ...direct.flatMap(([, , peer]) => peer ?? [])])];
  const ofPeers = parsed<string>((await readLong(SESSIONS, [agentId, channel, JSON.stringify(peers)])).rows[0]?.ids);
  const paired = parsed<string>((await readLong(NAMES, [agentId, channel, id])).rows[0]?.names);
  const groups = new Set(entries.filter(([, , , isGroup]) => isGroup === 1).map(([, session]) => session));
  const sessions = new Set([...ofPeers, ...direct.map(([, session]) => session)].filter((one) => !groups.has(one)));
  const names = channel === VISITORS ? [] : [...entries.map(([, , , , name]) => name), ...paired];
  return {
    agentId,
    entries: entries.map(([entry]) => entry),
    sessions: [...sessions],
    groups: [...groups],
    peers,
    names: [...new Set(names.filter((name) => name !== ""))],
    since: entries.length === 0 ? undefined : Math.min(...entries.map(([, , , , , at]) => at)),
  };
}
