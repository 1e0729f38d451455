// Gives the credits of final transfers to their accounts: to the one that gave the authorization, else to the one whose wallet
// paid. Each transfer counts once, to the micro-dollar.

import { GuardFailed } from "../../../src/kernel/database/database.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { createKeyedQueue } from "../../../src/kernel/util/keyed-queue.ts";
import { MICRO_USD_PER_CREDIT } from "../../ai/index.ts";
import type { auth } from "../../auth/index.ts";
import type { PaymentNews } from "../payment-news.ts";
import { type Payment, paymentStatements } from "../payment-rows.ts";
import type { Transfer, TransferReader } from "./transfer-reader.ts";
import type { Authorization, TransferRow, TransferRows } from "./transfer-rows.ts";

interface Deps extends Pick<Kernel, "database" | "log"> {
  rows: TransferRows;
  reader: Pick<TransferReader, "ofTransaction">;
  accounts: Pick<ServiceOf<typeof auth>, "users" | "mails" | "findWalletOwner">;
  news: PaymentNews;
  /** Micro-USD of 100 credits. */
  price: number;
}

/** A transfer with its amount in micro-USD. */
export type PricedTransfer = Omit<Transfer, "units"> & { microUsd: number };

export type CreditTransfers = ReturnType<typeof createCreditTransfers>;

const ATTEMPTS = 3;

export function createCreditTransfers(deps: Deps) {
  const { database, log, rows, reader, accounts, news, price } = deps;
  const { users, mails, findWalletOwner } = accounts;
  const inQueue = createKeyedQueue();

  /** The authorization that made this transfer, if an account has given it here. */
  async function authorizationOf({ id, hash, payer }: PricedTransfer): Promise<Authorization | undefined> {
    const open = await rows.openAuthorizations(payer);
    if (open.length === 0) return undefined;
    const facts = await reader.ofTransaction(hash);
    // The order of a wallet's authorizations in a transaction is that of the transfers that they make.
    const nonces: string[] =
      facts?.authorizations.filter((used) => used.payer === payer).map(({ nonce }) => nonce) ?? [];
    const units = facts?.transfers.find((one) => one.id === id)?.units;
    return open
      .filter((one) => nonces.includes(one.nonce) && one.units === units)
      .toSorted((a, b) => nonces.indexOf(a.nonce) - nonces.indexOf(b.nonce))[0];
  }

  async function credit(transfer: PricedTransfer, at: number): Promise<boolean> {
    const authorization = await authorizationOf(transfer);
    const userId = authorization?.userId ?? (await findWalletOwner(transfer.payer));
    const user = userId === undefined ? undefined : await users.byId(userId);
    if (!user) {
      await database.write([rows.foundStatement({ ...transfer, state: "unclaimed", at })]);
      log.warn("stablecoin came from a wallet that no account has proven to be its own; it is credited once one does", {
        transaction: transfer.hash,
        payer: transfer.payer,
      });
      return false;
    }
    const worthMicroUsd = worthOf(transfer.microUsd, price);
    const restBefore = await rows.restOf(user.id);
    const total = restBefore + worthMicroUsd;
    const credits = Math.floor(total / MICRO_USD_PER_CREDIT);
    const restAfter = total % MICRO_USD_PER_CREDIT;
    const payment: Payment = {
      ...{ id: transfer.id, userId: user.id, kind: "credits", credits, at },
      ...{ amount: transfer.microUsd, currency: "usdc" },
    };
    await database.write([
      ...rows.creditedStatements(
        { ...transfer, at },
        { userId: user.id, worthMicroUsd, credits, restBefore, restAfter },
      ),
      ...(authorization ? rows.usedStatements(authorization, transfer.id) : []),
      ...paymentStatements(payment, users.invalidate),
      ...news(user, payment),
      ...mails.creditsBoughtStatements(user, credits, transfer.microUsd),
    ]);
    return true;
  }

  async function settleNow(transfer: PricedTransfer): Promise<TransferRow | undefined> {
    for (let attempt = 1; ; attempt++) {
      const row = await rows.find(transfer.id);
      if (row?.state === "credited") return row;
      try {
        await credit(transfer, row?.at ?? Date.now());
        return await rows.find(transfer.id);
      } catch (error) {
        // Another process has credited this or another payment of the account meanwhile.
        if (!(error instanceof GuardFailed) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  return {
    /** Credits a transfer that is final, or stores it as unclaimed; one that is credited stays as it is. */
    settle: (transfer: PricedTransfer) => inQueue("", () => settleNow(transfer)),
  };
}

/** The model use in micro-USD that an amount in micro-USD buys, at a price of 100 credits in micro-USD. */
export const worthOf = (microUsd: number, price: number): number =>
  Number((BigInt(microUsd) * 100n * BigInt(MICRO_USD_PER_CREDIT)) / BigInt(price));
