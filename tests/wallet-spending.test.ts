// Spending on a real chain: ledger and chain agree, the policy holds, and each spend is made once, also over kills.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { testedBlocks } from "../site/tested-blocks.ts";
import { runInShell } from "./docs/shell-session.ts";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { changed } from "./support/program.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type RpcProxy, startRpcProxy } from "./support/rpc-proxy.ts";
import { deployToken, freshAddress, giveEther, type Token } from "./support/tokens.ts";

interface Spent {
  success: boolean;
  id: string;
  hash?: string;
  status: string;
  reason?: string;
  amount: string;
  network: string;
}
interface Item extends Spent {
  usd: string;
  to: string | null;
}

const USD = 1_000_000n;
let chain: Anvil;
let rpc: RpcProxy;
let usd: Token;
let berth: Berth;
beforeAll(async () => {
  chain = await startAnvil({ chainId: 84_532 });
  [rpc, usd] = [startRpcProxy(chain.url), await deployToken(chain)];
  const env = { RATE_LIMITS: "off", TESTNET_RPC_URL: rpc.url, STABLECOIN_ADDRESS_TESTNET: usd.address };
  berth = await startBerth({ env });
});
beforeEach(() => rpc.pass());
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await rpc?.stop();
  await chain?.[Symbol.asyncDispose]();
});

interface Owner {
  client: Client;
  address: string;
}

/** Creates a user with a wallet that holds `dollars` USD, and ether for fees. */
async function owner(dollars = 100n, ether = "1"): Promise<Owner> {
  const client = createClient(berth);
  await client.join();
  const { address } = (await client.post<{ address: string }>("/api/wallet", { action: "create" })).body;
  if (dollars > 0n) await usd.mint(address, dollars * USD);
  if (ether !== "0") await giveEther(chain, address, ether);
  return { client, address };
}

const send = ({ client }: Owner, body: object, headers: Record<string, string> = {}) =>
  client.post<Spent>("/api/wallet/send", body, { headers });
const ledger = async ({ client }: Owner) =>
  (await client.get<{ spends: Item[]; count: number }>("/api/wallet/spends?limit=100")).body.spends;
const transactionsOf = (address: string) => chain.client.getTransactionCount({ address: address as `0x${string}` });

describe("a send", () => {
  test("moves the money on the chain as recorded in the ledger", async () => {
    const ada = await owner();
    const to = freshAddress();
    const { status, body } = await send(ada, { to, amount: "1.50" });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      id: expect.any(String),
      hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      status: "confirmed",
      amount: "1.5",
      network: "testnet_chain",
    });
    expect(await usd.balanceOf(to)).toBe(1_500_000n);
    expect(await usd.balanceOf(ada.address)).toBe(98_500_000n);
    expect(await ledger(ada)).toEqual([
      expect.objectContaining({ id: body.id, kind: "send", status: "confirmed", usd: "1.5", to, asset: usd.address }),
    ]);
  });

  test("by the command of docs/wallets.md pays once, however often it is run", async () => {
    const [block] = testedBlocks(import.meta.path, "docs/wallets.md", 1);
    const ada = await owner();
    const to = freshAddress();
    const { body } = await ada.client.post<{ key: string }>("/api/keys", { name: "shell" });
    const code = changed(block.code, { "0x…": to });
    for (let run = 0; run < 2; run++) {
      const printed = await runInShell(code, { BASE: berth.web, KEY: body.key });
      expect(JSON.parse(printed)).toMatchObject({ success: true, status: "confirmed", amount: "1.5" });
    }
    expect(await usd.balanceOf(to)).toBe(1_500_000n);
  });

  test.each([
    { amount: "1" },
    { to: "0x12", amount: "1" },
    { to: `0x${"00".repeat(20)}`, amount: "1" },
    { to: "0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED", amount: "1" },
    ...["", "0", "0.0", "-1", "1e3", "0.0000001", "NaN", "1,5", 1, null].map((amount) => ({
      to: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      amount,
    })),
    { to: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", amount: "1", network: "moon_chain" },
  ])("%j is refused", async (body) => {
    const client = createClient(berth);
    await client.join();
    await client.post("/api/wallet", { action: "create" });
    expectRefusal(await client.post("/api/wallet/send", body), 400);
  });

  test("needs a wallet, money, and ether for the fee", async () => {
    const to = freshAddress();
    const stranger = createClient(berth);
    expectRefusal(await stranger.post("/api/wallet/send", { to, amount: "1" }), 401);
    await stranger.join();
    expectRefusal(await stranger.post("/api/wallet/send", { to, amount: "1" }), 404, "NO_WALLET");
    const [poor, dry] = [await owner(1n), await owner(5n, "0")];
    expectRefusal(await send(poor, { to, amount: "1.000001" }), 400, "INSUFFICIENT_FUNDS");
    expectRefusal(await send(dry, { to, amount: "1" }), 400, "INSUFFICIENT_FUNDS");
    expect(await send(poor, { to, amount: "1" })).toMatchObject({ status: 200 });
    for (const ada of [poor, dry]) expect(await transactionsOf(ada.address)).toBe(ada === poor ? 1 : 0);
  });

  test("that is repeated with its key is the same spend, and with another body is rejected", async () => {
    const ada = await owner();
    const to = freshAddress();
    const headers = { "idempotency-key": "send-1" };
    const answers = await Promise.all([1, 2, 3].map(() => send(ada, { to, amount: "2" }, headers)));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await usd.balanceOf(to)).toBe(2n * USD);
    expectRefusal(await send(ada, { to, amount: "3" }, headers), 409, "IDEMPOTENCY_MISMATCH");
  });

  test("from an imported wallet is signed by its key; from another user's wallet it is rejected", async () => {
    const [ada, eve] = [await owner(), await owner()];
    const { body } = await ada.client.post<{ address: string }>("/api/wallet/managed", {});
    await usd.mint(body.address, 5n * USD);
    await giveEther(chain, body.address);
    const to = freshAddress();
    expect((await send(ada, { to, amount: "2", from: body.address })).body).toMatchObject({ status: "confirmed" });
    expect(await usd.balanceOf(body.address)).toBe(3n * USD);
    expectRefusal(await send(eve, { to, amount: "2", from: body.address }), 404, "NO_WALLET");
  });

  test("while the chain is down fails and reserves nothing", async () => {
    const ada = await owner();
    rpc.fail();
    expectRefusal(await send(ada, { to: freshAddress(), amount: "1" }), 500, "CHAIN_UNAVAILABLE");
    expect(await ledger(ada)).toEqual([]);
  });
});

