// The lists of accounts and of the audit log: of this cell, or of all.
import type { Static } from "elysia";
import type { Cells } from "../../src/kernel/cells/cells.ts";
import { pageByOffset, readIn } from "../../src/kernel/cells/lists.ts";
import type { Administration } from "../auth/index.ts";
import type { AuditEntry, AuditFilter, AuditLog } from "./audit-log.ts";
import { toUserItem, type userItem } from "./model.ts";

type UserFilter = Parameters<Administration["list"]>[0] & { limit: number; offset: number };
interface UserPage {
  items: Static<typeof userItem>[];
  total: number;
}
type AuditPage = Awaited<ReturnType<AuditLog["list"]>>;

interface Deps {
  administration: Administration;
  auditLog: AuditLog;
  cells: Cells | undefined;
}

/** Answered by the other cells: see index.ts. */
const USERS = "admin.users";
const AUDIT = "admin.audit";

export function createAdminLists({ administration, auditLog, cells }: Deps) {
  async function usersHere(filter: UserFilter): Promise<UserPage> {
    const { users, total } = await administration.list(filter);
    return { items: users.map((user) => toUserItem(user, administration)), total };
  }

  return {
    usersHere,

    /** Newest first; with several cells, those of one after those of the other. */
    listUsers: async (filter: UserFilter): Promise<UserPage> =>
      cells
        ? pageByOffset(cells, filter, (cell, range) => readIn(cells, cell, USERS, { ...filter, ...range }, usersHere))
        : usersHere(filter),

    /** Newest first, of all cells together: ids are in the order of time. */
    async listAudit(filter: AuditFilter): Promise<AuditPage> {
      if (!cells) return auditLog.list(filter);
      const { limit, offset } = filter;
      const pages = await Promise.all(
        [cells.here, ...cells.others].map((cell) =>
          readIn(cells, cell, AUDIT, { ...filter, limit: limit + offset, offset: 0 }, auditLog.list),
        ),
      );
      const entries = pages.flatMap((page) => page.entries).sort(newestFirst);
      return {
        entries: entries.slice(offset, offset + limit),
        total: pages.reduce((sum, page) => sum + page.total, 0),
        hasMore: entries.length > offset + limit || pages.some(({ hasMore }) => hasMore),
      };
    },
  };
}

const newestFirst = (a: AuditEntry, b: AuditEntry) => (a.id < b.id ? 1 : -1);
