// Stores the wallets of users: one own wallet each, managed wallets by email, and wallets from private keys.

import type { InferSelectModel } from "drizzle-orm";
import { and, asc, count, eq, sql } from "drizzle-orm";
import {
  GuardFailed,
  guard,
  isUniqueViolation,
  type Statement,
  statement,
} from "../../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { wallets as table } from "../schema.ts";
import type { Keyring } from "./keyring.ts";
import type { WalletPlatform } from "./wallet-platform.ts";

export type Wallet = InferSelectModel<typeof table>;

/** Statements for the batch that stores the wallet. */
export type WalletStatements = (wallet: Wallet) => Statement[];

export interface Wallets {
  /** The user's own wallet. */
  findOwn(userId: string): Promise<Wallet | undefined>;
  /** Creates the user's own wallet. Throws 400 `WALLET_EXISTS` with its `address` if there is one. */
  create(userId: string, extraStatements: WalletStatements): Promise<Wallet>;
  /**
   * Creates a wallet from this key, or from a new one; returns the existing wallet if the user has one of this key.
   * Throws 400 `INVALID_PRIVATE_KEY`, 409 `TOO_MANY_WALLETS`.
   */
  createFromKey(userId: string, privateKey?: string): Promise<Wallet>;
  /** The managed wallet of this user for this email, created by the first call. Throws 409 `TOO_MANY_WALLETS`. */
  findOrCreateManaged(platform: WalletPlatform, userId: string, email: string): Promise<Wallet>;
  /** A managed wallet of this user: the one for this email, else the oldest. */
  findManaged(userId: string, email: string): Promise<Wallet | undefined>;
  /** All wallets of the user: the own one first, then the oldest. */
  list(userId: string): Promise<Wallet[]>;
  /**
   * The wallet to spend from: the one with this address, or without an address the user's own. Throws 404 `NO_WALLET`.
   */
  require(userId: string, address?: string): Promise<Wallet>;
  byId(id: string): Promise<Wallet | undefined>;
  /** For a reclaimed account: removes its wallets with imported keys, which the former holder may still have. */
  disownStatement(userId: string): Statement;
}

/** Wallets of one user, of all kinds together. */
const MAX_PER_USER = 100;

export function createWallets({ database, keys }: Pick<Kernel, "database"> & { keys: Keyring }): Wallets {
  const { drizzle } = database;
  const findFirst = async (...conditions: Parameters<typeof and>) =>
    (
      await drizzle
        .select()
        .from(table)
        .where(and(...conditions))
        .orderBy(asc(table.id))
        .limit(1)
    )[0];
  const kindConditions = (userId: string, kind: Wallet["kind"]) => [eq(table.userId, userId), eq(table.kind, kind)];
  const findOwn = (userId: string) => findFirst(...kindConditions(userId, "user"));
  const findManagedByEmail = (userId: string, email: string) =>
    findFirst(...kindConditions(userId, "managed"), eq(table.name, email));
  const findByAddress = (userId: string, address: string) =>
    findFirst(eq(table.userId, userId), eq(sql`lower(${table.address})`, address.toLowerCase()));

  /** Stores the wallet; undefined if a concurrent call stored one that the unique indexes allow only once. */
  async function store(wallet: Wallet, extraStatements: Statement[] = []): Promise<Wallet | undefined> {
    try {
      await database.write([statement(drizzle.insert(table).values(wallet)), ...extraStatements]);
      return wallet;
    } catch (error) {
      if (isUniqueViolation(error, "wallets.user_id")) return undefined;
      throw error;
    }
  }

  const tooManyWallets = () =>
    new AppError(409, "TOO_MANY_WALLETS", `You have ${MAX_PER_USER} wallets, which is the limit. Use one of them.`);

  /** Checked before a platform makes a wallet, because one over the limit could not be stored. */
  async function requireCapacity(userId: string): Promise<void> {
    const [row] = await drizzle.select({ count: count() }).from(table).where(eq(table.userId, userId));
    if ((row?.count ?? 0) >= MAX_PER_USER) throw tooManyWallets();
  }

  /**
   * Stores the wallet, or throws 409 `TOO_MANY_WALLETS`. The count is checked in the same batch: concurrent calls can't
   * exceed it.
   */
  async function storeWithinLimit(wallet: Wallet & { userId: string }): Promise<Wallet | undefined> {
    const limitStatement: Statement = {
      sql: `UPDATE wallets SET id = id WHERE id = ? AND (SELECT count(*) FROM wallets WHERE user_id = ?) <= ${MAX_PER_USER}`,
      args: [wallet.id, wallet.userId],
    };
    try {
      return await store(wallet, [limitStatement, guard("capacity")]);
    } catch (error) {
      if (!(error instanceof GuardFailed && error.guard === "capacity")) throw error;
      throw tooManyWallets();
    }
  }

  const newWalletFields = (userId: string, kind: Wallet["kind"], { name = "", imported = false } = {}) => ({
    id: Bun.randomUUIDv7(),
    userId,
    kind,
    name,
    imported,
    createdAt: Date.now(),
  });

  return {
    findOwn,
    findManaged: async (userId, email) =>
      (await findManagedByEmail(userId, email)) ?? (await findFirst(...kindConditions(userId, "managed"))),
    list: (userId) =>
      drizzle
        .select()
        .from(table)
        .where(eq(table.userId, userId))
        .orderBy(sql`${table.kind} <> 'user'`, asc(table.id))
        .limit(MAX_PER_USER + 1),
    byId: (id) => findFirst(eq(table.id, id)),

    async create(userId, extraStatements) {
      const fields = newWalletFields(userId, "user");
      const wallet = { ...fields, ...(await keys.createKey(fields.id)) };
      const stored = (await findOwn(userId)) ? undefined : await store(wallet, extraStatements(wallet));
      if (stored) return stored;
      const { address } = (await findOwn(userId)) ?? {};
      throw new AppError(400, "WALLET_EXISTS", "You have a wallet already.", { address });
    },

    async createFromKey(userId, privateKey) {
      const fields = newWalletFields(userId, "client", { imported: privateKey !== undefined });
      const wallet = { ...fields, ...(await keys.createKey(fields.id, privateKey)) };
      const existing = await findByAddress(userId, wallet.address);
      if (existing) return existing;
      return (await storeWithinLimit(wallet)) ?? (await findByAddress(userId, wallet.address)) ?? wallet;
    },

    async findOrCreateManaged(platform, userId, email) {
      const existing = await findManagedByEmail(userId, email);
      if (existing) return existing;
      await requireCapacity(userId);
      const fields = newWalletFields(userId, "managed", { name: email });
      const wallet = { ...fields, ...(await platform.create({ id: fields.id, userId, email })) };
      return (await storeWithinLimit(wallet)) ?? (await findManagedByEmail(userId, email)) ?? wallet;
    },

    async require(userId, address) {
      const wallet = address === undefined ? await findOwn(userId) : await findByAddress(userId, address);
      if (wallet) return wallet;
      const text =
        address === undefined ? "Make a wallet first: POST /api/wallet." : "You have no wallet at this address.";
      throw notFound(text, "NO_WALLET");
    },

    disownStatement: (userId) =>
      statement(
        drizzle
          .update(table)
          .set({ userId: null })
          .where(and(eq(table.userId, userId), eq(table.imported, true))),
      ),
  };
}
