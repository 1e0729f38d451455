// Finds transfers to the operator's address: by reading the logs of new blocks, and by the hash of a transaction that a person
// names. Only blocks that are deep enough count, so that a replaced block changes nothing.

import type { Hex } from "viem";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { DAY, SECOND } from "../../../src/kernel/util/time.ts";
import type { CreditTransfers, PricedTransfer } from "./credit-transfers.ts";
import type { TokenFacts, Transfer, TransferReader } from "./transfer-reader.ts";
import type { TransferRow, TransferRows } from "./transfer-rows.ts";

interface Deps extends Pick<Kernel, "database" | "log"> {
  rows: TransferRows;
  reader: TransferReader;
  credits: CreditTransfers;
  token(): Promise<TokenFacts>;
  confirmations: number;
}

/** Blocks per query for logs: public nodes allow that many. */
const BLOCKS_PER_QUERY = 2_000;
/** The rest follows in the next run. */
const QUERIES_PER_RUN = 20;
/** Nodes behind one address may be some blocks behind each other, so the last ones are read again. */
const OVERLAP_BLOCKS = 100;
/** A billion USD. Larger amounts are no payments, and sums of them would leave the range of exact numbers. */
const MAX_MICRO_USD = 1e15;
const FORGET_SECONDS = (7 * DAY) / SECOND;

export type Transfers = ReturnType<typeof createTransfers>;

export function createTransfers({ database, log, rows, reader, credits, token, confirmations }: Deps) {
  const deepest = (head: number) => head - confirmations + 1;

  async function priced(transfers: readonly Transfer[]): Promise<PricedTransfer[]> {
    if (transfers.length === 0) return [];
    const { decimals } = await token();
    return transfers.flatMap(({ units, ...transfer }) => {
      const microUsd = Number((units * 1_000_000n) / 10n ** BigInt(decimals));
      if (microUsd <= 0) return [];
      if (microUsd <= MAX_MICRO_USD) return [{ ...transfer, microUsd }];
      log.warn("a transfer of more than a billion USD is no payment", { transaction: transfer.hash });
      return [];
    });
  }

  async function take(transfers: readonly PricedTransfer[], final: number): Promise<void> {
    for (const transfer of transfers) {
      if (transfer.block <= final) await credits.settle(transfer);
      else await database.write([rows.foundStatement({ ...transfer, state: "seen", at: Date.now() })]);
    }
  }

  return {
    /** Reads the blocks since the last run, and credits what is final. */
    async watch(): Promise<void> {
      const head = await reader.head();
      const final = deepest(head);
      if (final < 0) return;
      const done = await rows.progress();
      if (done === undefined) {
        // What was paid before is found by its transaction.
        await database.write(rows.progressStatements(final));
        return;
      }
      let from = Math.max(0, Math.min(done, final) + 1 - OVERLAP_BLOCKS);
      for (let query = 0; query < QUERIES_PER_RUN && from <= head; query++) {
        const to = Math.min(from + BLOCKS_PER_QUERY - 1, head);
        await take(await priced(await reader.inBlocks(from, to)), final);
        await database.write(rows.progressStatements(Math.min(to, final)));
        from = to + 1;
      }
      for (const row of await rows.claimable()) await credits.settle({ ...row, hash: row.hash as Hex });
      // What an expired authorization has paid is read by now.
      if (from > head)
        await database.write([rows.forgetExpiredStatement(Math.floor(Date.now() / SECOND) - FORGET_SECONDS)]);
    },

    /**
     * The transfers of a transaction, credited if they are final. Throws 404 `TRANSACTION_NOT_FOUND` while no block has it,
     * and 400 `NO_TRANSFER` if it moved nothing to the operator's address in this token.
     */
    async lookUp(hash: Hex): Promise<TransferRow[]> {
      const [head, facts] = await Promise.all([reader.head(), reader.ofTransaction(hash)]);
      if (!facts) {
        const text =
          "No block of this chain has this transaction yet. Check the network and the hash, or try again when it is mined.";
        throw new AppError(404, "TRANSACTION_NOT_FOUND", text);
      }
      const transfers = facts.isSuccess ? await priced(facts.transfers) : [];
      if (transfers.length === 0) {
        const text = facts.isSuccess
          ? "This transaction moves none of the stablecoin to the address for payments. Check the token and the recipient."
          : "This transaction has failed, so nothing was paid.";
        throw new AppError(400, "NO_TRANSFER", text);
      }
      await take(transfers, deepest(head));
      const found = await Promise.all(transfers.map(({ id }) => rows.find(id)));
      return found.filter((row) => row !== undefined);
    },
  };
}
