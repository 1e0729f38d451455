// Backup rows of skills: switches, facts and reminders; and the repair of these rows and of the facts' search index.
import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import type { BackupTableRows, BackupTables } from "../agents/index.ts";
import {
  digestOf,
  type FactKind,
  type FactSource,
  MAX_FACTS,
  type MemoryStore,
  normalizeText,
} from "./memory/memory-store.ts";
import { reminderJobStatement } from "./reminders/reminder-store.ts";
import type { SkillRegistry } from "./skill-registry.ts";
import type { Taint } from "./taint.ts";

export type SkillBackupTable = "switches" | "memories" | "reminders";

export interface SkillBackupRows {
  readonly tables: BackupTables<SkillBackupTable>;
  /**
   * Restores switches, facts, and reminders that are due in the future; one that fired meanwhile stays fired. The batch
   * must also change the agent's row, which makes the skill registry forget its cached view of the agent.
   */
  restoreStatements(agentId: string, rows: BackupTableRows<SkillBackupTable>): Statement[];
  /** Repairs switches, the search index and overdue reminders; returns a sentence about each repair. */
  repair(agentId: string): Promise<string[]>;
}

/** A row of the part `memories`. Times are epoch ms. */
export interface FactRow {
  id: string;
  circle: string;
  content: string;
  digest: string;
  source: FactSource;
  taint: Taint;
  pinned: 0 | 1;
  kind: FactKind;
  /** The turn in which it was noted. */
  turn: string | null;
  /** When it was looked up last. */
  used: number | null;
  at: number;
  updated: number;
}

/** A row of the part `reminders`. */
export interface ReminderRow {
  id: string;
  session: string;
  platform: string;
  peer: string;
  byOwner: 0 | 1;
  text: string;
  taint: Taint;
  enabled: 0 | 1;
  dedupe: string;
  due: number;
  at: number;
}

/** A fact as a row with a new id, its content normalized. */
export function toFactRow(fact: Omit<FactRow, "id" | "digest">): FactRow {
  const content = normalizeText(fact.content);
  return { ...fact, content, id: Bun.randomUUIDv7(), digest: digestOf(content) };
}

/** Whether an agent may have this many facts. */
export function isWithinMemoryLimits(facts: readonly Pick<FactRow, "circle">[]): boolean {
  const own = facts.filter(({ circle }) => circle === "").length;
  return own <= MAX_FACTS.owner && facts.length - own <= MAX_FACTS.people;
}

interface Deps extends Pick<Kernel, "database" | "jobs"> {
  memories: Pick<MemoryStore, "forgetAllStatement">;
  registry: Pick<SkillRegistry, "list" | "invalidate">;
}

