// Gives the owner of one agent its people: their list, a copy of what the agent has of one of them, and their erasure from it.
import type { Readable } from "node:stream";
import type { Actor } from "../../../src/kernel/audit/actor.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Erasures } from "../person/erasure.ts";
import type { ErasureList } from "../person/erasure-list.ts";
import { type ExportDeps, openArchive } from "../person/export.ts";
import type { PastErasures } from "../person/past-erasures.ts";
import { areGenuine, type Receipt } from "../person/receipt.ts";
import { parseSubject, type Subject } from "../person/subject.ts";

interface Deps extends Pick<Kernel, "database" | "audit"> {
  list: Pick<ErasureList, "hashOf" | "verify">;
  erasures: Pick<Erasures, "erase">;
  past: PastErasures;
  exporting: ExportDeps;
}

export interface AgentPerson {
  channel: string;
  id: string;
  name: string;
  messages: number;
  /** Epoch ms. */
  firstAt: number;
  lastAt: number;
}

export interface PeoplePage {
  query: string;
  limit: number;
  offset: number;
}

/**
 * ?1: agent, ?2: a part of a name or id, ?3: limit, ?4: offset. The name is that of the newest row, which SQLite takes with `max`.
 * Messages of the console, the API and other agents are the owner's own, or have no person.
 */
const PEOPLE = `SELECT json_group_array(json_array(channel, id, name, messages, first_at, last_at)) AS people FROM (
  SELECT channel, id, name, sum(is_message) AS messages, min(at) AS first_at, max(at) AS last_at FROM (
    SELECT platform AS channel, sender_id AS id, sender_name AS name, 1 AS is_message, received_at AS at FROM inbox
      WHERE agent_id = ?1 AND by_owner = 0 AND sender_id <> '' AND (platform = 'public' OR platform LIKE 'channel~_%' ESCAPE '~')
    UNION ALL SELECT channel, sender_id, sender_name, 0, created_at FROM pairings WHERE agent_id = ?1)
  GROUP BY channel, id HAVING ?2 = '' OR instr(lower(id || ' ' || group_concat(DISTINCT name)), lower(?2)) > 0
  ORDER BY last_at DESC, channel, id LIMIT ?3 OFFSET ?4)`;

export type AgentPeople = ReturnType<typeof createAgentPeople>;

export function createAgentPeople({ database, audit, list, erasures, past, exporting }: Deps) {
  const subjectOf = (agentId: string, channel: string, id: string): Subject => ({
    ...parseSubject(channel, id),
    agentId,
  });

  async function requireKnown(subject: Subject): Promise<void> {
    if (await past.isKnown(subject)) return;
    const says = "The agent has nothing of such a person. Check the channel and the id.";
    throw new AppError(404, "PERSON_NOT_FOUND", says);
  }

  return {
    /** Who wrote last comes first. It looks through all messages of the agent, off the event loop. */
    async list(
      agentId: string,
      { query, limit, offset }: PeoplePage,
    ): Promise<{ people: AgentPerson[]; hasMore: boolean }> {
      const { rows } = await database.readLong(PEOPLE, [agentId, query.trim(), limit + 1, offset]);
      type Row = [channel: string, id: string, name: string, messages: number, firstAt: number, lastAt: number];
      const found = JSON.parse(String(rows[0]?.people ?? "[]")) as Row[];
      const people = found
        .slice(0, limit)
        .map(([channel, id, name, messages, firstAt, lastAt]) => ({ channel, id, name, messages, firstAt, lastAt }));
      return { people, hasMore: found.length > limit };
    },

    /** A gzipped tar. Throws 404 `PERSON_NOT_FOUND`. */
    async copy(agentId: string, channel: string, id: string): Promise<Readable> {
      const subject = subjectOf(agentId, channel, id);
      await requireKnown(subject);
      const target = { kind: "person", id: list.hashOf(subject), name: "" };
      await database.write([audit.record({ action: "person.export", target, details: { agent: agentId } })]);
      return (await openArchive(exporting, subject)).archive;
    },

    /** Resolves when the agent has nothing of the person. Throws 404 `PERSON_NOT_FOUND` for who was never there. */
    async erase(agentId: string, channel: string, id: string, actor: Actor): Promise<Receipt> {
      const subject = subjectOf(agentId, channel, id);
      const before = await past.receiptOf(subject);
      if (before) return before;
      if (!(await past.isUnderWay(subject))) await requireKnown(subject);
      return erasures.erase(subject, actor);
    },

    receipts: past.ofAgent,

    /** Whether this service made the receipt, and it is as it was. Throws 400 `UNREADABLE_RECEIPT`. */
    isGenuine: (receipt: string): boolean => areGenuine(list, receipt).every(Boolean),
  };
}
