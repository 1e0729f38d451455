// Stores reminders as rows, each with a durable job that delivers it exactly once.
import { and, asc, eq, getTableColumns, isNull } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { reminders as table } from "../schema.ts";
import type { Audience, ToolContext } from "../skill.ts";
import type { Taint } from "../taint.ts";

/** The most open reminders of a conversation and of an agent. */
export const MAX_REMINDERS = { conversation: 50, agent: 1000 } as const;
export const MAX_REMINDER_LENGTH = 2000;
/** Five years, of 366 days each. */
const MAX_AHEAD_MS = 5 * 366 * DAY;
/** How long fired reminders are stored, so that a repeated turn does not set the same reminder again. */
const FIRED_RETENTION_MS = 7 * DAY;
const JOB = "reminder";

export interface Reminder {
  id: string;
  agentId: string;
  sessionId: string;
  platform: string;
  peer: string;
  /** Set in a turn of the owner. */
  byOwner: boolean;
  text: string;
  /** Of the turn that set it: the turn in which it fires has at least this taint. */
  taint: Taint;
  /** False for an imported reminder that the owner has not switched on: it does not fire. */
  enabled: boolean;
  /** Epoch ms; in the past when the service was down at that time. */
  dueAt: number;
  createdAt: number;
}

/** Returns the statements that deliver a due reminder; they are written in the batch that marks it as fired. */
export type ReminderHandler = (reminder: Reminder) => Statement[] | Promise<Statement[]>;

type ReminderContext = Pick<
  ToolContext,
  "agentId" | "sessionId" | "inboxId" | "platform" | "peer" | "byOwner" | "taint"
>;

export interface ReminderStore {
  /**
   * Sets a reminder. Throws 400 `REMINDER_PAST`, 400 `REMINDER_TOO_FAR`, 409 `TOO_MANY_REMINDERS`.
   * @param request `key` is the requested time as the model wrote it: the same message, text and key set one reminder
   */
  set(context: ReminderContext, request: { text: string; dueAt: number; key: string }): Promise<Reminder>;
  /** Open reminders, soonest first: those of the audience's conversation, or all for the owner. */
  list(agentId: string, audience?: Audience): Promise<Reminder[]>;
  /**
   * Switches an open reminder on or off; undefined when there is none with this id. Throws 400 `REMINDER_PAST` for one that
   * would have been due already.
   */
  setEnabled(agentId: string, id: string, enabled: boolean): Promise<Reminder | undefined>;
  /** Deletes an open reminder; false when this audience has no such reminder. */
  cancel(agentId: string, id: string, audience?: Audience): Promise<boolean>;
  /** Deletes all reminders of an agent, as part of a batch. */
  cancelAllStatement(agentId: string): Statement;
  /** Registers the handler that delivers reminders. Until then due reminders wait. */
  onReminder(handler: ReminderHandler): void;
}

