// Tests that signed payments are found in the token's events, with few queries for many payments, and by the token's
// state after they expired.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Hex, parseSignature, toHex } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { callAnvil } from "../../../tests/support/anvil.ts";
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
});
beforeEach(async () => {
  fixture.rpc.pass();
  await fixture.server.kernel.database.write([
    { sql: "UPDATE wallet_spends SET state = 'failed', reason = 'CANCELLED' WHERE state = 'signed'", args: [] },
  ]);
  wallet = await fixture.wallet();
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

interface SignedPayment {
  spend: Spend;
  nonce: Hex;
  /** Settles the payment as the seller does; returns the transaction's hash. */
  settle(): Promise<Hex>;
}

/** A signed payment of one USD. */
async function signPayment(seconds = 600): Promise<SignedPayment> {
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
  const authorization = { nonce, validBefore: Number(validBefore), since: Number(number) };
  expect(await ledger.recordAuthorization(spend, serializePlan({ payment: authorization }))).toBe(true);
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

async function check(options: NonceQueueOptions = {}): Promise<{ hasOpen: boolean; requests: string[] }> {
  const before = fixture.rpc.requestedMethods.length;
  const hasOpen = await fixture.worker(options)(queueOf(wallet));
  return { hasOpen, requests: fixture.rpc.requestedMethods.slice(before).toSorted() };
}

test("a used payment is confirmed, with the transaction of the token's event", async () => {
  const [one, other] = [await signPayment(), await signPayment()];
  expect(await check()).toMatchObject({ hasOpen: true });
  const hash = await one.settle();
  expect(await check()).toMatchObject({ hasOpen: true });
  expect(await fixture.reload(one.spend)).toMatchObject({ state: "confirmed", hash });
  expect(await fixture.reload(other.spend)).toMatchObject({ state: "signed", hash: null });
});

test("a payment is confirmed once its block has the required depth", async () => {
  const { spend, settle } = await signPayment();
  await settle();
  expect(await check({ confirmations: 2 })).toMatchObject({ hasOpen: true });
  await fixture.mine();
  expect(await check({ confirmations: 2 })).toMatchObject({ hasOpen: false });
  expect(await fixture.reload(spend)).toMatchObject({ state: "confirmed" });
});

test("many payments need no more queries than one", async () => {
  const first = await signPayment();
  const { requests } = await check();
  const more = await Promise.all(Array.from({ length: 30 }, () => signPayment()));
  expect((await check()).requests).toEqual(requests);
  for (const { settle } of [first, ...more]) await settle();
  expect(await check()).toEqual({ hasOpen: false, requests });
});

test("without events the token's state is read, for a few payments per check, until all are checked", async () => {
  const payments = await Promise.all(Array.from({ length: 25 }, () => signPayment()));
  for (const { settle } of payments.slice(12)) await settle();
  fixture.rpc.respondWith("eth_getLogs", () => ({ error: { code: -32_601, message: "no such method" } }));
  const open = async () => (await fixture.ledger.listOpen(queueOf(wallet))).length;
  for (let time = 0; time < 20 && (await open()) > 12; time++) {
    const { requests } = await check();
    expect(requests.filter((method) => method === "eth_call").length).toBeLessThanOrEqual(10);
    await fixture.mine();
  }
  for (const [at, { spend }] of payments.entries()) {
    expect(await fixture.reload(spend)).toMatchObject({ state: at < 12 ? "signed" : "confirmed" });
  }
});

test("events of another contract, wallet or nonce are ignored", async () => {
  const { spend, nonce } = await signPayment();
  const word = (address: string) => `0x${"00".repeat(12)}${address.slice(2).toLowerCase()}`;
  const event = (address: string, authorizer: string, ofNonce: string) => ({
    address,
    topics: ["0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5", word(authorizer), ofNonce],
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
  fixture.rpc.respondWith("eth_getLogs", () => ({ result: others }));
  expect(await check()).toMatchObject({ hasOpen: true });
  expect(await fixture.reload(spend)).toMatchObject({ state: "signed" });
  // The same event with the right values is accepted.
  fixture.rpc.respondWith("eth_getLogs", () => ({ result: [event(usd.address, externalAccount.address, nonce)] }));
  expect(await check()).toMatchObject({ hasOpen: false });
});

// The last tests, because they move the chain's clock.
test("a payment that expired unused fails, and one that was used in time is confirmed", async () => {
  const [unused, used] = [await signPayment(), await signPayment()];
  await used.settle();
  fixture.rpc.respondWith("eth_getLogs", () => ({ result: [] }));
  await callAnvil(fixture.chain, "evm_increaseTime", [600]);
  await fixture.mine();
  expect(await check()).toMatchObject({ hasOpen: true });
  await callAnvil(fixture.chain, "evm_increaseTime", [61]);
  await fixture.mine();
  expect(await check()).toMatchObject({ hasOpen: false });
  expect(await fixture.reload(unused.spend)).toMatchObject({ state: "failed", reason: "EXPIRED" });
  expect(await fixture.reload(used.spend)).toMatchObject({ state: "confirmed" });
});

test("a payment is found after many blocks without a check", async () => {
  const { spend, settle } = await signPayment();
  // More blocks than one query covers.
  await callAnvil(fixture.chain, "anvil_mine", [toHex(50), "0x1"]);
  const hash = await settle();
  expect(await check({ maxBlocks: 20n })).toMatchObject({ hasOpen: false });
  expect(await fixture.reload(spend)).toMatchObject({ state: "confirmed", hash });
});
