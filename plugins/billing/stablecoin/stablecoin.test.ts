// Tests credits bought on a real chain: by transfers and by x402, each counted once, and what is wrong with others.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { PaymentRequirements } from "@x402/core/types";
import { type Address, getAddress, parseAbi } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { plugin } from "../../../src/kernel/plugin.ts";
import { createMember } from "../../../tests/support/account-setup.ts";
import { type Anvil, callAnvil, startAnvil } from "../../../tests/support/anvil.ts";
import type { Client } from "../../../tests/support/client.ts";
import { queuedMailsTo } from "../../../tests/support/queued-mail.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { type RpcProxy, startRpcProxy } from "../../../tests/support/rpc-proxy.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { deployToken, freshAddress, giveEther, type Token, transferToken } from "../../../tests/support/tokens.ts";
import { signPayment } from "../../../tests/support/x402-buyer.ts";
import { billing } from "../index.ts";
import { expectSoundLedger, rowsOf } from "../support.test.ts";

const CONFIRMATIONS = 3;
const USD = 1_000_000n;
let chain: Anvil;
let rpc: RpcProxy;
let usd: Token;
let other: Token;
let payTo: Address;
let server: TestServer;
let ada: Client;
let userId: string;
let wallet: PrivateKeyAccount;
let watch: () => Promise<void>;
let snapshot: unknown;
const settler = generatePrivateKey();

beforeAll(async () => {
  chain = await startAnvil({ chainId: 84_532 });
  rpc = startRpcProxy(chain.url, { isAutomining: () => true });
  [usd, other, payTo] = [await deployToken(chain), await deployToken(chain, 6, "Other"), freshAddress()];
  await giveEther(chain, privateKeyToAccount(settler).address);
});
afterAll(async () => {
  await rpc.stop();
  await chain[Symbol.asyncDispose]();
});

const member = async () => {
  const { client, id } = await createMember(server, { verified: true });
  const account = privateKeyToAccount(generatePrivateKey());
  await giveEther(chain, account.address);
  await usd.mint(account.address, 100n * USD);
  return { client, id, account };
};
const link = (owner: string, { address }: PrivateKeyAccount) =>
  server.kernel.database.write([
    {
      sql: "INSERT INTO linked_accounts (provider, subject, user_id, created_at) VALUES ('wallet', ?, ?, 0)",
      args: [address.toLowerCase(), owner],
    },
  ]);
beforeEach(async () => {
  snapshot = await callAnvil(chain, "evm_snapshot");
  rpc.pass();
  const probe = plugin("probe", ({ use }) => {
    ({ watch } = use(billing));
    return { service: {} };
  });
  server = await openServer({
    plugins: [probe],
    env: {
      TESTNET_RPC_URL: rpc.url,
      STABLECOIN_ADDRESS_TESTNET: usd.address,
      STABLECOIN_PAY_TO: payTo,
      STABLECOIN_PAY_NETWORK: "testnet_chain",
      STABLECOIN_CREDIT_PRICE: "1.20",
      STABLECOIN_CONFIRMATIONS: String(CONFIRMATIONS),
      X402_SETTLER_KEY: settler,
    },
  });
  ({ client: ada, id: userId, account: wallet } = await member());
  await link(userId, wallet);
  await watch();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await callAnvil(chain, "evm_revert", [snapshot]);
});

const mine = (blocks = CONFIRMATIONS) => callAnvil(chain, "anvil_mine", [blocks]);
const transfer = (from: PrivateKeyAccount, units: bigint, { token = usd, to = payTo } = {}) =>
  transferToken(chain, token, { from, to, units });
const credits = async (client = ada) => (await client.get<{ credits: number }>("/api/settings")).body.credits;
const find = (transaction: string, client = ada) =>
  client.post<{ state: string; credits: number | null }>("/api/billing/stablecoin", { transaction });
const state = async (client = ada) =>
  (
    await client.get<{
      payment: { restUsd: string; wallets: string[] };
      transfers: { state: string; credits: number | null; usd: string }[];
    }>("/api/billing/stablecoin")
  ).body;
const rows = (sql: string) => rowsOf(server, sql);
const requireSoundLedger = () => expectSoundLedger(server);

