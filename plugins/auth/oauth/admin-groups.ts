// Makes admins of the members of groups: each sign-in with a provider stores which of the operator's groups its answer names,
// with the linked account. Triggers of the database derive `users.admin_by_group` from these rows.
import { GuardFailed, guard, type Statement } from "../../../src/kernel/database/database.ts";
import type { AuthServices } from "../auth-services.ts";
import { configuredProviders, describeOrigin, isFrom, isOpenid } from "./configured-providers.ts";
import type { ProviderIdentity } from "./provider.ts";

/** An account that has become an admin by a group, or is none any more. */
export interface AdminByGroupChange {
  user: { id: string; email: string };
  isAdmin: boolean;
  /** What people call the provider. */
  provider: string;
  /** The groups that make it an admin; empty if it is none any more. */
  groups: readonly string[];
}

/** The request of a sign-in, for records of what it changes. */
export interface SignInRequest {
  /** The client's address. */
  address: string;
  requestId: string;
}

/**
 * Returns a statement for the write of the change, such as its entry in the audit log. `request` is undefined for a change of
 * the settings, which takes effect at the start.
 */
export type OnAdminByGroup = (change: AdminByGroupChange, request: SignInRequest | undefined) => Statement;

export interface AdminGroups {
  /** Stores the groups that the provider named at this sign-in; nothing for a provider that makes no admins. */
  record(
    identity: Pick<ProviderIdentity, "provider" | "subject" | "adminGroups">,
    userId: string,
    request: SignInRequest,
  ): Promise<void>;
  /** Removes what was stored under settings that are no longer in force: a provider or a group that makes no admins now. */
  dropStale(): Promise<void>;
  onChanged(listener: OnAdminByGroup): void;
}

interface StoredGroups {
  provider: ProviderIdentity["provider"];
  subject: string;
  userId: string;
  groups: readonly string[];
}

export function createAdminGroups({ kernel, users }: Pick<AuthServices, "kernel" | "users">): AdminGroups {
  const { database, config, log } = kernel;
  const listeners: OnAdminByGroup[] = [];

  /** Writes the groups of one linked account, if they are still what was read, with the records of what that changes. */
  async function write(stored: StoredGroups, groups: readonly string[], request?: SignInRequest): Promise<void> {
    const user = await users.byId(stored.userId);
    if (!user) return;
    const { id, email } = user;
    const wasAdmin = stored.groups.length > 0;
    const isAdmin = groups.length > 0;
    const { name } = describeOrigin(config, stored);
    await database.write([
      {
        sql: `UPDATE linked_accounts SET admin_groups = ?1 WHERE provider = ?2 AND subject = ?3 AND user_id = ?4 AND admin_groups IS ?5`,
        args: [toColumn(groups), stored.provider, stored.subject, id, toColumn(stored.groups)],
        after: () => users.invalidate(id),
      },
      guard("groups"),
      ...(wasAdmin === isAdmin
        ? []
        : listeners.map((listener) => listener({ user: { id, email }, isAdmin, provider: name, groups }, request))),
    ]);
    if (wasAdmin !== isAdmin) log.info("Admin rights changed by a group", { userId: id, isAdmin, provider: name });
  }

  return {
    async record({ provider, subject, adminGroups }, userId, request) {
      if (!adminGroups) return;
      const { rows } = await database.read(
        "SELECT admin_groups FROM linked_accounts WHERE provider = ?1 AND subject = ?2 AND user_id = ?3",
        [provider, subject, userId],
      );
      const [row] = rows;
      if (!row) return;
      const stored = { provider, subject, userId, groups: fromColumn(row.admin_groups) };
      if (toColumn(stored.groups) === toColumn(adminGroups)) return;
      try {
        await write(stored, adminGroups, request);
      } catch (error) {
        // Another sign-in of the same person has stored its groups meanwhile: they are as fresh.
        if (!(error instanceof GuardFailed && error.guard === "groups")) throw error;
      }
    },

    async dropStale() {
      const { rows } = await database.read(
        "SELECT provider, subject, user_id, admin_groups FROM linked_accounts WHERE admin_groups IS NOT NULL",
      );
      for (const { provider, subject, user_id: userId, admin_groups: groups } of rows) {
        const stored: StoredGroups = {
          provider: provider === "google" ? "google" : "oidc",
          subject: String(subject),
          userId: String(userId),
          groups: fromColumn(groups),
        };
        const inForce = configuredProviders(config)
          .filter(isOpenid)
          .filter((configured) => isFrom(configured, stored))
          .flatMap(({ adminGroups }) => adminGroups);
        const left = stored.groups.filter((group) => inForce.includes(group));
        if (left.length < stored.groups.length) await write(stored, left);
      }
    },

    onChanged: (listener) => void listeners.push(listener),
  };
}

const toColumn = (groups: readonly string[]) => (groups.length > 0 ? JSON.stringify(groups) : null);

const fromColumn = (stored: unknown): string[] => (typeof stored === "string" ? JSON.parse(stored) : []);
