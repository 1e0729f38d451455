// Payments that sellers have: found in the token's events, by few questions however many they are, and by its word at the end.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Hex, parseSignature, toHex } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { askAnvil } from "../../../tests/support/anvil.ts";
import { compileContract } from "../../../tests/support/solidity.ts";
import { freshAddress } from "../../../tests/support/tokens.ts";
import type { Spend } from "../spending/ledger.ts";
import { createWalletFixture, queueOf, USD, type WalletFixture } from "../wallet-fixture.test.ts";
import type { NonceQueueOptions } from "./nonce-queue-worker.ts";
import { serializePlan } from "./spend-plan.ts";

let fixture: WalletFixture;
let wallet: Awaited<ReturnType<WalletFixture["wallet"]>>;
beforeAll(async () => {
  fixture = await createWalletFixture();
}, 60_000);
beforeEach(async () => {
  fixture.rpc.pass();
  await fixture.house.kernel.database.write([
    { sql: "UPDATE wallet_spends SET state = 'failed', reason = 'CANCELLED' WHERE state = 'signed'", args: [] },
  ]);
  wallet = await fixture.wallet();
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

interface Paid {
  spend: Spend;
  nonce: Hex;
  /** What the seller does with it; gives the transaction. */
  settle(): Promise<Hex>;
}

/** A payment of one USD that the seller has got. */
async function signed(seconds = 600): Promise<Paid> {
  const { chain, usd, externalAccount, ledger, reserveSpend, reload } = fixture;
  const to = freshAddress();
  const { number, timestamp } = await chain.client.getBlock();
  const nonce = generatePrivateKey();
  const [validAfter, validBefore] = [0n, timestamp + BigInt(seconds)];
  const message = { from: externalAccount.address, to, value: USD, validAfter, validBefore, nonce };
  const signature = await externalAccount.signTypedData({
    domain: { name: "USD Coin", version: "2", chainId: 84_532, verifyingContract: usd.address },
    types: AUTHORIZATION,
    primaryType: "TransferWithAuthorization",
    message,
  });
  const plan = serializePlan({ payment: {} });
  const spend = await reserveSpend(wallet, to, { kind: "pay", plan });
  const known = { nonce, validBefore: Number(validBefore), since: Number(number) };
  expect(await ledger.recordAuthorization(spend, serializePlan({ payment: known }))).toBe(true);
  return {
    spend: await reload(spend),
    nonce,
    async settle() {
      const { abi } = await compileContract("Tokens.sol", "Stablecoin");
      const { v, r, s } = parseSignature(signature);
      const args = [externalAccount.address, to, USD, validAfter, validBefore, nonce, Number(v), r, s];
      const functionName = "transferWithAuthorization";
      const hash = await chain.client.writeContract({ address: usd.address, abi, functionName, args });
      await chain.client.waitForTransactionReceipt({ hash });
      return hash;
    },
  };
}
const field = <Name extends string, Type extends string>(name: Name, type: Type) => ({ name, type });
const AUTHORIZATION = {
  TransferWithAuthorization: [
    field("from", "address"),
    field("to", "address"),
    field("value", "uint256"),
    field("validAfter", "uint256"),
    field("validBefore", "uint256"),
    field("nonce", "bytes32"),
  ],
} as const;

async function pass(options: NonceQueueOptions = {}): Promise<{ left: boolean; asked: string[] }> {
  const before = fixture.rpc.asked.length;
  const left = await fixture.worker(options)(queueOf(wallet));
  return { left, asked: fixture.rpc.asked.slice(before).toSorted() };
}

test("one that was used is confirmed, with the transaction that the token names", async () => {
  const [one, other] = [await signed(), await signed()];
  expect(await pass()).toMatchObject({ left: true });
  const hash = await one.settle();
  expect(await pass()).toMatchObject({ left: true });
  expect(await fixture.reload(one.spend)).toMatchObject({ state: "confirmed", hash });
  expect(await fixture.reload(other.spend)).toMatchObject({ state: "signed", hash: null });
});

test("one counts when its block is as deep as is asked for", async () => {
  const { spend, settle } = await signed();
  await settle();
  expect(await pass({ confirmations: 2 })).toMatchObject({ left: true });
  await fixture.mine();
  expect(await pass({ confirmations: 2 })).toMatchObject({ left: false });
  expect(await fixture.reload(spend)).toMatchObject({ state: "confirmed" });
});

test("many are found by as few questions as one", async () => {
  const first = await signed();
  const { asked } = await pass();
  const more = await Promise.all(Array.from({ length: 30 }, () => signed()));
  expect((await pass()).asked).toEqual(asked);
  for (const { settle } of [first, ...more]) await settle();
  expect(await pass()).toEqual({ left: false, asked });
});

test("where a node tells no events the token is asked, about a few at a time, and none waits for ever", async () => {
  const paid = await Promise.all(Array.from({ length: 25 }, () => signed()));
  for (const { settle } of paid.slice(12)) await settle();
  fixture.rpc.lie("eth_getLogs", () => ({ error: { code: -32_601, message: "no such method" } }));
  const open = async () => (await fixture.ledger.listOpen(queueOf(wallet))).length;
  for (let time = 0; time < 20 && (await open()) > 12; time++) {
    const { asked } = await pass();
    expect(asked.filter((method) => method === "eth_call").length).toBeLessThanOrEqual(10);
    await fixture.mine();
  }
  for (const [at, { spend }] of paid.entries()) {
    expect(await fixture.reload(spend)).toMatchObject({ state: at < 12 ? "signed" : "confirmed" });
  }
});

test("a node that names other events is not believed", async () => {
  const { spend, nonce } = await signed();
  const word = (address: string) => `0x${"00".repeat(12)}${address.slice(2).toLowerCase()}`;
  const event = (address: string, authorizer: string, of: string) => ({
    address,
    topics: ["0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5", word(authorizer), of],
    data: "0x",
    blockNumber: "0x1",
    transactionHash: `0x${"12".repeat(32)}`,
    transactionIndex: "0x0",
    blockHash: `0x${"34".repeat(32)}`,
    logIndex: "0x0",
    removed: false,
  });
  const { usd, externalAccount } = fixture;
  const others = [
    event(freshAddress(), externalAccount.address, nonce),
    event(usd.address, freshAddress(), nonce),
    event(usd.address, externalAccount.address, `0x${"ab".repeat(32)}`),
  ];
  fixture.rpc.lie("eth_getLogs", () => ({ result: others }));
  expect(await pass()).toMatchObject({ left: true });
  expect(await fixture.reload(spend)).toMatchObject({ state: "signed" });
  // It would have been believed otherwise.
  fixture.rpc.lie("eth_getLogs", () => ({ result: [event(usd.address, externalAccount.address, nonce)] }));
  expect(await pass()).toMatchObject({ left: false });
});

// The last ones: they move the chain's clock.
test("one that nobody can use any more is given up, and one that was used at the last moment is not", async () => {
  const [unused, used] = [await signed(), await signed()];
  await used.settle();
  fixture.rpc.lie("eth_getLogs", () => ({ result: [] }));
  await askAnvil(fixture.chain, "evm_increaseTime", [600]);
  await fixture.mine();
  expect(await pass()).toMatchObject({ left: true });
  await askAnvil(fixture.chain, "evm_increaseTime", [61]);
  await fixture.mine();
  expect(await pass()).toMatchObject({ left: false });
  expect(await fixture.reload(unused.spend)).toMatchObject({ state: "failed", reason: "EXPIRED" });
  expect(await fixture.reload(used.spend)).toMatchObject({ state: "confirmed" });
});

test("one is found also after a long time in which nobody looked", async () => {
  const { spend, settle } = await signed();
  // More blocks than a node tells of at a time.
  await askAnvil(fixture.chain, "anvil_mine", [toHex(50), "0x1"]);
  const hash = await settle();
  expect(await pass({ maxBlocks: 20n })).toMatchObject({ left: false });
  expect(await fixture.reload(spend)).toMatchObject({ state: "confirmed", hash });
});