export function createBackupRows({ database, jobs, memories, registry }: Deps): SkillBackupRows {
  const numbers = async (sql: string, args: (string | number)[]) =>
    (await database.read(sql, args)).rows.map((row) => Number(row[0]));

  /** Adds facts that the search index lacks, and deletes entries without a fact. */
  async function repairSearchIndex(agentId: string): Promise<string[]> {
    const word = agentId.replaceAll("-", "");
    const missing = await numbers(MISSING, [agentId]);
    const dangling = await numbers(DANGLING, [agentId, `agent:"${word}"`]);
    if (missing.length + dangling.length === 0) return [];
    await database.write([
      { sql: UNINDEX, args: [JSON.stringify(dangling)] },
      { sql: INDEX, args: [word, JSON.stringify(missing)] },
    ]);
    return [
      `the search over memories: facts that were missing: ${missing.length}, entries without one: ${dangling.length}`,
    ];
  }

  /**
   * Deletes switches that enable missing skills. A switch that disables one stays: its source may only be down for now.
   */
  async function repairSwitches(agentId: string): Promise<string[]> {
    const known = JSON.stringify((await registry.list(agentId)).map(({ id }) => id));
    const [removed] = await database.write([
      {
        sql: `DELETE FROM agent_skills WHERE agent_id = ?1 AND enabled = 1
          AND skill_id NOT IN (SELECT value FROM json_each(?2)) RETURNING skill_id`,
        args: [agentId, known],
        after: () => registry.invalidate(agentId),
      },
    ]);
    return (removed?.rows ?? []).map(({ skill_id: id }) => `the switch of ${id}: there is no such skill any more`);
  }

  /** Enqueues jobs of overdue reminders again; a job that exists is not enqueued twice. */
  async function requeueOverdue(agentId: string): Promise<string[]> {
    const { rows } = await database.read(OVERDUE, [agentId, Date.now() - OVERDUE_AFTER_MS]);
    if (rows.length === 0) return [];
    await database.write(rows.map(({ id, due_at: due }) => reminderJobStatement(jobs, String(id), Number(due))));
    return [`${rows.length} overdue ${rows.length === 1 ? "reminder" : "reminders"}: scheduled again`];
  }

  return {
    tables: {
      switches: `SELECT json_group_array(json_object('skill', skill_id, 'enabled', enabled))
        FROM agent_skills WHERE agent_id = ?1`,
      memories: `SELECT json_group_array(json_object('id', id, 'circle', circle, 'content', content, 'digest', digest,
          'source', source, 'taint', taint, 'pinned', pinned, 'kind', kind, 'turn', turn_id, 'used', used_at,
          'at', created_at, 'updated', updated_at))
        FROM (SELECT * FROM memories WHERE agent_id = ?1 ORDER BY seq)`,
      reminders: `SELECT json_group_array(json_object('id', id, 'session', session_id, 'platform', platform, 'peer', peer,
          'byOwner', by_owner, 'text', text, 'taint', taint, 'enabled', enabled, 'dedupe', dedupe, 'due', due_at, 'at', created_at))
        FROM (SELECT * FROM reminders WHERE agent_id = ?1 AND fired_at IS NULL ORDER BY due_at)`,
    },

    restoreStatements(agentId, rows) {
      const now = Date.now();
      // The query above defines the type.
      const upcoming = (JSON.parse(rows.reminders) as ReminderRow[]).filter(({ due }) => due > now);
      return [
        { sql: "DELETE FROM agent_skills WHERE agent_id = ?1", args: [agentId] },
        {
          sql: `INSERT INTO agent_skills (agent_id, skill_id, enabled)
            SELECT ?1, value ->> 'skill', value ->> 'enabled' FROM json_each(?2)`,
          args: [agentId, rows.switches],
        },
        memories.forgetAllStatement(agentId),
        {
          // A backup of an earlier version has no taints: facts of other people's conversations are their words.
          sql: `INSERT INTO memories (id, agent_id, circle, content, digest, source, taint, pinned, kind, turn_id, used_at, created_at, updated_at)
            SELECT value ->> 'id', ?1, value ->> 'circle', value ->> 'content', value ->> 'digest', value ->> 'source',
              coalesce(value ->> 'taint', value ->> 'circle' <> ''), coalesce(value ->> 'pinned', 0),
              coalesce(value ->> 'kind', iif(value ->> 'circle' = '', 'owner', 'person')), value ->> 'turn', value ->> 'used',
              value ->> 'at', value ->> 'updated' FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`,
          args: [agentId, rows.memories],
        },
        {
          sql: `DELETE FROM reminders WHERE agent_id = ?1 AND fired_at IS NULL
            AND id NOT IN (SELECT value ->> 'id' FROM json_each(?2))`,
          args: [agentId, rows.reminders],
        },
        {
          sql: `INSERT INTO reminders (id, agent_id, session_id, platform, peer, by_owner, text, taint, enabled, dedupe, due_at,
              created_at)
            SELECT value ->> 'id', ?1, value ->> 'session', value ->> 'platform', value ->> 'peer', value ->> 'byOwner',
              value ->> 'text', coalesce(value ->> 'taint', 1 - (value ->> 'byOwner')), coalesce(value ->> 'enabled', 1),
              value ->> 'dedupe', value ->> 'due', value ->> 'at' FROM json_each(?2)
            WHERE true ON CONFLICT DO NOTHING`,
          args: [agentId, JSON.stringify(upcoming)],
        },
        // Undefined in a backup of an earlier version, in which all were on.
        ...upcoming.flatMap(({ id, due, enabled }) => (enabled === 0 ? [] : [reminderJobStatement(jobs, id, due)])),
      ];
    },

    async repair(agentId) {
      return [
        ...(await repairSearchIndex(agentId)),
        ...(await repairSwitches(agentId)),
        ...(await requeueOverdue(agentId)),
      ];
    },
  };
}

/** A reminder that is this late has no job any more. */
const OVERDUE_AFTER_MS = MINUTE;

/** Looks each fact up: a subquery with IN would read the index of all agents. */
export const MISSING = `SELECT seq FROM memories WHERE agent_id = ?1
  AND NOT EXISTS (SELECT 1 FROM memories_search WHERE memories_search.rowid = memories.seq)`;
const DANGLING = `SELECT rowid FROM memories_search WHERE memories_search MATCH ?2
  AND rowid NOT IN (SELECT seq FROM memories WHERE agent_id = ?1)`;
const UNINDEX = "DELETE FROM memories_search WHERE rowid IN (SELECT value FROM json_each(?1))";
const INDEX = `INSERT INTO memories_search (rowid, content, agent)
  SELECT seq, content, ?1 FROM memories WHERE seq IN (SELECT value FROM json_each(?2))`;
const OVERDUE =
  "SELECT id, due_at FROM reminders WHERE agent_id = ?1 AND fired_at IS NULL AND enabled = 1 AND due_at < ?2";