export function createReminderStore({ database, jobs }: Pick<Kernel, "database" | "jobs">): ReminderStore {
  const { drizzle } = database;
  const { dedupe: _dedupe, firedAt: _firedAt, ...columns } = getTableColumns(table);
  const open = isNull(table.firedAt);
  const active = and(open, eq(table.enabled, true));
  let handler: ReminderHandler | undefined;

  const scope = (agentId: string, audience?: Audience) =>
    and(
      eq(table.agentId, agentId),
      open,
      ...(audience && !audience.byOwner ? [eq(table.platform, audience.platform), eq(table.peer, audience.peer)] : []),
    );

  async function find(agentId: string, dedupe: string): Promise<Reminder | undefined> {
    const same = and(eq(table.agentId, agentId), eq(table.dedupe, dedupe));
    const [found] = await drizzle.select(columns).from(table).where(same);
    return found;
  }

  jobs.handle(JOB, async (payload) => {
    const id = reminderIdOf(payload);
    const [reminder] = await drizzle
      .select(columns)
      .from(table)
      .where(and(eq(table.id, id), active));
    if (!reminder) return [];
    if (!handler) throw new Error("No handler for reminders is registered.");
    const now = Date.now();
    const markFired = drizzle
      .update(table)
      .set({ firedAt: now })
      .where(and(eq(table.id, id), active));
    return [
      // If it was cancelled or switched off meanwhile, the guard undoes the batch, and the job's next run finds none.
      statement(markFired),
      guard("reminder.open"),
      ...(await handler(reminder)),
      {
        sql: "DELETE FROM reminders WHERE agent_id = ? AND fired_at < ?",
        args: [reminder.agentId, now - FIRED_RETENTION_MS],
      },
    ];
  });

  return {
    async set({ agentId, sessionId, inboxId, platform, peer, byOwner, taint }, { text, dueAt, key }) {
      const now = Date.now();
      const dedupe = new Bun.CryptoHasher("sha256").update(JSON.stringify([inboxId, text, key])).digest("base64url");
      const known = await find(agentId, dedupe);
      if (known) return known;
      if (dueAt <= now)
        throw new AppError(400, "REMINDER_PAST", "That time is over. Look at the clock and choose a later time.");
      if (dueAt > now + MAX_AHEAD_MS)
        throw new AppError(400, "REMINDER_TOO_FAR", "A reminder can be at most five years ahead.");

      const id = Bun.randomUUIDv7();
      const insert: Statement = {
        sql: `INSERT INTO reminders (id, agent_id, session_id, platform, peer, text, dedupe, due_at, created_at, by_owner, taint)
          SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
          WHERE (SELECT count(*) FROM reminders WHERE agent_id = ?2 AND fired_at IS NULL) < ${MAX_REMINDERS.agent}
            AND (SELECT count(*) FROM reminders WHERE agent_id = ?2 AND fired_at IS NULL AND platform = ?4 AND peer = ?5)
              < ${MAX_REMINDERS.conversation}`,
        args: [id, agentId, sessionId, platform, peer, text, dedupe, dueAt, now, byOwner, taint],
      };
      try {
        await database.write([insert, guard("reminders.quota"), reminderJobStatement(jobs, id, dueAt)]);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        throw new AppError(409, "TOO_MANY_REMINDERS", "There are too many open reminders. Cancel some first.");
      }
      return {
        ...{ id, agentId, sessionId, platform, peer, byOwner, text, taint },
        ...{ enabled: true, dueAt, createdAt: now },
      };
    },

    async setEnabled(agentId, id, enabled) {
      const isOpen = and(eq(table.agentId, agentId), eq(table.id, id), open);
      const [found] = await drizzle.select(columns).from(table).where(isOpen);
      if (!found) return undefined;
      if (enabled && found.dueAt <= Date.now()) {
        throw new AppError(400, "REMINDER_PAST", "The time of this reminder is over. Ask the agent for a new one.");
      }
      const set = statement(drizzle.update(table).set({ enabled }).where(isOpen));
      const job = enabled ? [reminderJobStatement(jobs, id, found.dueAt)] : [];
      try {
        await database.write([set, guard("reminders.open"), ...job]);
      } catch (error) {
        if (error instanceof GuardFailed) return undefined;
        throw error;
      }
      return { ...found, enabled };
    },

    list: (agentId, audience) =>
      drizzle
        .select(columns)
        .from(table)
        .where(scope(agentId, audience))
        .orderBy(asc(table.dueAt))
        .limit(MAX_REMINDERS.agent),

    async cancel(agentId, id, audience) {
      const [result] = await database.write([
        statement(drizzle.delete(table).where(and(eq(table.id, id), scope(agentId, audience)))),
      ]);
      return (result?.rowsAffected ?? 0) > 0;
    },

    cancelAllStatement: (agentId) => statement(drizzle.delete(table).where(eq(table.agentId, agentId))),
    onReminder(next) {
      handler = next;
    },
  };
}

/** Enqueues the job that delivers a reminder; there is at most one for each reminder. */
export const reminderJobStatement = (
  jobs: Pick<Kernel["jobs"], "enqueueStatement">,
  id: string,
  dueAt: number,
): Statement => jobs.enqueueStatement(JOB, { id }, { runAt: dueAt, uniqueKey: id, maxAttempts: 20 });

function reminderIdOf(payload: unknown): string {
  if (typeof payload === "object" && payload !== null && "id" in payload && typeof payload.id === "string")
    return payload.id;
  throw new Error("A reminder job without an id.");
}
