// The audit log of administration: entries are written in the batch of the change they record, and kept for two years.
import { and, count, desc, eq, gte, lt, or } from "drizzle-orm";
import { type Statement, statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { DAY, firstIdAt } from "../../src/kernel/util/time.ts";
import type { AccountChange, AuditRecorder } from "../auth/index.ts";
import { auditLog } from "./schema.ts";

/** The admin or operator who makes a change. */
export interface Actor {
  kind: (typeof auditLog.actorKind.enumValues)[number];
  /** The user id of the admin; null for a command. */
  id: string | null;
  /** The admin's email address at the time of the change; for a command the name of the operating system's user. */
  name: string;
  /** The client's network address; null for a command. */
  address: string | null;
  requestId: string | null;
}

export type AuditEntry = Readonly<typeof auditLog.$inferSelect>;

/** Omitted fields match everything. `user` and `actor` take an id or an email address. */
export interface AuditFilter {
  user?: string | undefined;
  actor?: string | undefined;
  action?: string | undefined;
  /** The kind of what was changed, such as `agent`. */
  kind?: string | undefined;
  /** Epoch ms; `to` is not included. */
  from?: number | undefined;
  to?: number | undefined;
  /** Only entries before the one with this id. */
  before?: string | undefined;
  limit: number;
  offset: number;
}

/** Something that an admin changed, which need not be an account. */
export interface AuditedChange {
  action: string;
  target: { kind: string; id: string; name: string };
  /** Changed fields as `{ field: { from, to } }`, or details of the action; never a secret. */
  details: Readonly<Record<string, unknown>>;
}

export interface AuditLog {
  /** The statement that records a change, for the batch of the change. */
  statementFor(actor: Actor, change: AuditedChange): Statement;
  /** The recorder for changes by this actor. */
  recorderFor(actor: Actor): AuditRecorder;
  /** A page of entries, newest first, the total number of matches, and whether there are more after the page. */
  list(filter: AuditFilter): Promise<{ entries: AuditEntry[]; total: number; hasMore: boolean }>;
  /** Deletes entries older than two years, in small batches; a trigger of the table refuses to delete younger ones. */
  prune(now?: number): Promise<void>;
}

const RETENTION_MS = 731 * DAY;
const PRUNE_BATCH_SIZE = 2_000;

export function createAuditLog({ database, marks }: Pick<Kernel, "database" | "marks">): AuditLog {
  const db = database.drizzle;

  function insertStatement(actor: Actor, { action, target, details }: AuditedChange): Statement {
    const row = {
      id: marks.newId(),
      at: Date.now(),
      actorKind: actor.kind,
      actorId: actor.id,
      actorName: actor.name,
      action,
      targetKind: target.kind,
      targetId: target.id,
      targetName: target.name,
      details: JSON.stringify(details),
      address: actor.address,
      requestId: actor.requestId,
    };
    return statement(db.insert(auditLog).values(row));
  }

  return {
    statementFor: insertStatement,
    recorderFor:
      (actor) =>
      ({ action, user, details }: AccountChange) =>
        insertStatement(actor, { action, target: { kind: "user", id: user.id, name: user.email }, details }),

    async list({ user, actor, action, kind, from, to, before, limit, offset }) {
      const where = and(
        user === undefined ? undefined : or(eq(auditLog.targetId, user), eq(auditLog.targetName, user)),
        actor === undefined ? undefined : or(eq(auditLog.actorId, actor), eq(auditLog.actorName, actor)),
        action === undefined ? undefined : eq(auditLog.action, action),
        kind === undefined ? undefined : eq(auditLog.targetKind, kind),
        from === undefined ? undefined : gte(auditLog.id, firstIdAt(from)),
        to === undefined ? undefined : lt(auditLog.id, firstIdAt(to)),
      );
      const page = and(where, before === undefined ? undefined : lt(auditLog.id, before));
      const newest = db.select().from(auditLog).where(page).orderBy(desc(auditLog.id));
      const [found, counted] = await Promise.all([
        newest.limit(limit + 1).offset(offset),
        db.select({ total: count() }).from(auditLog).where(where),
      ]);
      return { entries: found.slice(0, limit), total: counted[0]?.total ?? 0, hasMore: found.length > limit };
    },

    async prune(now = Date.now()) {
      const oldest = "SELECT id FROM audit_log ORDER BY id LIMIT ?";
      // The trigger counts back from the newest entry.
      const kept = "(SELECT at FROM audit_log ORDER BY id DESC LIMIT 1) - ?";
      const sql = `DELETE FROM audit_log WHERE at < ? AND at <= ${kept} AND id IN (${oldest})`;
      for (;;) {
        const [result] = await database.write([{ sql, args: [now - RETENTION_MS, RETENTION_MS, PRUNE_BATCH_SIZE] }]);
        if ((result?.rowsAffected ?? 0) < PRUNE_BATCH_SIZE) return;
      }
    },
  };
}
