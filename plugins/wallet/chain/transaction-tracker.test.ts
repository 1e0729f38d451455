// What a lane makes of what it is told: nothing is called failed that may have moved money, nor paid for without a bound.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { encodeFunctionData, toHex } from "viem";
import { askAnvil } from "../../../tests/support/anvil.ts";
import { freshAddress } from "../../../tests/support/tokens.ts";
import type { Spend, Transaction } from "../spending/ledger.ts";
import { createWalletFixture, queueOf, USD, type WalletFixture } from "../wallet-fixture.test.ts";
import type { NonceQueueOptions } from "./nonce-queue-worker.ts";
import { serializePlan } from "./spend-plan.ts";
import { TOKEN_ABI } from "./token-contract.ts";

const MINUTE = 60_000;
let fixture: WalletFixture;
let wallet: Awaited<ReturnType<WalletFixture["wallet"]>>;
beforeAll(async () => {
  fixture = await createWalletFixture();
}, 60_000);
beforeEach(async () => {
  fixture.rpc.pass();
  await fixture.automine(true);
  wallet = await fixture.wallet();
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const queue = () => queueOf(wallet);
const balanceOf = (to: string) => fixture.usd.balanceOf(to);

/** Anything else with this nonce, by a program that has the same key; mined when this is over. */
async function usedElsewhere({ nonce, hash }: Transaction): Promise<void> {
  const { chain, externalAccount, mine } = fixture;
  await askAnvil(chain, "anvil_dropTransaction", [hash]);
  const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 10n };
  const transaction = { type: "eip1559", chainId: 84_532, nonce, to: freshAddress(), gas: 21_000n, ...fees } as const;
  await chain.client.sendRawTransaction({ serializedTransaction: await externalAccount.signTransaction(transaction) });
  await mine();
}

describe("a nonce that is used", () => {
  test("by a transaction whose receipt comes late is the spend's own, however old that is", async () => {
    const { rpc, worker, reserveSpend, reload } = fixture;
    await fixture.automine(false);
    const to = freshAddress();
    const spend = await reserveSpend(wallet, to);
    await worker()(queue());
    await fixture.mine();
    // A node that is behind has no receipt yet; the transaction was signed an hour ago.
    rpc.lie("eth_getTransactionReceipt", () => ({ result: null }));
    let time = Date.now() + 60 * MINUTE;
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

  test("by somebody else ends the spend after a minute of knowing it, over restarts, and not before", async () => {
    const { worker, reserveSpend, reload, transactionOf } = fixture;
    await fixture.automine(false);
    const to = freshAddress();
    const spend = await reserveSpend(wallet, to);
    await worker()(queue());
    await usedElsewhere(await transactionOf(spend));
    let time = Date.now() + 60 * MINUTE;
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

  test("by the word of one node, and not of the next, is not used: the minute begins anew", async () => {
    const { rpc, worker, reserveSpend, reload } = fixture;
    await fixture.automine(false);
    const to = freshAddress();
    const spend = await reserveSpend(wallet, to);
    await worker()(queue());
    let time = Date.now();
    const later = worker({ now: () => time, stuckMs: Number.MAX_SAFE_INTEGER });
    rpc.lie("eth_getTransactionCount", ({ result }) => ({ result: toHex(Number(result) + 1) }));
    await later(queue());
    expect(await reload(spend)).toMatchObject({ nonceUsedSince: time });
    rpc.pass();
    await later(queue());
    expect(await reload(spend)).toMatchObject({ nonceUsedSince: null });
    rpc.lie("eth_getTransactionCount", ({ result }) => ({ result: toHex(Number(result) + 1) }));
    time += 2 * MINUTE;
    await later(queue());
    expect(await reload(spend)).toMatchObject({ state: "sent", nonceUsedSince: time });
    rpc.pass();
    await fixture.mine();
    expect(await later(queue())).toBe(false);
    expect(await balanceOf(to)).toBe(USD);
  });

  test("is read with the nonces of one block", async () => {
    const { rpc, worker, reserveSpend } = fixture;
    const asked: unknown[] = [];
    rpc.lie("eth_getTransactionCount", ({ result, params }) => {
      asked.push(params[1]);
      return { result };
    });
    await reserveSpend(wallet, freshAddress());
    await worker()(queue());
    expect(asked.at(-1)).toMatch(/^0x[0-9a-f]+$/);
  });

  test("is not what a node takes for pending: a wrong word there leaves no gap", async () => {
    const { rpc, worker, reserveSpend, reload } = fixture;
    rpc.lie("eth_getTransactionCount", ({ result, params }) =>
      params[1] === "pending" ? { result: toHex(Number(result) + 7) } : { result },
    );
    const to = freshAddress();
    const spend = await reserveSpend(wallet, to);
    expect(await worker()(queue())).toBe(false);
    expect(await reload(spend)).toMatchObject({ state: "confirmed" });
  });

  test("by nobody, before what was signed after a wrong word, is filled: nothing waits for ever, and nothing is paid twice", async () => {
    const { rpc, worker, reserveSpend, reload } = fixture;
    rpc.lie("eth_getTransactionCount", ({ result, params }) =>
      params[1] === "latest" ? { result: toHex(Number(result) + 3) } : { result },
    );
    const [one, other] = [freshAddress(), freshAddress()];
    const [first, second] = [await reserveSpend(wallet, one), await reserveSpend(wallet, other)];
    expect(await worker()(queue())).toBe(true);
    rpc.pass();
    // Not at once: a node may only be behind.
    for (let time = 0; time < 3; time++) await worker()(queue());
    expect(await reload(first)).toMatchObject({ state: "sent" });
    const later = worker({ now: () => Date.now() + MINUTE });
    for (let time = 0; time < 5; time++) await later(queue());
    for (const spend of [first, second]) expect(await reload(spend)).toMatchObject({ state: "confirmed" });
    expect([await balanceOf(one), await balanceOf(other)]).toEqual([USD, USD]);
    // Whatever comes next goes on where they ended.
    const third = await reserveSpend(wallet, one);
    expect(await worker()(queue())).toBe(false);
    expect(await reload(third)).toMatchObject({ state: "confirmed" });
  });

  test("a moment ago is not taken again, where a node is behind", async () => {
    const { rpc, worker, reserveSpend, reload } = fixture;
    const first = await reserveSpend(wallet, freshAddress());
    await worker()(queue());
    expect(await reload(first)).toMatchObject({ state: "confirmed" });
    rpc.lie("eth_getTransactionCount", ({ result, params }) =>
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
    ["with a strange status", { status: "0x2" }],
  ])("%s settles nothing", async (_, wrong) => {
    const { rpc, worker, reserveSpend, reload } = fixture;
    const to = freshAddress();
    const spend = await reserveSpend(wallet, to);
    rpc.lie("eth_getTransactionReceipt", ({ result }) => ({ result: { ...(result as object), ...wrong } }));
    expect(worker()(queue())).rejects.toMatchObject({ status: 500, code: "CHAIN_UNAVAILABLE" });
    await worker()(queue()).catch(() => undefined);
    expect(await reload(spend)).toMatchObject({ state: "sent" });
    rpc.pass();
    expect(await worker()(queue())).toBe(false);
    expect(await reload(spend)).toMatchObject({ state: "confirmed" });
    expect(await balanceOf(to)).toBe(USD);
  });

  test("counts when it is as many blocks deep as is asked for", async () => {
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

  test("says what the spend took for gas, which is what the wallet has less", async () => {
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
  test("above the cap are not paid: nothing is signed", async () => {
    const { worker, reserveSpend, reload, ledger } = fixture;
    for (const options of [{ maxFee: 1_000_000_000n }, { maxGas: 21_000n }]) {
      const spend = await reserveSpend(wallet, freshAddress());
      expect(await worker(options)(queue())).toBe(false);
      expect(await reload(spend)).toMatchObject({ state: "failed", reason: "FEES_TOO_HIGH", hash: null });
      expect(await ledger.listTransactions(spend)).toEqual([]);
    }
  });

  async function stuck(options: NonceQueueOptions = {}): Promise<{ spend: Spend; first: Transaction }> {
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

  test("of what is stuck are raised up to the cap", async () => {
    const { spend, first } = await stuck();
    const maxFee = (maxOf(first) * 3n) / 2n;
    for (let time = 0; time < 4; time++) await fixture.worker({ stuckMs: -1, maxFee })(queue());
    // A quarter more is below it, and a quarter more again is not.
    expect(await fixture.ledger.listTransactions(spend)).toHaveLength(2);
    await settle(spend);
  });

  test("of what is stuck are raised up to what the wallet has; then the last that can be paid for is sent again", async () => {
    const { chain, externalAccount, rpc, ledger, house } = fixture;
    const { spend } = await stuck();
    await fixture.worker({ stuckMs: -1 })(queue());
    const [second, first] = await ledger.listTransactions(spend);
    if (!second || !first) return expect.unreachable();
    const had = await chain.client.getBalance({ address: externalAccount.address });
    const setEther = (wei: bigint) => askAnvil(chain, "anvil_setBalance", [externalAccount.address, toHex(wei)]);
    const sent: unknown[] = [];
    rpc.lie("eth_sendRawTransaction", ({ result, params }) => {
      sent.push(params[0]);
      return { result };
    });
    const long = { sql: "UPDATE wallet_spends SET updated_at = 0 WHERE id = ?", args: [spend.id] };
    try {
      // Enough for both there are, and not for a third.
      await setEther(maxOf(second) + 1n);
      await house.kernel.database.write([long]);
      await fixture.worker({ stuckMs: -1 })(queue());
      expect(sent).toEqual([second.raw]);
      // The newest can't be paid for any more.
      await setEther(maxOf(first) + 1n);
      await house.kernel.database.write([long]);
      await fixture.worker({ stuckMs: -1 })(queue());
      expect(sent).toEqual([second.raw, first.raw]);
      expect(await ledger.listTransactions(spend)).toHaveLength(2);
    } finally {
      await setEther(had);
      rpc.pass();
    }
    await settle(spend);
  });

  test("of what is under way are put aside before more is signed", async () => {
    const { chain, externalAccount, reload, reserveSpend, worker } = fixture;
    const { spend, first } = await stuck();
    const next = await reserveSpend(wallet, freshAddress());
    const had = await chain.client.getBalance({ address: externalAccount.address });
    await askAnvil(chain, "anvil_setBalance", [externalAccount.address, toHex((maxOf(first) * 3n) / 2n)]);
    await worker()(queue());
    expect(await reload(next)).toMatchObject({ state: "reserved" });
    await askAnvil(chain, "anvil_setBalance", [externalAccount.address, toHex(had)]);
    await worker()(queue());
    expect(await reload(next)).toMatchObject({ state: "sent" });
    await settle(spend);
    expect(await reload(next)).toMatchObject({ state: "confirmed" });
  });
});

describe("switched off, or disabled,", () => {
  const off = (userId: string) => ({
    sql: `INSERT INTO wallet_policies (user_id, per_transaction, per_day, enabled, updated_at) VALUES (?1, 1, 1, 0, 0)
      ON CONFLICT (user_id) DO UPDATE SET enabled = 0`,
    args: [userId],
  });
  const disabled = (userId: string) => ({
    sql: `UPDATE users SET disabled_at = 1 WHERE id = ?`,
    args: [userId],
  });
  async function withAccount(): Promise<void> {
    const sql =
      "INSERT INTO users (id, email, name, referral_code, created_at, updated_at) VALUES (?1, ?1, 'Ada', ?1, 1, 1)";
    await fixture.house.kernel.database.write([{ sql, args: [wallet.userId] }]);
  }

  test.each([
    ["switched off", off, "POLICY_DENIED"],
    ["disabled", disabled, "CANCELLED"],
  ] as const)("what is reserved is not signed: %s", async (_, by, reason) => {
    const { house, reload, reserveSpend, worker } = fixture;
    await withAccount();
    const to = freshAddress();
    const spend = await reserveSpend(wallet, to);
    await house.kernel.database.write([by(wallet.userId)]);
    expect(await worker()(queue())).toBe(false);
    expect(await reload(spend)).toMatchObject({ state: "failed", reason, hash: null });
    expect(await balanceOf(to)).toBe(0n);
  });

  test.each([
    ["switched off", off],
    ["disabled", disabled],
  ] as const)("what is stuck gets no rival, and is not sent again: %s", async (_, by) => {
    const { house, ledger, rpc, reserveSpend, worker } = fixture;
    await fixture.automine(false);
    await withAccount();
    const spend = await reserveSpend(wallet, freshAddress());
    await worker()(queue());
    await house.kernel.database.write([
      by(wallet.userId),
      { sql: "UPDATE wallet_spends SET updated_at = 0 WHERE id = ?", args: [spend.id] },
    ]);
    const before = rpc.asked.filter((method) => method === "eth_sendRawTransaction").length;
    expect(await worker({ stuckMs: -1 })(queue())).toBe(true);
    expect(await worker()(queue())).toBe(true);
    expect(await ledger.listTransactions(spend)).toHaveLength(1);
    expect(rpc.asked.filter((method) => method === "eth_sendRawTransaction")).toHaveLength(before);
    // Nor one that was signed in the same moment.
    const first = await fixture.transactionOf(spend);
    const rival = { ...first, hash: `0x${"ab".repeat(32)}`, attempt: 1 };
    expect(await ledger.recordReplacement(await fixture.reload(spend), rival)).toBe(false);
    // What is out may be mined all the same, and is known for what it is.
    await fixture.mine();
    expect(await worker()(queue())).toBe(false);
    expect(await fixture.reload(spend)).toMatchObject({ state: "confirmed" });
  });
});

test("a platform that signs something else than it was asked to is not believed", async () => {
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

test("a trade that is approved late does not take away what a newer one has been allowed", async () => {
  const { house, reload, reserveSpend, worker, ledger, usd } = fixture;
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
  // As one that waited for its owner while the newer one was begun.
  const older = await reserveSpend(wallet, one, trade(one));
  const newer = await reserveSpend(wallet, one, trade(other));
  const { database } = house.kernel;
  const be = (state: string) =>
    database.write([{ sql: "UPDATE wallet_spends SET state = ? WHERE id = ?", args: [state, older.id] }]);
  await be("waiting");
  await fixture.automine(false);
  await worker()(queue());
  expect(await reload(newer)).toMatchObject({ state: "sent", step: 0 });
  await be("reserved");
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

test("a swap that had to wait until its time was over says so, and is not signed", async () => {
  const { reload, reserveSpend, worker, ledger } = fixture;
  const [to, data] = [freshAddress(), "0x"] as const;
  const validUntil = Math.floor(Date.now() / 1000) - 1;
  const spend = await reserveSpend(wallet, to, { plan: serializePlan({ calls: [{ to, data }], validUntil }) });
  expect(await worker()(queue())).toBe(false);
  expect(await reload(spend)).toMatchObject({ state: "failed", reason: "EXPIRED" });
  expect(await ledger.listTransactions(spend)).toEqual([]);
});

test("an idle lane with much under way asks the chain no more than with little", async () => {
  const { rpc, reserveSpend, worker } = fixture;
  await fixture.automine(false);
  await reserveSpend(wallet, freshAddress());
  await worker()(queue());
  const asked = async () => {
    const before = rpc.asked.length;
    await worker()(queue());
    return rpc.asked.length - before;
  };
  const little = await asked();
  for (let count = 0; count < 20; count++) await reserveSpend(wallet, freshAddress());
  await worker()(queue());
  expect(await asked()).toBe(little);
  await fixture.mine();
  await worker()(queue());
});
