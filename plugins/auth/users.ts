// Users and their subscriptions: read through a bounded cache, each change written as one batch.

import { and, eq, sql } from "drizzle-orm";
import type { SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import { NameTaken, usingNames } from "../../src/kernel/cells/cells.ts";
import { LABEL_ALPHABET, REFERRAL_CODE_LENGTH } from "../../src/kernel/cells/marks.ts";
import { isUniqueViolation, preparedQuery, type Statement, statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import { type Kernel, ownsDatabase } from "../../src/kernel/plugin.ts";
import { emailName } from "./cells/account-names.ts";
import { PLACEHOLDER_DOMAIN } from "./email.ts";
import { subscriptions, users } from "./schema.ts";
import { planSettings } from "./settings.ts";

export const SUBSCRIPTION_STATUSES = subscriptions.status.enumValues;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

/** The kinds of mail that a user can turn off. All are on by default. */
export const NOTIFICATION_TOPICS = ["agent", "billing", "security", "referral", "system"] as const;
export type NotificationTopic = (typeof NOTIFICATION_TOPICS)[number];

export interface Subscription {
  plan: string;
  status: SubscriptionStatus;
  /** Epoch ms. */
  currentPeriodEnd: number;
}

/** A user with all that is stored of it. Never sent as it is: model.ts defines what clients see. */
export interface User {
  id: string;
  email: string;
  name: string;
  passwordHash: string | null;
  emailVerified: boolean;
  isAdmin: boolean;
  /** Whether a group at a linked provider makes the account an admin. */
  adminByGroup: boolean;
  plan: string;
  credits: number;
  twoFactorEnabled: boolean;
  referralCode: string;
  notifications: Record<string, boolean>;
  /** Two letters: the language of mails. */
  locale: string;
  /** When an admin disabled the account (epoch ms): such a user can't sign in, and has no valid session or key. */
  disabledAt: number | null;
  /** When an admin froze the account (epoch ms), and why: it reads, and changes nothing; its agents are paused. */
  frozenAt: number | null;
  frozenReason: string | null;
  /** Whether an admin has lifted the limits of new accounts (NEW_ACCOUNT_DAYS) for it. */
  limitsLifted: boolean;
  referredBy: string | null;
  createdAt: number;
  subscription: Subscription | null;
}

/** The fields of a user that sign-up and sign-in return. */
export interface AccountSummary {
  id: string;
  email: string;
  name: string;
}

export interface NewUser {
  email: string;
  name?: string | undefined;
  passwordHash: string | null;
  emailVerified?: boolean;
  isAdmin?: boolean;
  /** Two letters. Default: `en`. */
  locale?: string;
  referredBy?: string | undefined;
  /** Initial credits. Default: 0. */
  credits?: number;
}

/** Columns of a user to write, as values or SQL. */
export type UserFields = Omit<
  SQLiteUpdateSetSource<typeof users>,
  "id" | "onceVerified" | "adminByGroup" | "createdAt" | "updatedAt"
>;

/** Values that columns must still have for a change to apply. */
export type ExpectedUser = Partial<
  Pick<typeof users.$inferSelect, "email" | "emailVerified" | "onceVerified" | "twoFactorEnabled">
>;

export interface Users {
  byId(id: string): Promise<User | undefined>;
  byEmail(email: string): Promise<User | undefined>;
  /** Ignores the case of the code. */
  byReferralCode(code: string): Promise<User | undefined>;
  /**
   * Throws 409 `USER_EXISTS`. `extraStatements` join the same batch. With `SIGNUP_TRIAL` the account starts with that
   * trial.
   */
  create(user: NewUser, extraStatements?: (created: AccountSummary) => Statement[]): Promise<AccountSummary>;
  /** For a batch. Changes no row if there is no such user or it does not match `expected`: put a guard after it. */
  updateStatement(userId: string, fields: UserFields, expected?: ExpectedUser): Statement;
  /** Whether there is any account besides placeholder accounts. */
  hasAny(): Promise<boolean>;
  /** Drops the cached user. Call it after a write that did not go through this service. */
  invalidate(userId: string): void;
}

export const userExists = () =>
  new AppError(409, "USER_EXISTS", "An account with this email exists already. Sign in instead.");

const MAX_CACHED_USERS = 10_000;

export function createUsers({
  database,
  config,
  events,
  marks,
  cells,
}: Pick<Kernel, "database" | "config" | "events" | "marks" | "cells">): Users {
  const { signupTrial } = config.of(planSettings);
  // With split roles another process may write the same rows: then nothing is cached.
  const cache = ownsDatabase({ config, database }) ? new Map<string, User>() : undefined;
  const select = () =>
    database.drizzle.select().from(users).leftJoin(subscriptions, eq(subscriptions.userId, users.id));
  const selectById = preparedQuery(() => select().where(eq(users.id, sql.placeholder("id"))));
  const selectByEmail = preparedQuery(() => select().where(eq(users.email, sql.placeholder("email"))));
  const selectByReferralCode = preparedQuery(() => select().where(eq(users.referralCode, sql.placeholder("code"))));

  type Row = Awaited<ReturnType<typeof selectById.execute>>[number];
  cells?.registerNames("email", async (email) => (await selectByEmail.execute({ email })).length > 0);

  /** Incremented by each invalidation: a row whose read began before it is not cached. */
  let invalidations = 0;
  function invalidate(userId: string): void {
    invalidations++;
    cache?.delete(userId);
  }

  async function read(query: Promise<Row[]>): Promise<User | undefined> {
    const before = invalidations;
    return cacheRow((await query)[0], before);
  }

  function cacheRow(row: Row | undefined, before: number): User | undefined {
    if (!row) return undefined;
    const subscription = row.subscriptions && {
      plan: row.subscriptions.plan,
      status: row.subscriptions.status,
      currentPeriodEnd: row.subscriptions.currentPeriodEnd,
    };
    const { notifications, onceVerified: _, updatedAt: __, ...user } = row.users;
    const found: User = { ...user, notifications: JSON.parse(notifications), subscription };
    if (cache && invalidations === before) {
      if (cache.size >= MAX_CACHED_USERS) cache.delete(cache.keys().next().value ?? "");
      cache.set(found.id, found);
    }
    return found;
  }

  function trialStatements(userId: string, now: number): Statement[] {
    if (!signupTrial) return [];
    const { plan, durationMs } = signupTrial;
    const row = { userId, plan, status: "trialing" as const, currentPeriodEnd: now + durationMs, updatedAt: now };
    return [statement(database.drizzle.insert(subscriptions).values(row))];
  }

  return {
    byId: async (id) => cache?.get(id) ?? read(selectById.execute({ id })),
    byEmail: (email) => read(selectByEmail.execute({ email })),
    byReferralCode: (code) => read(selectByReferralCode.execute({ code: code.toLowerCase() })),

    async create(
      { email, name, passwordHash, emailVerified = false, isAdmin = false, ...optional },
      extraStatements = () => [],
    ) {
      const id = marks.newId();
      const now = Date.now();
      const user = { id, email, name: name?.trim().normalize("NFC") || email };
      const row = {
        ...user,
        passwordHash,
        emailVerified,
        isAdmin,
        plan: signupTrial?.plan ?? "free",
        credits: optional.credits ?? 0,
        twoFactorEnabled: false,
        referralCode: marks.label(generateReferralCode()),
        notifications: "{}",
        locale: optional.locale ?? "en",
        referredBy: optional.referredBy ?? null,
        createdAt: now,
        updatedAt: now,
      };
      const created = { ...user, plan: row.plan, createdAt: new Date(now).toISOString() };
      try {
        await usingNames(cells, [emailName(email)], () =>
          database.write([
            statement(database.drizzle.insert(users).values(row)),
            events.recordStatement("user.created", { userId: id, data: created }),
            ...trialStatements(id, now),
            ...extraStatements(user),
          ]),
        );
      } catch (error) {
        if (!isUniqueViolation(error, "users.email") && !(error instanceof NameTaken)) throw error;
        throw userExists();
      }
      return user;
    },

    updateStatement(userId, fields, expected = {}) {
      const { email, emailVerified, onceVerified, twoFactorEnabled } = expected;
      const where = and(
        eq(users.id, userId),
        email === undefined ? undefined : eq(users.email, email),
        emailVerified === undefined ? undefined : eq(users.emailVerified, emailVerified),
        onceVerified === undefined ? undefined : eq(users.onceVerified, onceVerified),
        twoFactorEnabled === undefined ? undefined : eq(users.twoFactorEnabled, twoFactorEnabled),
      );
      const query = database.drizzle
        .update(users)
        .set({ ...fields, updatedAt: Date.now() })
        .where(where);
      return { ...statement(query), after: () => invalidate(userId) };
    },

    hasAny: async () => (await database.read(ANY_OWNED_ACCOUNT)).rows.length > 0,
    invalidate,
  };
}

/** Placeholder accounts don't count: they have no owner yet. */
const ANY_OWNED_ACCOUNT = `SELECT 1 FROM users WHERE email NOT LIKE '%${PLACEHOLDER_DOMAIN}' LIMIT 1`;

/** A new referral code: twelve letters and digits, without those that look alike. */
export function generateReferralCode(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(REFERRAL_CODE_LENGTH));
  return Array.from(bytes, (byte) => LABEL_ALPHABET[byte % LABEL_ALPHABET.length]).join("");
}
