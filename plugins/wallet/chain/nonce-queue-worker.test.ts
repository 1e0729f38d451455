// Tests the nonce queue worker with transactions that are stuck, lost or overtaken, unsigned spends, and a wrong
// signer.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Address, Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { callAnvil } from "../../../tests/support/anvil.ts";
import { freshAddress } from "../../../tests/support/tokens.ts";
import type { Signer } from "../keys/wallet-platform.ts";
import type { Spend } from "../spending/ledger.ts";
import { createWalletFixture, queueOf, USD, type WalletFixture } from "../wallet-fixture.test.ts";
import type { NonceQueueOptions } from "./nonce-queue-worker.ts";

let fixture: WalletFixture;
let wallet: Awaited<ReturnType<WalletFixture["wallet"]>>;
beforeAll(async () => {
  fixture = await createWalletFixture();
});
beforeEach(async () => {
  await fixture.automine(true);
  wallet = await fixture.wallet();
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const queue = () => queueOf(wallet);
const worker = (options: NonceQueueOptions = {}) => fixture.worker(options);
const reserveSpend = (to: Address) => fixture.reserveSpend(wallet, to);
const reload = (spend: Spend) => fixture.reload(spend);

describe("a transaction that is stuck", () => {
  test("is replaced with the same nonce and higher fees, and the money moves once", async () => {
    await fixture.automine(false);
    const to = freshAddress();
    const spend = await reserveSpend(to);
    expect(await worker()(queue())).toBe(true);
    expect(await reload(spend)).toMatchObject({ state: "sent" });
    for (let time = 0; time < 3; time++) await worker({ stuckMs: -1 })(queue());
    const attempts = await fixture.ledger.listTransactions(spend);
    expect(attempts.map(({ attempt }) => attempt)).toEqual([3, 2, 1, 0]);
    expect(new Set(attempts.map(({ nonce }) => nonce)).size).toBe(1);
    const fees = attempts.map(({ cost }) => BigInt(JSON.parse(cost).maxFeePerGas)).reverse();
    expect(fees.slice(1).every((fee, at) => fee * 10n >= (fees[at] ?? 0n) * 11n)).toBe(true);

    await fixture.mine();
    expect(await worker()(queue())).toBe(false);
    expect(await reload(spend)).toMatchObject({ state: "confirmed", hash: attempts[0]?.hash });
    expect(await fixture.usd.balanceOf(to)).toBe(USD);
  });

  test("is settled by the attempt that was mined", async () => {
    await fixture.automine(false);
    const to = freshAddress();
    const spend = await reserveSpend(to);
    await worker()(queue());
    const [first] = await fixture.ledger.listTransactions(spend);
    await fixture.mine();
    // A replacement was signed before the first attempt was seen as mined.
    await fixture.ledger.recordReplacement(await reload(spend), {
      ...(first ?? expect.unreachable()),
      hash: `0x${"ab".repeat(32)}`,
      attempt: 1,
    });
    expect(await worker()(queue())).toBe(false);
    expect(await reload(spend)).toMatchObject({ state: "confirmed", hash: first?.hash });
  });

  test("does not block later spends: their nonces are consecutive", async () => {
    await fixture.automine(false);
    const to = freshAddress();
    const spends = [await reserveSpend(to), await reserveSpend(to), await reserveSpend(to)];
    await worker()(queue());
    const nonces = await Promise.all(
      spends.map(async (spend) => (await fixture.ledger.listTransactions(spend))[0]?.nonce ?? -1),
    );
    expect(nonces.map((nonce) => nonce - (nonces[0] ?? 0))).toEqual([0, 1, 2]);
    await fixture.mine();
    expect(await worker()(queue())).toBe(false);
    expect(await fixture.usd.balanceOf(to)).toBe(3n * USD);
  });
});

test("a transaction that the node has dropped is resent unchanged", async () => {
  await fixture.automine(false);
  const to = freshAddress();
  const spend = await reserveSpend(to);
  await worker()(queue());
  const [transaction] = await fixture.ledger.listTransactions(spend);
  await callAnvil(fixture.chain, "anvil_dropTransaction", [transaction?.hash]);
  const { sql, args } = { sql: "UPDATE wallet_spends SET updated_at = 0 WHERE id = ?", args: [spend.id] };
  await fixture.server.kernel.database.write([{ sql, args }]);
  await worker()(queue());
  await fixture.mine();
  await worker()(queue());
  expect(await reload(spend)).toMatchObject({ state: "confirmed", hash: transaction?.hash });
  expect(await fixture.ledger.listTransactions(spend)).toHaveLength(1);
});

test("a nonce that another program used ends the spend without a second payment", async () => {
  await fixture.automine(false);
  const to = freshAddress();
  const spend = await reserveSpend(to);
  await worker()(queue());
  const [transaction] = await fixture.ledger.listTransactions(spend);
  await callAnvil(fixture.chain, "anvil_dropTransaction", [transaction?.hash]);
  const raw = await fixture.externalAccount.signTransaction({
    type: "eip1559",
    chainId: 84_532,
    nonce: transaction?.nonce ?? -1,
    to,
    gas: 21_000n,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 10n ** 10n,
  });
  await fixture.chain.client.sendRawTransaction({ serializedTransaction: raw });
  await fixture.mine();
  // Not at once, because the node may lag.
  expect(await worker()(queue())).toBe(true);
  expect(await reload(spend)).toMatchObject({ state: "sent" });
  expect(await worker({ foreignNonceMs: -1 })(queue())).toBe(false);
  expect(await reload(spend)).toMatchObject({ state: "failed", reason: "NONCE_USED" });
  expect(await fixture.usd.balanceOf(to)).toBe(0n);
});

test("a spend that stays unsigned for too long expires", async () => {
  const spend = await reserveSpend(freshAddress());
  expect(await worker({ reservationTtlMs: -1 })(queue())).toBe(false);
  expect(await reload(spend)).toMatchObject({ state: "failed", reason: "EXPIRED", hash: null });
});

test("a spend is cancelled if its wallet has left the account", async () => {
  const spend = await reserveSpend(freshAddress());
  await fixture.server.kernel.database.write([fixture.wallets.disownStatement(wallet.userId)]);
  expect(await worker()(queue())).toBe(false);
  expect(await reload(spend)).toMatchObject({ state: "failed", reason: "CANCELLED" });
});

test("a transaction signed by another key is neither stored nor sent", async () => {
  const to = freshAddress();
  const spend = await reserveSpend(to);
  const thief = privateKeyToAccount(generatePrivateKey());
  const lying = async (): Promise<Signer> => ({
    address: wallet.address as Address,
    signTransaction: (transaction) => thief.signTransaction(transaction),
    signTypedData: async () => "0x" as Hex,
  });
  expect(fixture.worker({}, lying)(queue())).rejects.toThrow(/another key/);
  expect(await fixture.ledger.listTransactions(spend)).toEqual([]);
  await worker({ reservationTtlMs: -1 })(queue());
});

test("two workers at once sign each spend once", async () => {
  const to = freshAddress();
  const spends = [await reserveSpend(to), await reserveSpend(to), await reserveSpend(to)];
  await Promise.allSettled([worker()(queue()), worker()(queue()), worker()(queue())]);
  while (await worker()(queue()));
  for (const spend of spends) expect(await reload(spend)).toMatchObject({ state: "confirmed" });
  expect(await fixture.usd.balanceOf(to)).toBe(3n * USD);
});
