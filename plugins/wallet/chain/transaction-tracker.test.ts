// Tests the nonce queue with wrong or late responses of nodes: no spend fails that may have moved money, and fees stay
// within their limits.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { encodeFunctionData, toHex } from "viem";
import { HOUR, MINUTE } from "../../../src/kernel/util/time.ts";
import { callAnvil } from "../../../tests/support/anvil.ts";
import { insertUser } from "../../../tests/support/records.ts";
import { freshAddress } from "../../../tests/support/tokens.ts";
import type { Spend, Transaction } from "../spending/ledger.ts";
import { createWalletFixture, queueOf, USD, type WalletFixture } from "../wallet-fixture.test.ts";
import type { NonceQueueOptions } from "./nonce-queue-worker.ts";
import { serializePlan } from "./spend-plan.ts";
import { TOKEN_ABI } from "./token-contract.ts";

let fixture: WalletFixture;
let wallet: Awaited<ReturnType<WalletFixture["wallet"]>>;
beforeAll(async () => {
  fixture = await createWalletFixture();
});
beforeEach(async () => {
  fixture.rpc.pass();
  await fixture.automine(true);
  wallet = await fixture.wallet();
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const queue = () => queueOf(wallet);
const balanceOf = (to: string) => fixture.usd.balanceOf(to);

/** Uses this nonce for another transaction, as a second program with the same key would, and mines it. */
async function useNonceElsewhere({ nonce, hash }: Transaction): Promise<void> {
  const { chain, externalAccount, mine } = fixture;
  await callAnvil(chain, "anvil_dropTransaction", [hash]);
  const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 10n };
  const transaction = { type: "eip1559", chainId: 84_532, nonce, to: freshAddress(), gas: 21_000n, ...fees } as const;
  await chain.client.sendRawTransaction({ serializedTransaction: await externalAccount.signTransaction(transaction) });
  await mine();
}

describe("a used nonce", () => {
  test("with a late receipt is the spend's own, however old the spend is", async () => {
    const { rpc, worker, reserveSpend, reload } = fixture;
    await fixture.automine(false);
    const to = freshAddress();
    const spend = await reserveSpend(wallet, to);
    await worker()(queue());
    await fixture.mine();
    // A lagging node has no receipt yet; the transaction was signed an hour ago.
    rpc.respondWith("eth_getTransactionReceipt", () => ({ result: null }));
    let time = Date.now() + HOUR;
    const later = worker({ now: () => time });
    expect(await later(queue())).toBe(true);
    time += MINUTE - 1;
    expect(await later(queue())).toBe(true);
    expect(await reload(spend)).toMatchObject({ state: "sent", reason: null });
    rpc.pass();
    expect(await later(queue())).toBe(false);
    expect(await reload(spend)).toMatchObject({ state: "confirmed" });
    expect(await balanceOf(to)).toBe(USD);
  });

  test("without a receipt ends the spend after a minute, also across restarts, and not before", async () => {
    const { worker, reserveSpend, reload, transactionOf } = fixture;
    await fixture.automine(false);
    const to = freshAddress();
    const spend = await reserveSpend(wallet, to);
    await worker()(queue());
    await useNonceElsewhere(await transactionOf(spend));
    let time = Date.now() + HOUR;
    expect(await worker({ now: () => time })(queue())).toBe(true);
    const since = time;
    expect(await reload(spend)).toMatchObject({ state: "sent", nonceUsedSince: since });
    time += MINUTE - 1;
    expect(await worker({ now: () => time })(queue())).toBe(true);
    expect(await reload(spend)).toMatchObject({ nonceUsedSince: since });
    time += 1;
    expect(await worker({ now: () => time })(queue())).toBe(false);
    expect(await reload(spend)).toMatchObject({ state: "failed", reason: "NONCE_USED" });
    expect(await balanceOf(to)).toBe(0n);
  });

  test("that another node reports as unused restarts the minute", async () => {
    const { rpc, worker, reserveSpend, reload } = fixture;
    await fixture.automine(false);
    const to = freshAddress();
    const spend = await reserveSpend(wallet, to);
    await worker()(queue());
    let time = Date.now();
    const later = worker({ now: () => time, stuckMs: Number.MAX_SAFE_INTEGER });
    rpc.respondWith("eth_getTransactionCount", ({ result }) => ({ result: toHex(Number(result) + 1) }));
    await later(queue());
    expect(await reload(spend)).toMatchObject({ nonceUsedSince: time });
    rpc.pass();
    await later(queue());
    expect(await reload(spend)).toMatchObject({ nonceUsedSince: null });
    rpc.respondWith("eth_getTransactionCount", ({ result }) => ({ result: toHex(Number(result) + 1) }));
    time += 2 * MINUTE;
    await later(queue());
    expect(await reload(spend)).toMatchObject({ state: "sent", nonceUsedSince: time });
    rpc.pass();
    await fixture.mine();
    expect(await later(queue())).toBe(false);
    expect(await balanceOf(to)).toBe(USD);
  });

  test("is read at one given block", async () => {
    const { rpc, worker, reserveSpend } = fixture;
    const blocks: unknown[] = [];
    rpc.respondWith("eth_getTransactionCount", ({ result, params }) => {
      blocks.push(params[1]);
      return { result };
    });
    await reserveSpend(wallet, freshAddress());
    await worker()(queue());
    expect(blocks.at(-1)).toMatch(/^0x[0-9a-f]+$/);
  });

  test("is not read from the pending count: a wrong pending count leaves no gap", async () => {
    const { rpc, worker, reserveSpend, reload } = fixture;
    rpc.respondWith("eth_getTransactionCount", ({ result, params }) =>
      params[1] === "pending" ? { result: toHex(Number(result) + 7) } : { result },
    );
    const to = freshAddress();
    const spend = await reserveSpend(wallet, to);
    expect(await worker()(queue())).toBe(false);
    expect(await reload(spend)).toMatchObject({ state: "confirmed" });
  });

  test("that is reported too high leaves a gap, which is filled: nothing waits forever or is paid twice", async () => {
    const { rpc, worker, reserveSpend, reload } = fixture;
    rpc.respondWith("eth_getTransactionCount", ({ result, params }) =>
      params[1] === "latest" ? { result: toHex(Number(result) + 3) } : { result },
    );
    const [one, other] = [freshAddress(), freshAddress()];
    const [first, second] = [await reserveSpend(wallet, one), await reserveSpend(wallet, other)];
    expect(await worker()(queue())).toBe(true);
    rpc.pass();
    // Not at once, because the node may lag.
    for (let round = 0; round < 3; round++) await worker()(queue());
    expect(await reload(first)).toMatchObject({ state: "sent" });
    const later = worker({ now: () => Date.now() + MINUTE });
    for (let round = 0; round < 5; round++) await later(queue());
    for (const spend of [first, second]) expect(await reload(spend)).toMatchObject({ state: "confirmed" });
    expect([await balanceOf(one), await balanceOf(other)]).toEqual([USD, USD]);
    // The next spend continues with the next nonce.
    const third = await reserveSpend(wallet, one);
    expect(await worker()(queue())).toBe(false);
    expect(await reload(third)).toMatchObject({ state: "confirmed" });
  });

  test("is not taken again if a lagging node reports it as unused", async () => {
    const { rpc, worker, reserveSpend, reload } = fixture;
    const first = await reserveSpend(wallet, freshAddress());
    await worker()(queue());
    expect(await reload(first)).toMatchObject({ state: "confirmed" });
    rpc.respondWith("eth_getTransactionCount", ({ result, params }) =>
      params[1] === "latest" ? { result: toHex(Number(result) - 1) } : { result },
    );
    const second = await reserveSpend(wallet, freshAddress());
    expect(await worker()(queue())).toBe(false);
    expect(await reload(second)).toMatchObject({ state: "confirmed" });
  });
});

describe("a receipt", () => {
  test.each<[string, object]>([
    ["of another transaction", { transactionHash: `0x${"12".repeat(32)}` }],
    ["without a status", { status: null }],
    ["with an unknown status", { status: "0x2" }],
  ])("%s settles nothing", async (_, wrong) => {
    const { rpc, worker, reserveSpend, reload } = fixture;
    const to = freshAddress();
    const spend = await reserveSpend(wallet, to);
    rpc.respondWith("eth_getTransactionReceipt", ({ result }) => ({ result: { ...(result as object), ...wrong } }));
    expect(worker()(queue())).rejects.toMatchObject({ status: 500, code: "CHAIN_UNAVAILABLE" });
    await worker()(queue()).catch(() => undefined);
    expect(await reload(spend)).toMatchObject({ state: "sent" });
    rpc.pass();
    expect(await worker()(queue())).toBe(false);
    expect(await reload(spend)).toMatchObject({ state: "confirmed" });
    expect(await balanceOf(to)).toBe(USD);
  });

  test("settles the spend once its block has the required depth", async () => {
    const { worker, reserveSpend, reload, mine } = fixture;
    const spend = await reserveSpend(wallet, freshAddress());
    const patient = worker({ confirmations: 3 });
    for (let depth = 1; depth < 3; depth++) {
      expect(await patient(queue())).toBe(true);
      expect(await reload(spend)).toMatchObject({ state: "sent" });
      await mine();
    }
    expect(await patient(queue())).toBe(false);
    expect(await reload(spend)).toMatchObject({ state: "confirmed" });
  });

  test("gives the fee of the spend, which is what the wallet paid", async () => {
    const { chain, worker, reserveSpend, reload, externalAccount } = fixture;
    const before = await chain.client.getBalance({ address: externalAccount.address });
    const spend = await reserveSpend(wallet, freshAddress());
    await worker()(queue());
    const { fee } = await reload(spend);
    expect(BigInt(fee ?? 0)).toBeGreaterThan(0n);
    expect(before - (await chain.client.getBalance({ address: externalAccount.address }))).toBe(BigInt(fee ?? 0));
  });
});

describe("fees", () => {
  test("above the limit fail the spend: nothing is signed", async () => {
    const { worker, reserveSpend, reload, ledger } = fixture;
    for (const options of [{ maxFee: 1_000_000_000n }, { maxGas: 21_000n }]) {
      const spend = await reserveSpend(wallet, freshAddress());
      expect(await worker(options)(queue())).toBe(false);
      expect(await reload(spend)).toMatchObject({ state: "failed", reason: "FEES_TOO_HIGH", hash: null });
      expect(await ledger.listTransactions(spend)).toEqual([]);
    }
  });

  async function createStuck(options: NonceQueueOptions = {}): Promise<{ spend: Spend; first: Transaction }> {
    await fixture.automine(false);
    const spend = await fixture.reserveSpend(wallet, freshAddress());
    await fixture.worker(options)(queue());
    return { spend, first: await fixture.transactionOf(spend) };
  }
  const maxOf = ({ cost }: Transaction) => {
    const { gas, maxFeePerGas } = JSON.parse(cost) as { gas: string; maxFeePerGas: string };
    return BigInt(gas) * BigInt(maxFeePerGas);
  };
  async function settle(spend: Spend): Promise<void> {
    await fixture.mine();
    await fixture.worker()(queue());
    expect(await fixture.reload(spend)).toMatchObject({ state: "confirmed" });
  }

  test("of a stuck transaction are raised up to the limit", async () => {
    const { spend, first } = await createStuck();
    const maxFee = (maxOf(first) * 3n) / 2n;
    for (let round = 0; round < 4; round++) await fixture.worker({ stuckMs: -1, maxFee })(queue());
    // A quarter more is within the limit, another quarter is not.
    expect(await fixture.ledger.listTransactions(spend)).toHaveLength(2);
    await settle(spend);
  });

  test("of a stuck transaction are raised up to the wallet's ether; then the newest affordable attempt is resent", async () => {
    const { chain, externalAccount, rpc, ledger, server } = fixture;
    const { spend } = await createStuck();
    await fixture.worker({ stuckMs: -1 })(queue());
    const [second, first] = await ledger.listTransactions(spend);
    if (!second || !first) return expect.unreachable();
    const initialEther = await chain.client.getBalance({ address: externalAccount.address });
    const setEther = (wei: bigint) => callAnvil(chain, "anvil_setBalance", [externalAccount.address, toHex(wei)]);
    const sent: unknown[] = [];
    rpc.respondWith("eth_sendRawTransaction", ({ result, params }) => {
      sent.push(params[0]);
      return { result };
    });
    const resendDue = { sql: "UPDATE wallet_spends SET updated_at = 0 WHERE id = ?", args: [spend.id] };
    try {
      // Enough for both attempts, and not for a third.
      await setEther(maxOf(second) + 1n);
      await server.kernel.database.write([resendDue]);
      await fixture.worker({ stuckMs: -1 })(queue());
      expect(sent).toEqual([second.raw]);
      // The newest attempt is not affordable any more.
      await setEther(maxOf(first) + 1n);
      await server.kernel.database.write([resendDue]);
      await fixture.worker({ stuckMs: -1 })(queue());
      expect(sent).toEqual([second.raw, first.raw]);
      expect(await ledger.listTransactions(spend)).toHaveLength(2);
    } finally {
      await setEther(initialEther);
      rpc.pass();
    }
    await settle(spend);
  });

  test("of open transactions are set aside before another one is signed", async () => {
    const { chain, externalAccount, reload, reserveSpend, worker } = fixture;
    const { spend, first } = await createStuck();
    const next = await reserveSpend(wallet, freshAddress());
    const initialEther = await chain.client.getBalance({ address: externalAccount.address });
    await callAnvil(chain, "anvil_setBalance", [externalAccount.address, toHex((maxOf(first) * 3n) / 2n)]);
    await worker()(queue());
    expect(await reload(next)).toMatchObject({ state: "reserved" });
    await callAnvil(chain, "anvil_setBalance", [externalAccount.address, toHex(initialEther)]);
    await worker()(queue());
    expect(await reload(next)).toMatchObject({ state: "sent" });
    await settle(spend);
    expect(await reload(next)).toMatchObject({ state: "confirmed" });
  });
});

describe("after spending is switched off, or the account is disabled,", () => {
  const off = (userId: string) => ({
    sql: `INSERT INTO wallet_policies (user_id, per_transaction, per_day, enabled, updated_at) VALUES (?1, 1, 1, 0, 0)
      ON CONFLICT (user_id) DO UPDATE SET enabled = 0`,
    args: [userId],
  });
  const disabled = (userId: string) => ({
    sql: `UPDATE users SET disabled_at = 1 WHERE id = ?`,
    args: [userId],
  });
  const insertOwner = () => insertUser(fixture.server.kernel.database, { id: String(wallet.userId) });

  test.each([
    ["switched off", off, "POLICY_DENIED"],
    ["disabled", disabled, "CANCELLED"],
  ] as const)("a reserved spend is not signed: %s", async (_, by, reason) => {
    const { server, reload, reserveSpend, worker } = fixture;
    await insertOwner();
    const to = freshAddress();
    const spend = await reserveSpend(wallet, to);
    await server.kernel.database.write([by(wallet.userId)]);
    expect(await worker()(queue())).toBe(false);
    expect(await reload(spend)).toMatchObject({ state: "failed", reason, hash: null });
    expect(await balanceOf(to)).toBe(0n);
  });

  test.each([
    ["switched off", off],
    ["disabled", disabled],
  ] as const)("a stuck transaction is neither replaced nor resent: %s", async (_, by) => {
    const { server, ledger, rpc, reserveSpend, worker } = fixture;
    await fixture.automine(false);
    await insertOwner();
    const spend = await reserveSpend(wallet, freshAddress());
    await worker()(queue());
    await server.kernel.database.write([
      by(wallet.userId),
      { sql: "UPDATE wallet_spends SET updated_at = 0 WHERE id = ?", args: [spend.id] },
    ]);
    const before = rpc.requestedMethods.filter((method) => method === "eth_sendRawTransaction").length;
    expect(await worker({ stuckMs: -1 })(queue())).toBe(true);
    expect(await worker()(queue())).toBe(true);
    expect(await ledger.listTransactions(spend)).toHaveLength(1);
    expect(rpc.requestedMethods.filter((method) => method === "eth_sendRawTransaction")).toHaveLength(before);
    // A replacement that was signed at the same time is not stored.
    const first = await fixture.transactionOf(spend);
    const replacement = { ...first, hash: `0x${"ab".repeat(32)}`, attempt: 1 };
    expect(await ledger.recordReplacement(await fixture.reload(spend), replacement)).toBe(false);
    // What was sent before may still be mined, and is settled.
    await fixture.mine();
    expect(await worker()(queue())).toBe(false);
    expect(await fixture.reload(spend)).toMatchObject({ state: "confirmed" });
  });
});

test("a transaction other than the requested one is refused, although the platform signed it", async () => {
  const { externalAccount, ledger, reserveSpend, worker } = fixture;
  const to = freshAddress();
  const spend = await reserveSpend(wallet, to);
  for (const other of [{ value: 1n }, { to: freshAddress() }, { data: "0x" as const }, { gas: 900_000n }]) {
    const lying = worker({}, async () => ({
      address: externalAccount.address,
      signTransaction: (transaction) => externalAccount.signTransaction({ ...transaction, ...other }),
      signTypedData: async () => "0x" as const,
    }));
    expect(lying(queue())).rejects.toThrow(/not the transaction/);
    await lying(queue()).catch(() => undefined);
  }
  expect(await ledger.listTransactions(spend)).toEqual([]);
  await worker({ reservationTtlMs: -1 })(queue());
});

test("a trade that is approved late does not overwrite the allowance of a newer one", async () => {
  const { server, reload, reserveSpend, worker, ledger, usd } = fixture;
  const [one, other] = [freshAddress(), freshAddress()];
  const approve = (spender: `0x${string}`, units: bigint) => ({
    to: usd.address,
    data: encodeFunctionData({ abi: TOKEN_ABI, functionName: "approve", args: [spender, units] }),
  });
  const trade = (spender: `0x${string}`) => ({
    kind: "trade" as const,
    recipient: null,
    plan: serializePlan({ calls: [approve(spender, USD), approve(spender, 0n)] }),
  });
  // The older trade waited for approval when the newer one started.
  const older = await reserveSpend(wallet, one, trade(one));
  const newer = await reserveSpend(wallet, one, trade(other));
  const { database } = server.kernel;
  const setState = (state: string) =>
    database.write([{ sql: "UPDATE wallet_spends SET state = ? WHERE id = ?", args: [state, older.id] }]);
  await setState("waiting");
  await fixture.automine(false);
  await worker()(queue());
  expect(await reload(newer)).toMatchObject({ state: "sent", step: 0 });
  await setState("reserved");
  await worker()(queue());
  expect(await ledger.listTransactions(await reload(older))).toEqual([]);
  await fixture.automine(true);
  await fixture.mine();
  while (await worker()(queue()));
  for (const spend of [older, newer]) expect(await reload(spend)).toMatchObject({ state: "confirmed" });
  const nonces = await database.read(
    "SELECT spend_id FROM wallet_transactions WHERE address = ? ORDER BY nonce DESC LIMIT 4",
    [wallet.address],
  );
  expect(nonces.rows.map(({ spend_id }) => spend_id)).toEqual([older.id, older.id, newer.id, newer.id]);
});

test("a swap that waited past its deadline expires unsigned", async () => {
  const { reload, reserveSpend, worker, ledger } = fixture;
  const [to, data] = [freshAddress(), "0x"] as const;
  const validUntil = Math.floor(Date.now() / 1000) - 1;
  const spend = await reserveSpend(wallet, to, { plan: serializePlan({ calls: [{ to, data }], validUntil }) });
  expect(await worker()(queue())).toBe(false);
  expect(await reload(spend)).toMatchObject({ state: "failed", reason: "EXPIRED" });
  expect(await ledger.listTransactions(spend)).toEqual([]);
});

test("an idle queue sends the same number of chain requests for many open spends as for one", async () => {
  const { rpc, reserveSpend, worker } = fixture;
  await fixture.automine(false);
  await reserveSpend(wallet, freshAddress());
  await worker()(queue());
  const countRequests = async () => {
    const before = rpc.requestedMethods.length;
    await worker()(queue());
    return rpc.requestedMethods.length - before;
  };
  const requestsForOne = await countRequests();
  for (let count = 0; count < 20; count++) await reserveSpend(wallet, freshAddress());
  await worker()(queue());
  expect(await countRequests()).toBe(requestsForOne);
  await fixture.mine();
  await worker()(queue());
});