describe("a transfer", () => {
  test("from a linked wallet is credited once its block is deep enough, to the micro-dollar, with mail, event and audit", async () => {
    const hash = await transfer(wallet, 5_000_001n);
    await watch();
    expect(await credits()).toBe(0);
    expect((await state()).transfers).toMatchObject([{ state: "pending", credits: null, usd: "5.000001" }]);
    await mine();
    await watch();
    await watch();
    // 5.000001 USD at 1.20 USD for 100 credits buy 4.166667 USD of model use.
    expect(await credits()).toBe(416);
    expect((await state()).payment.restUsd).toBe("0.006667");
    expect(await rows("SELECT id, kind, amount, currency, credits FROM payments")).toEqual([
      { id: `chain:84532:${hash}`, kind: "credits", amount: 5_000_001, currency: "usdc", credits: 416 },
    ]);
    await transfer(wallet, 4_000n);
    await mine();
    await watch();
    expect(await credits()).toBe(417);
    expect((await state()).payment.restUsd).toBe("0");
    requireSoundLedger();
    const mails = await queuedMailsTo(server, ada.account.email);
    expect(mails.map(({ subject }) => subject)).toContain("416 credits were added to your account");
    const events = await server.kernel.events.since(0, { userId, types: ["payment.received"] });
    expect(events.map(({ data }) => data)).toMatchObject([{ credits: 416, currency: "usdc" }, { credits: 1 }]);
    expect(await rows("SELECT actor_name FROM audit_log WHERE action = 'user.payment'")).toEqual([
      { actor_name: "Stablecoin" },
      { actor_name: "Stablecoin" },
    ]);
  });

  test("is found by its transaction, however often and by how many ways it is named", async () => {
    const hash = await transfer(wallet, 12n * USD);
    expect((await find(hash)).body).toMatchObject({ state: "pending", credits: null });
    await mine();
    const found = await Promise.all([find(hash), watch(), find(hash), find(hash.toUpperCase().replace("0X", "0x"))]);
    expect(found[0]?.body).toMatchObject({ state: "credited", credits: 1_000 });
    await watch();
    expect(await credits()).toBe(1_000);
    expect(await rows("SELECT count(*) AS paid FROM payments")).toEqual([{ paid: 1 }]);
    requireSoundLedger();
  });

  test("that a replaced block takes away is not credited, and counts once when it is mined again", async () => {
    const before = await callAnvil(chain, "evm_snapshot");
    await transfer(wallet, 6n * USD);
    await watch();
    expect((await state()).transfers).toHaveLength(1);
    await callAnvil(chain, "evm_revert", [before]);
    await mine(5);
    await watch();
    expect((await state()).transfers).toEqual([]);
    expect(await credits()).toBe(0);
    await transfer(wallet, 6n * USD);
    await mine();
    await watch();
    expect(await credits()).toBe(500);
    expect(await rows("SELECT count(*) AS paid FROM payments")).toEqual([{ paid: 1 }]);
    requireSoundLedger();
  });

  test("from a foreign wallet is not credited until an account proves that the wallet is its own", async () => {
    const bea = await member();
    const hash = await transfer(bea.account, 6n * USD);
    await mine();
    await watch();
    expectRefusal(await find(hash), 403, "FOREIGN_WALLET");
    expectRefusal(await find(hash, bea.client), 403, "FOREIGN_WALLET");
    expect([await credits(), await credits(bea.client)]).toEqual([0, 0]);
    await link(bea.id, bea.account);
    await watch();
    expect([await credits(), await credits(bea.client)]).toEqual([0, 500]);
    expectRefusal(await find(hash), 403, "FOREIGN_WALLET");
    requireSoundLedger();
  });

  test("of another token, to another address, or that failed is none", async () => {
    await other.mint(wallet.address, USD);
    const hashes = [
      await transfer(wallet, USD, { token: other }),
      await transfer(wallet, USD, { to: freshAddress() }),
      await transfer(wallet, 1_000n * USD),
    ];
    await mine();
    await watch();
    for (const hash of hashes) expectRefusal(await find(hash), 400, "NO_TRANSFER");
    expectRefusal(await find(`0x${"12".repeat(32)}`), 404, "TRANSACTION_NOT_FOUND");
    expect((await find("0x12")).status).toBe(400);
    expect(await rows("SELECT * FROM stablecoin_transfers")).toEqual([]);
  });

  test("that was made while the chain could not be asked is credited afterwards", async () => {
    rpc.fail();
    const hash = await transfer(wallet, 12n * USD);
    await mine();
    await expect(watch()).rejects.toMatchObject({ code: "CHAIN_UNAVAILABLE" });
    expect([...server.kernel.outages.current.values()]).toMatchObject([
      { of: "stablecoin", reason: expect.stringContaining("RPC") },
    ]);
    expectRefusal(await find(hash), 500, "CHAIN_UNAVAILABLE");
    rpc.pass();
    await watch();
    expect([...server.kernel.outages.current.values()]).toEqual([]);
    expect(await credits()).toBe(1_000);
  });

  test("of a deleted account stays in the ledger", async () => {
    await transfer(wallet, 12n * USD);
    await mine();
    await watch();
    expect((await ada.delete("/api/settings", { password: ada.account.password })).status).toBeLessThan(300);
    await watch();
    expect(await rows("SELECT user_id, credits FROM payments")).toEqual([{ user_id: userId, credits: 1_000 }]);
    requireSoundLedger();
  });
});

