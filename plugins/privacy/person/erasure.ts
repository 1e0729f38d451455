// Erases a person in steps, which a kill may end at any time: the next start goes on, and the receipt comes when nothing is left.

import type { Actor } from "../../../src/kernel/audit/actor.ts";
import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { createPacer } from "../../../src/kernel/util/pacing.ts";
import { ERASE_JOB } from "../jobs.ts";
import {
  argumentsFor,
  DELETIONS,
  deleteSql,
  EMPTY_NEWEST_EVENT,
  FILES,
  findSql,
  parametersOf,
  REPAIR_CONVERSATIONS,
} from "./deletions.ts";
import type { ErasureList } from "./erasure-list.ts";
import { agentsOf, findTraces, type Traces } from "./find-traces.ts";
import { type Receipt, signReceipt } from "./receipt.ts";
import { ACCOUNT_REMAINS, type Remains, SENDER_REMAINS } from "./remains.ts";
import type { Scrub } from "./scrub.ts";
import { subjectContext } from "./sealed-subject.ts";
import { ACCOUNT, type Subject } from "./subject.ts";

export interface ErasureDeps extends Pick<Kernel, "database" | "vault" | "jobs" | "audit" | "log"> {
  list: ErasureList;
  /** Copies the list to where backups are kept: with the disk of this one gone, they would bring everybody back. */
  storeList(): Promise<void>;
  /** Does work while the agent has no turns. */
  whileQuiesced: <Result>(agentId: string, work: () => Promise<Result>) => Promise<Result>;
  /** Deletes a file that came with a message. */
  removeUpload(agentId: string, id: string): Promise<void>;
  /** Drops what is held in memory of an agent's facts. */
  forgetFacts(agentId: string): void;
  /** Drops what is held in memory of who may write to an agent. */
  forgetApprovals(agentId: string): void;
  /** Drops what is held in memory of what models have answered. */
  forgetResponses(): void;
  /** Resolves when no log line of an agent waits to be written. */
  flushLogs(): Promise<void>;
  /** Deletes the backups of an agent that may hold the person; returns how many. */
  removeBackups(agentId: string, since: number): Promise<number>;
  /** Makes a new one in place of those. */
  writeBackup(agentId: string): Promise<void>;
  /** Deletes an account with all that is its own; returns the counts of it. */
  removeAccount(userId: string, actor: Pick<Actor, "kind" | "name">): Promise<Record<string, number>>;
  /** Where copies of the database are, and when they are gone. Owners are not told the names of the operator's files. */
  copies(isForOwner: boolean): Remains;
  scrub: Scrub;
}

/** Who asks for an erasure; an operator's command has no more than a name. */
export type Asker = Pick<Actor, "kind" | "name"> & Partial<Actor>;

const BATCH = 100;
const OPEN =
  "SELECT id, subject FROM erasures WHERE person = ? AND agent_id IS ? AND ended_at IS NULL ORDER BY id LIMIT 1";
const COUNT = `UPDATE erasures SET counts = json_set(counts, '$.' || ?2, coalesce(counts ->> ('$.' || ?2), 0) + changes()) WHERE id = ?1`;
const ADD = `UPDATE erasures SET counts = json_set(counts, '$.' || ?2, coalesce(counts ->> ('$.' || ?2), 0) + ?3) WHERE id = ?1`;

interface Row {
  id: string;
  person: string;
  subject: Subject;
  actor: Asker;
  startedAt: number;
}

export type Erasures = ReturnType<typeof createErasures>;

