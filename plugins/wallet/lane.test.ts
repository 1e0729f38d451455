// A lane in trouble: transactions that are stuck, lost or overtaken, a signer that lies, a chain that is gone.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Address, Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { askAnvil } from "../../tests/support/anvil.ts";
import { freshAddress } from "../../tests/support/tokens.ts";
import type { LaneOptions } from "./lane.ts";
import type { Spend } from "./ledger.ts";
import type { Signer } from "./platform.ts";
import { type Harbour, laneOf, openHarbour, USD } from "./support.test.ts";

let harbour: Harbour;
let wallet: Awaited<ReturnType<Harbour["wallet"]>>;
beforeAll(async () => {
  harbour = await openHarbour();
}, 60_000);
beforeEach(async () => {
  await harbour.automine(true);
  wallet = await harbour.wallet();
});
afterAll(() => harbour?.[Symbol.asyncDispose]());

const lane = () => laneOf(wallet);
const worker = (options: LaneOptions = {}) => harbour.worker(options);
const reserved = (to: Address) => harbour.reserved(wallet, to);
const now = (spend: Spend) => harbour.now(spend);

describe("a transaction that is stuck", () => {
  test("gets a rival with the same nonce and higher fees, and the money moves once", async () => {
    await harbour.automine(false);
    const to = freshAddress();
    const spend = await reserved(to);
    expect(await worker()(lane())).toBe(true);
    expect(await now(spend)).toMatchObject({ state: "sent" });
    for (let time = 0; time < 3; time++) await worker({ stuckMs: -1 })(lane());
    const rivals = await harbour.ledger.transactionsOf(spend);
    expect(rivals.map(({ attempt }) => attempt)).toEqual([3, 2, 1, 0]);
    expect(new Set(rivals.map(({ nonce }) => nonce)).size).toBe(1);
    const fees = rivals.map(({ cost }) => BigInt(JSON.parse(cost).maxFeePerGas)).reverse();
    expect(fees.slice(1).every((fee, at) => fee * 10n >= (fees[at] ?? 0n) * 11n)).toBe(true);

    await harbour.mine();
    expect(await worker()(lane())).toBe(false);
    expect(await now(spend)).toMatchObject({ state: "confirmed", hash: rivals[0]?.hash });
    expect(await harbour.usd.balanceOf(to)).toBe(USD);
  });

  test("is settled by whichever of its rivals was mined", async () => {
    await harbour.automine(false);
    const to = freshAddress();
    const spend = await reserved(to);
    await worker()(lane());
    const [first] = await harbour.ledger.transactionsOf(spend);
    await harbour.mine();
    // The rival was signed when the first was not known as mined.
    await harbour.ledger.replaced(await now(spend), {
      ...(first ?? expect.unreachable()),
      hash: `0x${"ab".repeat(32)}`,
      attempt: 1,
    });
    expect(await worker()(lane())).toBe(false);
    expect(await now(spend)).toMatchObject({ state: "confirmed", hash: first?.hash });
  });

  test("holds back none that come after it: nonces follow each other", async () => {
    await harbour.automine(false);
    const to = freshAddress();
    const spends = [await reserved(to), await reserved(to), await reserved(to)];
    await worker()(lane());
    const nonces = await Promise.all(
      spends.map(async (spend) => (await harbour.ledger.transactionsOf(spend))[0]?.nonce ?? -1),
    );
    expect(nonces.map((nonce) => nonce - (nonces[0] ?? 0))).toEqual([0, 1, 2]);
    await harbour.mine();
    expect(await worker()(lane())).toBe(false);
    expect(await harbour.usd.balanceOf(to)).toBe(3n * USD);
  });
});

test("a transaction that the node has forgotten is sent again as it is", async () => {
  await harbour.automine(false);
  const to = freshAddress();
  const spend = await reserved(to);
  await worker()(lane());
  const [transaction] = await harbour.ledger.transactionsOf(spend);
  await askAnvil(harbour.chain, "anvil_dropTransaction", [transaction?.hash]);
  const { sql, args } = { sql: "UPDATE wallet_spends SET updated_at = 0 WHERE id = ?", args: [spend.id] };
  await harbour.house.kernel.database.write([{ sql, args }]);
  await worker()(lane());
  await harbour.mine();
  await worker()(lane());
  expect(await now(spend)).toMatchObject({ state: "confirmed", hash: transaction?.hash });
  expect(await harbour.ledger.transactionsOf(spend)).toHaveLength(1);
});

test("a nonce that the same key used elsewhere ends the spend, and never makes it two", async () => {
  await harbour.automine(false);
  const to = freshAddress();
  const spend = await reserved(to);
  await worker()(lane());
  const [transaction] = await harbour.ledger.transactionsOf(spend);
  await askAnvil(harbour.chain, "anvil_dropTransaction", [transaction?.hash]);
  const raw = await harbour.outside.signTransaction({
    type: "eip1559",
    chainId: 84_532,
    nonce: transaction?.nonce ?? -1,
    to,
    gas: 21_000n,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 10n ** 10n,
  });
  await harbour.chain.client.sendRawTransaction({ serializedTransaction: raw });
  await harbour.mine();
  // Not at once: another node may only be behind.
  expect(await worker()(lane())).toBe(true);
  expect(await now(spend)).toMatchObject({ state: "sent" });
  expect(await worker({ foreignMs: -1 })(lane())).toBe(false);
  expect(await now(spend)).toMatchObject({ state: "failed", reason: "NONCE_USED" });
  expect(await harbour.usd.balanceOf(to)).toBe(0n);
});

test("what nobody could sign for long is given up, and takes no place in the policy any more", async () => {
  const spend = await reserved(freshAddress());
  expect(await worker({ reservedMs: -1 })(lane())).toBe(false);
  expect(await now(spend)).toMatchObject({ state: "failed", reason: "EXPIRED", hash: null });
});

test("a wallet that has left the account signs nothing for it", async () => {
  const spend = await reserved(freshAddress());
  await harbour.house.kernel.database.write([harbour.wallets.disown(wallet.userId)]);
  expect(await worker()(lane())).toBe(false);
  expect(await now(spend)).toMatchObject({ state: "failed", reason: "CANCELLED" });
});

test("what another key has signed is neither noted nor sent", async () => {
  const to = freshAddress();
  const spend = await reserved(to);
  const thief = privateKeyToAccount(generatePrivateKey());
  const lying = async (): Promise<Signer> => ({
    address: wallet.address as Address,
    signTransaction: (transaction) => thief.signTransaction(transaction),
    signTypedData: async () => "0x" as Hex,
  });
  expect(harbour.worker({}, lying)(lane())).rejects.toThrow(/another key/);
  expect(await harbour.ledger.transactionsOf(spend)).toEqual([]);
  await worker({ reservedMs: -1 })(lane());
});

test("two workers at once sign each spend once", async () => {
  const to = freshAddress();
  const spends = [await reserved(to), await reserved(to), await reserved(to)];
  await Promise.allSettled([worker()(lane()), worker()(lane()), worker()(lane())]);
  while (await worker()(lane()));
  for (const spend of spends) expect(await now(spend)).toMatchObject({ state: "confirmed" });
  expect(await harbour.usd.balanceOf(to)).toBe(3n * USD);
});