describe("x402", () => {
  const PATH = "/api/billing/credits/x402";
  interface Answer {
    state: string;
    credits: number | null;
    transaction: string;
    code?: string;
    reason?: string;
    accepts: PaymentRequirements[];
  }
  const price = async (count: number) => {
    const { status, body, headers } = await ada.post<Answer>(PATH, { credits: count });
    expect([status, body.code]).toEqual([402, "PAYMENT_REQUIRED"]);
    expect(headers.get("payment-required")).toBeString();
    const [terms] = body.accepts;
    if (!terms) throw new Error("There is no price.");
    return terms;
  };
  const headerFor = (terms: PaymentRequirements, signed = terms, account = wallet) =>
    signPayment(account, terms, signed);
  const pay = (count: number, header: string, client = ada, name = "payment-signature") =>
    client.post<Answer>(PATH, { credits: count }, { headers: { [name]: header } });

  /** Pays with blocks mined meanwhile, as a chain does by itself. */
  const payAndMine = async (count: number, header: string, client = ada) => {
    const mining = setInterval(() => void mine(1), 100);
    try {
      return await pay(count, header, client);
    } finally {
      clearInterval(mining);
    }
  };

  test("sells credits to any wallet, for exactly the price, and the same payment counts once", async () => {
    const terms = await price(250);
    expect(terms).toMatchObject({ amount: "3000000", payTo: getAddress(payTo), network: "eip155:84532" });
    const stranger = privateKeyToAccount(generatePrivateKey());
    await usd.mint(stranger.address, 10n * USD);
    const header = await headerFor(terms, terms, stranger);
    const { status, body, headers } = await payAndMine(250, header);
    expect({ status, body }).toMatchObject({ status: 200, body: { state: "credited", credits: 250 } });
    expect(headers.get("payment-response")).toBeString();
    expect(await usd.balanceOf(payTo)).toBe(3n * USD);
    const again = await Promise.all([pay(250, header), pay(250, header, ada, "x-payment"), watch()]);
    expect(again.slice(0, 2)).toMatchObject([{ body: { credits: 250 } }, { body: { credits: 250 } }]);
    const bea = await member();
    expectRefusal(await pay(250, header, bea.client), 409, "PAYMENT_USED");
    expectRefusal(await pay(300, header), 409, "PAYMENT_USED");
    expect(await credits()).toBe(250);
    expect(await usd.balanceOf(payTo)).toBe(3n * USD);
    requireSoundLedger();
  });

  test("refuses what is not signed as asked, before anything is sent", async () => {
    const terms = await price(100);
    const expectInvalid = async (header: string, reason: string | RegExp) => {
      const { status, body } = await pay(100, header);
      expect({ status, code: body.code }).toEqual({ status: 402, code: "PAYMENT_INVALID" });
      expect(body.reason).toMatch(reason);
    };
    await expectInvalid("no base64 of anything", "invalid_payload");
    await expectInvalid(await headerFor({ ...terms, network: "eip155:8453" }), "invalid_network");
    await expectInvalid(await headerFor({ ...terms, asset: other.address }), "invalid_asset");
    await expectInvalid(await headerFor(terms, { ...terms, network: "eip155:8453" }), /signature/);
    await expectInvalid(await headerFor(terms, { ...terms, asset: other.address }), /signature/);
    await expectInvalid(await headerFor(terms, { ...terms, amount: "1199999" }), /value/);
    await expectInvalid(await headerFor(terms, { ...terms, payTo: freshAddress() }), /recipient/);
    await expectInvalid(await headerFor(terms, { ...terms, maxTimeoutSeconds: 1 }), /valid_before/);
    const poor = privateKeyToAccount(generatePrivateKey());
    await expectInvalid(await headerFor(terms, terms, poor), /simulation_failed|insufficient/);
    expect((await ada.post(PATH, { credits: 99 })).status).toBe(400);
    expect(await usd.balanceOf(payTo)).toBe(0n);
    expect(await rows("SELECT * FROM x402_authorizations")).toEqual([]);
  });

  test("credits the account that gave the authorization, whoever brings it to the chain and whosever wallet it is", async () => {
    const bea = await member();
    const terms = await price(100);
    const header = await headerFor(terms);
    // Her request is stored, and the settling wallet can't send it: another program settles the authorization.
    rpc.respondWith("eth_estimateGas", () => ({ error: { code: -32_000, message: "no ether" } }));
    expectRefusal(await pay(100, header, bea.client), 402, "PAYMENT_INVALID");
    rpc.pass();
    const { payload } = JSON.parse(Buffer.from(header, "base64").toString());
    const { from, to, value, validAfter, validBefore, nonce } = payload.authorization;
    await chain.client.writeContract({
      address: usd.address,
      abi: parseAbi([
        "function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes)",
      ]),
      functionName: "transferWithAuthorization",
      args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, payload.signature],
    });
    await mine();
    await watch();
    expect([await credits(), await credits(bea.client)]).toEqual([0, 100]);
    expect((await pay(100, header, bea.client)).body).toMatchObject({ state: "credited", credits: 100 });
    requireSoundLedger();
  });
});

test("without an address nothing of it is there, and no chain is asked", async () => {
  await using bare = await openServer({ env: { TESTNET_RPC_URL: "http://127.0.0.1:1" } });
  const { client } = await createMember(bare);
  expect((await client.get("/api/billing/stablecoin")).body).toEqual({ enabled: false, payment: null, transfers: [] });
  expectRefusal(await client.post("/api/billing/credits/x402", { credits: 100 }), 404, "BILLING_OFF");
  const transaction = `0x${"12".repeat(32)}`;
  expectRefusal(await client.post("/api/billing/stablecoin", { transaction }), 404, "BILLING_OFF");
});
