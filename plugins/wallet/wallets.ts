// Whose wallets there are: the one of each user, those of the managed platform, and those made from given keys.

import type { InferSelectModel } from "drizzle-orm";
import { and, asc, count, eq, sql } from "drizzle-orm";
import { GuardFailed, guard, isUniqueViolation, type Statement, statement } from "../../src/database.ts";
import { AppError, notFound } from "../../src/errors.ts";
import type { Kernel } from "../../src/plugin.ts";
import type { Keyring } from "./keys.ts";
import type { WalletPlatform } from "./platform.ts";
import { wallets as table } from "./schema.ts";

export type Wallet = InferSelectModel<typeof table>;

/** Statements that go into the batch which stores the wallet. */
export type Also = (wallet: Wallet) => Statement[];

export interface Wallets {
  /** The user's own wallet. */
  own(userId: string): Promise<Wallet | undefined>;
  /** Makes it. 400 `WALLET_EXISTS` with its `address` where there is one. */
  create(userId: string, also: Also): Promise<Wallet>;
  /** A wallet from this key, or a new one; the one that the user has of it. 400 `INVALID_PRIVATE_KEY`, 409 `TOO_MANY_WALLETS`. */
  fromKey(userId: string, privateKey?: string): Promise<Wallet>;
  /** The platform's wallet of this user for this email; made at the first asking. 409 `TOO_MANY_WALLETS`. */
  managed(platform: WalletPlatform, userId: string, email: string): Promise<Wallet>;
  /** The platform's wallet of this user: the one for this email, else the first. */
  findManaged(userId: string, email: string): Promise<Wallet | undefined>;
  /** The wallet to spend from: the one with this address, else the user's own. 404 `NO_WALLET`. */
  require(userId: string, address?: string): Promise<Wallet>;
  byId(id: string): Promise<Wallet | undefined>;
  /** For the batch of a takeover: keys that somebody brought, and may still hold, leave the account. */
  disown(userId: string): Statement;
}

/** Of one user, all kinds. */
const MOST_PER_USER = 100;

export function createWallets({ database, keys }: Pick<Kernel, "database"> & { keys: Keyring }): Wallets {
  const { drizzle } = database;
  const first = async (...conditions: Parameters<typeof and>) =>
    (
      await drizzle
        .select()
        .from(table)
        .where(and(...conditions))
        .orderBy(asc(table.id))
        .limit(1)
    )[0];
  const ofKind = (userId: string, kind: Wallet["kind"]) => [eq(table.userId, userId), eq(table.kind, kind)];
  const own = (userId: string) => first(...ofKind(userId, "user"));
  const managedFor = (userId: string, email: string) => first(...ofKind(userId, "managed"), eq(table.name, email));
  const withAddress = (userId: string, address: string) =>
    first(eq(table.userId, userId), eq(sql`lower(${table.address})`, address.toLowerCase()));

  /** The wallet, stored; undefined where one that excludes it came first. */
  async function store(wallet: Wallet, also: Statement[] = []): Promise<Wallet | undefined> {
    try {
      await database.write([statement(drizzle.insert(table).values(wallet)), ...also]);
      return wallet;
    } catch (error) {
      if (isUniqueViolation(error, "wallets.user_id")) return undefined;
      throw error;
    }
  }

  const full = () =>
    new AppError(409, "TOO_MANY_WALLETS", `You have ${MOST_PER_USER} wallets. There is no room for more.`);

  /** So that no platform makes a wallet that could not be stored. */
  async function requireRoom(userId: string): Promise<void> {
    const [row] = await drizzle.select({ count: count() }).from(table).where(eq(table.userId, userId));
    if ((row?.count ?? 0) >= MOST_PER_USER) throw full();
  }

  /** The same where there is room for one more; 409 `TOO_MANY_WALLETS`. In one write, so that many at once find no more room than there is. */
  async function storeWithRoom(wallet: Wallet & { userId: string }): Promise<Wallet | undefined> {
    const room: Statement = {
      sql: `UPDATE wallets SET id = id WHERE id = ? AND (SELECT count(*) FROM wallets WHERE user_id = ?) <= ${MOST_PER_USER}`,
      args: [wallet.id, wallet.userId],
    };
    try {
      return await store(wallet, [room, guard("room")]);
    } catch (error) {
      if (!(error instanceof GuardFailed && error.guard === "room")) throw error;
      throw full();
    }
  }

  const named = (userId: string, kind: Wallet["kind"], { name = "", brought = false } = {}) => ({
    id: Bun.randomUUIDv7(),
    userId,
    kind,
    name,
    brought,
    createdAt: Date.now(),
  });

  return {
    own,
    findManaged: async (userId, email) =>
      (await managedFor(userId, email)) ?? (await first(...ofKind(userId, "managed"))),
    byId: (id) => first(eq(table.id, id)),

    async create(userId, also) {
      const blank = named(userId, "user");
      const wallet = { ...blank, ...(await keys.make(blank.id)) };
      const stored = (await own(userId)) ? undefined : await store(wallet, also(wallet));
      if (stored) return stored;
      const { address } = (await own(userId)) ?? {};
      throw new AppError(400, "WALLET_EXISTS", "You have a wallet already.", { address });
    },

    async fromKey(userId, privateKey) {
      const blank = named(userId, "client", { brought: privateKey !== undefined });
      const wallet = { ...blank, ...(await keys.make(blank.id, privateKey)) };
      const known = await withAddress(userId, wallet.address);
      if (known) return known;
      return (await storeWithRoom(wallet)) ?? (await withAddress(userId, wallet.address)) ?? wallet;
    },

    async managed(platform, userId, email) {
      const known = await managedFor(userId, email);
      if (known) return known;
      await requireRoom(userId);
      const blank = named(userId, "managed", { name: email });
      const wallet = { ...blank, ...(await platform.create({ id: blank.id, userId, email })) };
      return (await storeWithRoom(wallet)) ?? (await managedFor(userId, email)) ?? wallet;
    },

    async require(userId, address) {
      const wallet = address === undefined ? await own(userId) : await withAddress(userId, address);
      if (wallet) return wallet;
      const text =
        address === undefined ? "Make a wallet first: POST /api/wallet." : "You have no wallet at this address.";
      throw notFound(text, "NO_WALLET");
    },

    disown: (userId) =>
      statement(
        drizzle
          .update(table)
          .set({ userId: null })
          .where(and(eq(table.userId, userId), eq(table.brought, true))),
      ),
  };
}
