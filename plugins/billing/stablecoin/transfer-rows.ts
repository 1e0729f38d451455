// Statements and queries for transfers of the stablecoin, the progress of reading them, and authorizations of x402.

import { guard, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";

export interface TransferRow {
  id: string;
  hash: string;
  payer: string;
  microUsd: number;
  block: number;
  state: "seen" | "unclaimed" | "credited";
  userId: string | null;
  credits: number;
  /** Epoch ms. */
  at: number;
}

export interface Authorization {
  /** Lower case. */
  payer: string;
  nonce: string;
  userId: string;
  /** In the token's smallest unit. */
  units: bigint;
  /** Epoch seconds. */
  validBefore: number;
  /** Of the transaction that was signed for it last. */
  hash: string | null;
  transferId: string | null;
}

/** What a transfer buys, and what is left of the account's payments below a whole credit, before and after it. */
export interface Purchase {
  userId: string;
  worthMicroUsd: number;
  credits: number;
  restBefore: number;
  restAfter: number;
}

const FOUND = `INSERT INTO stablecoin_transfers (id, hash, payer, micro_usd, block, state, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
  ON CONFLICT (id) DO UPDATE SET block = excluded.block, state = excluded.state
  WHERE state = 'seen'`;
const CREDITED = `INSERT INTO stablecoin_transfers (id, hash, payer, micro_usd, block, state, at, user_id, worth_micro_usd, credits)
  VALUES (?1, ?2, ?3, ?4, ?5, 'credited', ?6, ?7, ?8, ?9)
  ON CONFLICT (id) DO UPDATE SET block = excluded.block, state = 'credited', user_id = excluded.user_id,
    worth_micro_usd = excluded.worth_micro_usd, credits = excluded.credits WHERE state <> 'credited'`;
/** Looks only at those that are not credited: credited ones are as many as were ever paid. */
const DELETE_GONE = `DELETE FROM stablecoin_transfers INDEXED BY stablecoin_transfers_open
  WHERE state <> 'credited' AND state = 'seen' AND block <= ?`;
const REST = `INSERT INTO credit_rests (user_id, micro_usd) SELECT id, ?2 FROM users WHERE id = ?1
  ON CONFLICT (user_id) DO UPDATE SET micro_usd = excluded.micro_usd WHERE micro_usd = ?3`;
/** Of a chain, whose prefix ?1 is. Wallets may be linked after they have paid. */
const CLAIMABLE = `SELECT t.* FROM stablecoin_transfers t JOIN linked_accounts l ON l.provider = 'wallet' AND l.subject = t.payer
  WHERE t.state <> 'credited' AND t.state = 'unclaimed' AND substr(t.id, 1, length(?1)) = ?1 LIMIT 100`;
const LISTED = `SELECT * FROM stablecoin_transfers WHERE user_id = ?1
  UNION SELECT * FROM stablecoin_transfers WHERE state <> 'credited' AND payer IN (
    SELECT subject FROM linked_accounts WHERE user_id = ?1 AND provider = 'wallet'
    UNION SELECT payer FROM x402_authorizations WHERE user_id = ?1 AND transfer_id IS NULL)
  ORDER BY at DESC, id LIMIT 20`;

export type TransferRows = ReturnType<typeof createTransferRows>;

export function createTransferRows({ database }: Pick<Kernel, "database">, chainId: number) {
  const all = async (sql: string, args: (string | number)[]) => (await database.read(sql, args)).rows;
  const first = async (sql: string, args: (string | number)[]) => (await all(sql, args))[0];
  const key = ({ payer, nonce }: Pick<Authorization, "payer" | "nonce">) => [chainId, payer, nonce];
  const BY_KEY = "chain_id = ?1 AND payer = ?2 AND nonce = ?3";

  return {
    async find(id: string): Promise<TransferRow | undefined> {
      const row = await first("SELECT * FROM stablecoin_transfers WHERE id = ?", [id]);
      return row && toTransferRow(row);
    },
    claimable: async () => (await all(CLAIMABLE, [`chain:${chainId}:`])).map(toTransferRow),
    /** The newest first, at most 20; also what a wallet of the account sent that is not credited. */
    list: async (userId: string) => (await all(LISTED, [userId])).map(toTransferRow),
    /** One that is credited or final stays as it is. */
    foundStatement: ({ id, hash, payer, microUsd, block, state, at }: Omit<TransferRow, "userId" | "credits">) => ({
      sql: FOUND,
      args: [id, hash, payer, microUsd, block, state, at],
    }),
    /** Fails its batch with GuardFailed `uncredited` if it is credited, `rest` if another payment came between. */
    creditedStatements: (
      { id, hash, payer, microUsd, block, at }: Omit<TransferRow, "userId" | "credits" | "state">,
      { userId, worthMicroUsd, credits, restBefore, restAfter }: Purchase,
    ): Statement[] => [
      { sql: CREDITED, args: [id, hash, payer, microUsd, block, at, userId, worthMicroUsd, credits] },
      guard("uncredited"),
      { sql: REST, args: [userId, restAfter, restBefore] },
      guard("rest"),
    ],
    async restOf(userId: string): Promise<number> {
      return Number((await first("SELECT micro_usd FROM credit_rests WHERE user_id = ?", [userId]))?.micro_usd ?? 0);
    },

    /** The last block that is read; undefined before the first time. */
    async progress(): Promise<number | undefined> {
      const row = await first("SELECT block FROM stablecoin_progress WHERE chain_id = ?", [chainId]);
      return row && Number(row.block);
    },
    /** Also forgets transfers that the chain has replaced since they were seen. */
    progressStatements: (block: number): Statement[] => [
      {
        sql: "INSERT INTO stablecoin_progress VALUES (?1, ?2) ON CONFLICT (chain_id) DO UPDATE SET block = max(block, ?2)",
        args: [chainId, block],
      },
      { sql: DELETE_GONE, args: [block] },
    ],

    async authorization(of: Pick<Authorization, "payer" | "nonce">): Promise<Authorization | undefined> {
      const row = await first(`SELECT * FROM x402_authorizations WHERE ${BY_KEY}`, key(of));
      return row && toAuthorization(row);
    },
    /** Those of a wallet that have made no transfer yet. */
    openAuthorizations: async (payer: string) =>
      (
        await all("SELECT * FROM x402_authorizations WHERE chain_id = ? AND payer = ? AND transfer_id IS NULL", [
          chainId,
          payer,
        ])
      ).map(toAuthorization),
    /** Changes nothing if there is one already. */
    authorizationStatement: (one: Omit<Authorization, "hash" | "transferId">): Statement => ({
      sql: `INSERT INTO x402_authorizations (chain_id, payer, nonce, user_id, units, valid_before)
        SELECT ?1, ?2, ?3, id, ?5, ?6 FROM users WHERE id = ?4 ON CONFLICT DO NOTHING`,
      args: [...key(one), one.userId, String(one.units), one.validBefore],
    }),
    signedStatement: (of: Pick<Authorization, "payer" | "nonce">, hash: string): Statement => ({
      sql: `UPDATE x402_authorizations SET hash = ?4 WHERE ${BY_KEY}`,
      args: [...key(of), hash],
    }),
    /** Fails its batch with GuardFailed `unused` if the authorization has made another transfer. */
    usedStatements: (of: Pick<Authorization, "payer" | "nonce">, transferId: string): Statement[] => [
      {
        sql: `UPDATE x402_authorizations SET transfer_id = ?4 WHERE ${BY_KEY} AND transfer_id IS NULL`,
        args: [...key(of), transferId],
      },
      guard("unused"),
    ],
    /** @param before epoch seconds, for when the blocks of that time are read */
    forgetExpiredStatement: (before: number): Statement => ({
      sql: "DELETE FROM x402_authorizations WHERE chain_id = ? AND transfer_id IS NULL AND valid_before < ?",
      args: [chainId, before],
    }),
  };
}

type Row = Readonly<Record<string, unknown>>;
const textOrNull = (value: unknown) => (value === null ? null : String(value));

const toTransferRow = (row: Row): TransferRow => ({
  id: String(row.id),
  hash: String(row.hash),
  payer: String(row.payer),
  microUsd: Number(row.micro_usd),
  block: Number(row.block),
  state: row.state === "credited" ? "credited" : row.state === "unclaimed" ? "unclaimed" : "seen",
  userId: textOrNull(row.user_id),
  credits: Number(row.credits),
  at: Number(row.at),
});

const toAuthorization = (row: Row): Authorization => ({
  payer: String(row.payer),
  nonce: String(row.nonce),
  userId: String(row.user_id),
  units: BigInt(String(row.units)),
  validBefore: Number(row.valid_before),
  hash: textOrNull(row.hash),
  transferId: textOrNull(row.transfer_id),
});