export function createErasures(deps: ErasureDeps) {
  const { database, vault, jobs, audit, log, list } = deps;
  const running = new Map<string, Promise<Receipt>>();

  const subjectOf = ({ id, subject }: Record<string, unknown>) =>
    JSON.parse(vault.open(String(subject), subjectContext(String(id)))) as Subject;
  const counted = (id: string, kind: string, statement: Statement): Statement[] => [
    statement,
    { sql: COUNT, args: [id, kind] },
  ];
  const add = (id: string, kind: string, count: number) =>
    count === 0 ? Promise.resolve([]) : database.write([{ sql: ADD, args: [id, kind, count] }]);

  async function eraseRows(erasureId: string, traces: Traces, subject: Subject): Promise<void> {
    const all = parametersOf(traces, subject);
    const newest = argumentsFor(EMPTY_NEWEST_EVENT, all);
    await database.write([{ sql: EMPTY_NEWEST_EVENT, args: newest }]);
    for (const deletion of DELETIONS) {
      const sql = findSql(deletion);
      const { rows } = await database.readLong(sql, argumentsFor(sql, all));
      const keys = JSON.parse(String(rows[0]?.keys ?? "[]")) as unknown[];
      const pace = createPacer();
      for (let at = 0; at < keys.length; at += BATCH) {
        const args = [JSON.stringify(keys.slice(at, at + BATCH))];
        await database.write(counted(erasureId, deletion.kind, { sql: deleteSql(deletion), args }));
        await pace();
      }
      // What is left of a group is counted once its messages are gone; so is a conversation with one person that goes on.
      const partly = subject.before === undefined ? traces.groups : [...traces.groups, ...traces.sessions];
      if (deletion.kind === "messages" && partly.length > 0)
        await database.write([{ sql: REPAIR_CONVERSATIONS, args: [JSON.stringify(partly)] }]);
    }
  }

  async function eraseIn(erasureId: string, agentId: string, subject: Subject): Promise<void> {
    const before = await findTraces(database, agentId, subject);
    const removed = await deps.removeBackups(agentId, before.since ?? 0);
    await add(erasureId, "backups", removed);
    await deps.whileQuiesced(agentId, async () => {
      // Lines that wait to be written would come after the deletion.
      await deps.flushLogs();
      const traces = await findTraces(database, agentId, subject);
      const entries = JSON.stringify(traces.entries);
      for (const { id } of (await database.read(FILES, [agentId, entries])).rows) {
        await deps.removeUpload(agentId, String(id));
        await add(erasureId, "files", 1);
      }
      await eraseRows(erasureId, traces, subject);
      deps.forgetFacts(agentId);
      deps.forgetApprovals(agentId);
    });
    if (removed > 0) await deps.writeBackup(agentId);
  }

  async function work(row: Row): Promise<Receipt> {
    const { id, subject } = row;
    // First, so that a restored backup can't bring back whom an erasure has begun to remove.
    const ofAgent = subject.agentId === undefined ? {} : { agentId: subject.agentId };
    // What a restored backup brought back was listed at its erasure; what is newer than that stays.
    if (subject.before === undefined)
      list.add({ person: row.person, channel: subject.channel, ...ofAgent, at: row.startedAt });
    if (subject.channel === ACCOUNT)
      for (const [kind, count] of Object.entries(await deps.removeAccount(subject.id, row.actor)))
        await add(id, kind, count);
    else for (const agentId of await agentsOf(database, subject)) await eraseIn(id, agentId, subject);
    deps.forgetResponses();
    if (subject.before === undefined)
      await deps.storeList().catch((error: unknown) => {
        log.warn("the list of erasures could not be stored beside the backups; the next backup stores it", { error });
      });
    const remains = await (subject.agentId === undefined ? deps.scrub.now() : deps.scrub.forOwner());
    return settle(row, remains);
  }

  async function settle({ id, person, subject, actor, startedAt }: Row, inFiles: Remains): Promise<Receipt> {
    const { agentId } = subject;
    const { rows } = await database.read("SELECT counts FROM erasures WHERE id = ?", [id]);
    const deleted = JSON.parse(String(rows[0]?.counts)) as Record<string, number>;
    const receipt = signReceipt(list, {
      format: "berth.erasure-receipt/1",
      id,
      person: { channel: subject.channel, hash: person },
      ...(agentId === undefined
        ? { by: { kind: actor.kind, name: actor.name } }
        : { agent: agentId, by: byOwner(actor) }),
      startedAt: new Date(startedAt).toISOString(),
      endedAt: new Date().toISOString(),
      deleted,
      remains: [
        ...deps.copies(agentId !== undefined),
        ...inFiles,
        ...(subject.channel === ACCOUNT ? ACCOUNT_REMAINS : SENDER_REMAINS),
      ],
    });
    await database.write([
      {
        // The audit log has who asked for it, as long as it may.
        sql: "UPDATE erasures SET ended_at = ?, receipt = ?, subject = NULL, actor = '{}' WHERE id = ?",
        args: [Date.now(), JSON.stringify(receipt), id],
      },
      audit.statementFor(
        { id: null, address: null, requestId: null, ...actor },
        {
          action: "person.erase",
          target: { kind: "person", id: person, name: "" },
          details: { erasure: id, ...(agentId !== undefined && { agent: agentId }), deleted },
        },
      ),
    ]);
    log.info("a person's data was erased", { erasure: id, rows: Object.values(deleted).reduce((a, b) => a + b, 0) });
    return receipt;
  }

  async function finish(id: string): Promise<Receipt> {
    const now = running.get(id);
    if (now) return now;
    const { rows } = await database.read("SELECT * FROM erasures WHERE id = ?", [id]);
    const [row] = rows;
    if (!row) throw new AppError(404, "ERASURE_NOT_FOUND", "There is no such erasure.");
    if (row.receipt !== null) return JSON.parse(String(row.receipt)) as Receipt;
    const subject = subjectOf(row);
    const actor = JSON.parse(String(row.actor)) as Row["actor"];
    const ofRow = { id, person: String(row.person), subject, actor, startedAt: Number(row.started_at) };
    // Another caller may have begun during the read.
    const started = running.get(id) ?? work(ofRow).finally(() => running.delete(id));
    running.set(id, started);
    return started;
  }

  return {
    /** Goes on with an erasure, or returns the receipt of one that has ended. */
    finish,
    /**
     * Resolves when nothing of the person is left. What a kill ends goes on by itself at the next start, or when it is called again.
     * @param begin writes the order; what it throws leaves no trace of an erasure
     */
    async erase(
      subject: Subject,
      actor: Asker,
      begin: (statements: Statement[]) => Promise<unknown> = database.write,
    ): Promise<Receipt> {
      const person = list.hashOf(subject);
      const agentId = subject.agentId ?? null;
      const [open] = (await database.read(OPEN, [person, agentId])).rows;
      if (open) {
        const { before } = subjectOf(open);
        const receipt = await finish(String(open.id));
        // One that only repeats an earlier erasure leaves what is newer.
        if (before === undefined || subject.before !== undefined) return receipt;
      }
      const id = Bun.randomUUIDv7();
      const sealed = vault.seal(JSON.stringify(subject), subjectContext(id));
      await begin([
        {
          sql: "INSERT INTO erasures (id, person, agent_id, subject, actor, started_at) VALUES (?, ?, ?, ?, ?, ?)",
          args: [id, person, agentId, sealed, JSON.stringify(actor), Date.now()],
        },
        jobs.enqueueStatement(ERASE_JOB, { id }, { uniqueKey: id }),
      ]);
      return finish(id);
    },
  };
}

/** Who it was is for the audit log alone: the receipt goes to the person, and stays with an agent that is given away. */
const byOwner = ({ kind }: Asker) => ({ kind: kind === "command" ? kind : "owner", name: "" });
