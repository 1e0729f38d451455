// A lane in trouble: transactions that are stuck, lost or overtaken, a signer that lies, a chain that is gone.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Anvil, startAnvil } from "../../tests/support/anvil.ts";
import { type House, openHouse } from "../../tests/support/house.ts";
import { deployToken, freshAddress, giveEther, type Token } from "../../tests/support/tokens.ts";
import { TOKEN } from "./contracts.ts";
import { createKeyring } from "./keys.ts";
import { createLaneWorker, type LaneOptions } from "./lane.ts";
import { createLedger, type Spend } from "./ledger.ts";
import { writePlan } from "./plan.ts";
import { createLocalPlatform, type Signer } from "./platform.ts";
import { createWallets, type Wallet } from "./wallets.ts";

const USD = 1_000_000n;
let chain: Anvil;
let usd: Token;
let house: House;
let wallets: ReturnType<typeof createWallets>;
let ledger: ReturnType<typeof createLedger>;
let signerOf: (wallet: Wallet) => Promise<Signer>;
let wallet: Wallet;
let userId: string;
const key = generatePrivateKey();
const outside = privateKeyToAccount(key);

beforeAll(async () => {
  chain = await startAnvil({ chainId: 84_532 });
  usd = await deployToken(chain);
  house = await openHouse({ env: { TESTNET_RPC_URL: chain.url, STABLECOIN_ADDRESS_TESTNET: usd.address } });
  const keys = createKeyring(house.kernel);
  wallets = createWallets({ ...house.kernel, keys });
  ledger = createLedger(house.kernel);
  signerOf = createLocalPlatform(keys).signer;
  await giveEther(chain, outside.address, "10");
  await usd.mint(outside.address, 1000n * USD);
}, 60_000);
beforeEach(async () => {
  await automine(true);
  userId = crypto.randomUUID();
  wallet = await wallets.fromKey(userId, key);
});
afterAll(async () => {
  await house?.[Symbol.asyncDispose]();
  await chain?.[Symbol.asyncDispose]();
});

