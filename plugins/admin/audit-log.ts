// Reads the audit log, which the kernel writes, for admins.
import { and, count, desc, eq, gte, lt, or } from "drizzle-orm";
import type { Audit } from "../../src/kernel/audit/audit.ts";
import { auditLog } from "../../src/kernel/audit/schema.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { firstIdAt } from "../../src/kernel/util/time.ts";

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

/** The audit log as admins read it, and the kernel's recorder of its entries. */
export interface AuditLog extends Pick<Audit, "statementFor" | "recorderFor" | "verify"> {
  /** A page of entries, newest first, the total number of matches, and whether there are more after the page. */
  list(filter: AuditFilter): Promise<{ entries: AuditEntry[]; total: number; hasMore: boolean }>;
}

export function createAuditLog({ database, audit }: Pick<Kernel, "database" | "audit">): AuditLog {
  const db = database.drizzle;

  return {
    statementFor: audit.statementFor,
    recorderFor: audit.recorderFor,
    verify: audit.verify,

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
  };
}