describe("the policy", () => {
  const FIRST = {
    perTransaction: "10",
    perDay: "50",
    recipients: null,
    assets: null,
    approvalAbove: null,
    enabled: true,
  };

  test("is 10 and 50 USD by default, and changes only in the given fields", async () => {
    const { client } = await owner(0n, "0");
    expect((await client.get("/api/wallet/policy")).body).toEqual(FIRST);
    const to = freshAddress();
    expect((await client.put("/api/wallet/policy", { perDay: 70.5, recipients: [to] })).body).toEqual({
      ...FIRST,
      perDay: "70.5",
      recipients: [to.toLowerCase()],
    });
    expect((await client.put("/api/wallet/policy", { enabled: false })).body).toMatchObject({
      perDay: "70.5",
      enabled: false,
    });
    for (const body of [{ perDay: "-1" }, { perDay: "much" }, { recipients: ["0x1"] }, { enabled: "no" }]) {
      expectRefusal(await client.put("/api/wallet/policy", body), 400);
    }
    const { body } = await client.post<{ key: string }>("/api/keys", { name: "a key", scopes: ["read", "write"] });
    const headers = { authorization: `Bearer ${body.key}` };
    expectRefusal(
      await createClient(berth).put("/api/wallet/policy", { perDay: "1" }, { headers }),
      403,
      "SESSION_REQUIRED",
    );
  });

  test("rejects spends above the limits or to other recipients before the chain sees them", async () => {
    const ada = await owner();
    const [to, other] = [freshAddress(), freshAddress()];
    expectRefusal(await send(ada, { to, amount: "10.000001" }), 403, "POLICY_DENIED");
    await ada.client.put("/api/wallet/policy", { perDay: "12", recipients: [to] });
    expectRefusal(await send(ada, { to: other, amount: "1" }), 403, "POLICY_DENIED");
    expect((await send(ada, { to: to.toLowerCase(), amount: "10" })).status).toBe(200);
    expectRefusal(await send(ada, { to, amount: "2.000001" }), 403, "POLICY_DENIED");
    expect((await send(ada, { to, amount: "2" })).status).toBe(200);
    await ada.client.put("/api/wallet/policy", { enabled: false, perDay: "1000" });
    expectRefusal(await send(ada, { to, amount: "1" }), 403, "POLICY_DENIED");
    expect(await transactionsOf(ada.address)).toBe(2);
    expect(await usd.balanceOf(to)).toBe(12n * USD);
  });

  test("with room for 10 spends allows exactly 10 of 100 at once", async () => {
    const ada = await owner(1000n);
    await ada.client.put("/api/wallet/policy", { perDay: "10", perTransaction: "1" });
    const to = freshAddress();
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(ada, { to, amount: "1" })));
    const statuses = Map.groupBy(answers, ({ status }) => status);
    expect(statuses.get(200)).toHaveLength(10);
    expect(statuses.get(403)).toHaveLength(90);
    const settled = async () => (await ledger(ada)).every(({ status }) => status === "confirmed");
    await eventually(settled, { timeoutMs: 20_000, what: "all are settled" });
    expect(await usd.balanceOf(to)).toBe(10n * USD);
    expect(await transactionsOf(ada.address)).toBe(10);
  });

  test("holds spends above a threshold until the owner approves or rejects them", async () => {
    const ada = await owner();
    await ada.client.put("/api/wallet/policy", { approvalAbove: "3" });
    const to = freshAddress();
    expect((await send(ada, { to, amount: "3" })).status).toBe(200);
    const [yes, no] = [await send(ada, { to, amount: "4" }), await send(ada, { to, amount: "5" })];
    for (const { status, body } of [yes, no]) {
      expect({ status, body }).toMatchObject({ status: 202, body: { success: true, status: "waiting_approval" } });
    }
    const path = (id: string, word: string) => `/api/wallet/spends/${id}/${word}`;
    expectRefusal(await (await owner(0n, "0")).client.post(path(yes.body.id, "approve")), 404, "SPEND_NOT_FOUND");
    expect((await ada.client.post(path(yes.body.id, "approve"))).body).toMatchObject({ status: "confirmed" });
    expect((await ada.client.post(path(no.body.id, "reject"))).body).toMatchObject({
      status: "failed",
      reason: "REJECTED",
    });
    for (const { body } of [yes, no]) {
      expectRefusal(await ada.client.post(path(body.id, "approve")), 409, "SPEND_NOT_WAITING");
    }
    expect(await usd.balanceOf(to)).toBe(7n * USD);
  });

  test("that is switched off before a spend is signed ends the spend", async () => {
    const ada = await owner();
    const held = rpc.hold("eth_estimateGas");
    const sending = send(ada, { to: freshAddress(), amount: "1" });
    await held.reached;
    await ada.client.put("/api/wallet/policy", { enabled: false });
    held.release();
    expectRefusal(await sending, 403, "POLICY_DENIED");
    expect(await transactionsOf(ada.address)).toBe(0);
  });
});