/** What anvil offers beside the Ethereum API. */
const ask = (method: string, params: unknown[] = []) =>
  fetch(chain.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
const automine = (on: boolean) => ask("evm_setAutomine", [on]);
const mine = () => ask("evm_mine");
const lane = () => ({ network: "testnet_chain" as const, address: wallet.address });
const worker = (options: LaneOptions = {}, signer = signerOf) =>
  createLaneWorker(
    {
      log: house.kernel.log,
      chainOf: () => house.kernel.chains.testnet,
      ledger,
      walletOf: wallets.byId,
      signerOf: signer,
    },
    options,
  );

/** One USD to this address, reserved. */
function reserved(to: Address): Promise<Spend> {
  const data = encodeFunctionData({ abi: TOKEN, functionName: "transfer", args: [to, USD] });
  const spend = {
    userId,
    walletId: wallet.id,
    requestKey: null,
    requestHash: "",
    kind: "send" as const,
    ...lane(),
    asset: usd.address,
    units: String(USD),
    usd: Number(USD),
    amount: "1",
    recipient: to,
    details: "{}",
    plan: writePlan({ calls: [{ to: usd.address, data }] }),
  };
  return ledger.reserve(spend, { usd: spend.usd, recipient: to.toLowerCase(), assets: [] }, []);
}
const now = async ({ id }: Spend) => (await ledger.find(id)) ?? expect.unreachable();

describe("a transaction that is stuck", () => {
  test("gets a rival with the same nonce and higher fees, and the money moves once", async () => {
    await automine(false);
    const to = freshAddress();
    const spend = await reserved(to);
    expect(await worker()(lane())).toBe(true);
    expect(await now(spend)).toMatchObject({ state: "sent" });
    for (let time = 0; time < 3; time++) await worker({ stuckMs: -1 })(lane());
    const rivals = await ledger.transactionsOf(spend);
    expect(rivals.map(({ attempt }) => attempt)).toEqual([3, 2, 1, 0]);
    expect(new Set(rivals.map(({ nonce }) => nonce)).size).toBe(1);
    const fees = rivals.map(({ cost }) => BigInt(JSON.parse(cost).maxFeePerGas)).reverse();
    expect(fees.slice(1).every((fee, at) => fee * 10n >= (fees[at] ?? 0n) * 11n)).toBe(true);

    await mine();
    expect(await worker()(lane())).toBe(false);
    expect(await now(spend)).toMatchObject({ state: "confirmed", hash: rivals[0]?.hash });
    expect(await usd.balanceOf(to)).toBe(USD);
  });

  test("is settled by whichever of its rivals was mined", async () => {
    await automine(false);
    const to = freshAddress();
    const spend = await reserved(to);
    await worker()(lane());
    const [first] = await ledger.transactionsOf(spend);
    await mine();
    // The rival was signed when the first was not known as mined.
    await ledger.replaced(await now(spend), {
      ...(first ?? expect.unreachable()),
      hash: `0x${"ab".repeat(32)}`,
      attempt: 1,
    });
    expect(await worker()(lane())).toBe(false);
    expect(await now(spend)).toMatchObject({ state: "confirmed", hash: first?.hash });
  });

  test("holds back none that come after it: nonces follow each other", async () => {
    await automine(false);
    const to = freshAddress();
    const spends = [await reserved(to), await reserved(to), await reserved(to)];
    await worker()(lane());
    const nonces = await Promise.all(spends.map(async (spend) => (await ledger.transactionsOf(spend))[0]?.nonce ?? -1));
    expect(nonces.map((nonce) => nonce - (nonces[0] ?? 0))).toEqual([0, 1, 2]);
    await mine();
    expect(await worker()(lane())).toBe(false);
    expect(await usd.balanceOf(to)).toBe(3n * USD);
  });
});

test("a transaction that the node has forgotten is sent again as it is", async () => {
  await automine(false);
  const to = freshAddress();
  const spend = await reserved(to);
  await worker()(lane());
  const [transaction] = await ledger.transactionsOf(spend);
  await ask("anvil_dropTransaction", [transaction?.hash]);
  const { sql, args } = { sql: "UPDATE wallet_spends SET updated_at = 0 WHERE id = ?", args: [spend.id] };
  await house.kernel.database.write([{ sql, args }]);
  await worker()(lane());
  await mine();
  await worker()(lane());
  expect(await now(spend)).toMatchObject({ state: "confirmed", hash: transaction?.hash });
  expect(await ledger.transactionsOf(spend)).toHaveLength(1);
});

test("a nonce that the same key used elsewhere ends the spend, and never makes it two", async () => {
  await automine(false);
  const to = freshAddress();
  const spend = await reserved(to);
  await worker()(lane());
  const [transaction] = await ledger.transactionsOf(spend);
  await ask("anvil_dropTransaction", [transaction?.hash]);
  const raw = await outside.signTransaction({
    type: "eip1559",
    chainId: 84_532,
    nonce: transaction?.nonce ?? -1,
    to,
    gas: 21_000n,
    maxFeePerGas: 10n ** 11n,
    maxPriorityFeePerGas: 10n ** 10n,
  });
  await chain.client.sendRawTransaction({ serializedTransaction: raw });
  await mine();
  // Not at once: another node may only be behind.
  expect(await worker()(lane())).toBe(true);
  expect(await now(spend)).toMatchObject({ state: "sent" });
  expect(await worker({ foreignMs: -1 })(lane())).toBe(false);
  expect(await now(spend)).toMatchObject({ state: "failed", reason: "NONCE_USED" });
  expect(await usd.balanceOf(to)).toBe(0n);
});

test("what nobody could sign for long is given up, and takes no place in the policy any more", async () => {
  const spend = await reserved(freshAddress());
  expect(await worker({ reservedMs: -1 })(lane())).toBe(false);
  expect(await now(spend)).toMatchObject({ state: "failed", reason: "EXPIRED", hash: null });
});

test("a wallet that has left the account signs nothing for it", async () => {
  const spend = await reserved(freshAddress());
  await house.kernel.database.write([wallets.disown(userId)]);
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
  expect(worker({}, lying)(lane())).rejects.toThrow(/another key/);
  expect(await ledger.transactionsOf(spend)).toEqual([]);
  await worker({ reservedMs: -1 })(lane());
});

test("two workers at once sign each spend once", async () => {
  const to = freshAddress();
  const spends = [await reserved(to), await reserved(to), await reserved(to)];
  await Promise.allSettled([worker()(lane()), worker()(lane()), worker()(lane())]);
  while (await worker()(lane()));
  for (const spend of spends) expect(await now(spend)).toMatchObject({ state: "confirmed" });
  expect(await usd.balanceOf(to)).toBe(3n * USD);
});