test("a disabled account signs nothing, and its waiting spends are cancelled", async () => {
  const ada = await owner();
  const to = freshAddress();
  await ada.client.put("/api/wallet/policy", { approvalAbove: "3" });
  const waiting = await send(ada, { to, amount: "4" });
  expect(waiting.status).toBe(202);
  const held = rpc.hold("eth_estimateGas");
  const sending = send(ada, { to, amount: "1" });
  await held.reached;
  const { email } = ada.client.account;
  expect(await berth.command("user", "disable", email)).toMatchObject({ exitCode: 0 });
  held.release();
  await sending;
  expect(await berth.command("user", "enable", email)).toMatchObject({ exitCode: 0 });
  await ada.client.signIn();
  const ended = { status: "failed", reason: "CANCELLED" };
  const cancelled = async () => (await ledger(ada)).every(({ reason }) => reason === "CANCELLED");
  await eventually(cancelled, { what: "both are cancelled" });
  expect(await ledger(ada)).toEqual([expect.objectContaining(ended), expect.objectContaining(ended)]);
  expectRefusal(await ada.client.post(`/api/wallet/spends/${waiting.body.id}/approve`), 409, "SPEND_NOT_WAITING");
  expect(await transactionsOf(ada.address)).toBe(0);
});

describe("killed", () => {
  // The state at the kill: reserved, not signed; signed and stored, not sent; sent; mined, but not yet seen.
  test.each([
    ["between reserving and signing", "eth_estimateGas", false],
    ["between signing and sending", "eth_sendRawTransaction", false],
    ["between sending and its answer", "eth_sendRawTransaction", true],
    ["before it is known as mined", "eth_getTransactionReceipt", true],
  ])("%s: sent once, and settled after the start", async (_, method, forwarded) => {
    const ada = await owner();
    const to = freshAddress();
    const held = rpc.hold(method, { forwarded });
    const headers = { "idempotency-key": `killed-${crypto.randomUUID()}` };
    const sending = send(ada, { to, amount: "3" }, headers).catch(() => "gone");
    await held.reached;
    await berth.kill();
    expect(await sending).toBe("gone");
    rpc.pass();
    await berth.restart({ keepPorts: true });
    // A repeated request returns the same spend.
    const again = await send(ada, { to, amount: "3" }, headers);
    expect(again).toMatchObject({ status: 200, body: { status: "confirmed", amount: "3" } });
    expect(await usd.balanceOf(to)).toBe(3n * USD);
    expect(await transactionsOf(ada.address)).toBe(1);
    expect(await ledger(ada)).toHaveLength(1);
  });
});
