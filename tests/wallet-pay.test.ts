// Payments by x402 to a seller that settles on a real chain: each is made once, at no more than the given maximum.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { parseAbi, parseEventLogs } from "viem";
import { type Anvil, callAnvil, startAnvil } from "./support/anvil.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type Seller, startSeller } from "./support/seller.ts";
import { deployToken, type Token } from "./support/tokens.ts";

const USD = 1_000_000n;
const TRANSFER = parseAbi(["event Transfer(address indexed from, address indexed to, uint256 value)"]);
let chain: Anvil;
let usd: Token;
let seller: Seller;
let berth: Berth;
beforeAll(async () => {
  chain = await startAnvil({ chainId: 84_532 });
  usd = await deployToken(chain);
  berth = await startBerth({
    env: {
      RATE_LIMITS: "off",
      TESTNET_RPC_URL: chain.url,
      STABLECOIN_ADDRESS_TESTNET: usd.address,
      OUTBOUND_ALLOW: "127.0.0.1/32",
    },
  });
});
beforeEach(async () => {
  await seller?.stop();
  seller = startSeller(chain, usd);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await seller?.stop();
  await chain?.[Symbol.asyncDispose]();
});

/** Creates a user with ten USD and no ether, which a payment does not need. */
async function owner(): Promise<{ client: Client; address: string }> {
  const client = createClient(berth);
  await client.join();
  const { address } = (await client.post<{ address: string }>("/api/wallet", { action: "create" })).body;
  await usd.mint(address, 10n * USD);
  return { client, address };
}
const pay = (client: Client, body: object, headers: Record<string, string> = {}) =>
  client.post<{ id: string; hash: string; status: string }>("/api/wallet/pay", body, { headers });
const spends = async (client: Client) =>
  (await client.get<{ spends: { reason?: string }[] }>("/api/wallet/spends")).body.spends;

/** Expects that this transaction moved one USD to the seller. */
async function expectSettledBy(hash: string): Promise<void> {
  const { status, logs } = await chain.client.getTransactionReceipt({ hash: hash as `0x${string}` });
  expect(status).toBe("success");
  const moved = parseEventLogs({ abi: TRANSFER, logs });
  expect(moved.map(({ address, args }) => [address.toLowerCase(), args.to, args.value])).toEqual([
    [usd.address.toLowerCase(), seller.payTo, USD],
  ]);
}

/** Advances the chain's clock. */
async function later(seconds: number): Promise<void> {
  await callAnvil(chain, "evm_increaseTime", [seconds]);
  await callAnvil(chain, "evm_mine");
}

describe("a payment", () => {
  test("returns the bought content, and is on the chain as in the ledger", async () => {
    const { client, address } = await owner();
    const { status, body } = await pay(client, { url: `${seller.url}/news`, body: { about: "boats" }, maxAmount: "1" });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        success: true,
        status: "confirmed",
        amount: "1",
        network: "testnet_chain",
        response: { status: 200, body: 'news for {"about":"boats"}' },
      },
    });
    expect(await usd.balanceOf(seller.payTo)).toBe(USD);
    expect(await usd.balanceOf(address)).toBe(9n * USD);
    await expectSettledBy(body.hash);
    expect(await spends(client)).toEqual([
      expect.objectContaining({ kind: "pay", usd: "1", to: seller.payTo, url: `${seller.url}/news` }),
    ]);
  });

  test("is not made for a free resource", async () => {
    const { client } = await owner();
    const body: object = (await pay(client, { url: `${seller.url}/free`, maxAmount: "1" })).body;
    const response = { status: 200, body: "free of charge" };
    expect(body).toEqual({
      success: true,
      status: "free",
      amount: "0",
      network: "",
      response,
    });
    expect(await spends(client)).toEqual([]);
  });

  test.each([
    ["more than the maximum", { amount: "1000001" }, 400, "PRICE_TOO_HIGH"],
    ["another token", { asset: `0x${"12".repeat(20)}` }, 400, "NO_PAYMENT_OPTION"],
    ["another chain", { network: "eip155:1" as const }, 400, "NO_PAYMENT_OPTION"],
    ["another scheme", { scheme: "upto" }, 400, "NO_PAYMENT_OPTION"],
    ["an allowance", { extra: { assetTransferMethod: "permit2" } }, 400, "NO_PAYMENT_OPTION"],
    ["a negative amount", { amount: "-1" }, 400, "NO_PAYMENT_OPTION"],
    // A seller's JSON may have any type: an invalid lifetime would be signed without an end.
    ["the seconds in text", JSON.parse('{"maxTimeoutSeconds":"60"}'), 400, "NO_PAYMENT_OPTION"],
    ["no seconds", JSON.parse('{"maxTimeoutSeconds":null}'), 400, "NO_PAYMENT_OPTION"],
    ["a token without a name", { extra: {} }, 400, "NO_PAYMENT_OPTION"],
    ["the money for a year", { maxTimeoutSeconds: 31_536_000 }, 400, "NO_PAYMENT_OPTION"],
  ])("to a seller who wants %s is refused, and nothing is signed", async (_, terms, status, code) => {
    const { client } = await owner();
    seller.setTerms(terms);
    expectRefusal(await pay(client, { url: seller.url, maxAmount: "1" }), status, code);
    expect(seller.payments).toEqual([]);
    expect(await spends(client)).toEqual([]);
  });

  test("outside the policy, to a private address, or above the balance is rejected before signing", async () => {
    const { client } = await owner();
    seller.setTerms({ amount: "10000001" });
    expectRefusal(await pay(client, { url: seller.url, maxAmount: "20" }), 403, "POLICY_DENIED");
    await client.put("/api/wallet/policy", { perTransaction: "30" });
    expectRefusal(await pay(client, { url: seller.url, maxAmount: "20" }), 400, "INSUFFICIENT_FUNDS");
    expectRefusal(await pay(client, { url: "http://127.0.0.2:1/", maxAmount: "20" }), 400, "ADDRESS_NOT_ALLOWED");
    seller.setTerms({});
    await client.put("/api/wallet/policy", { approvalAbove: "0.5" });
    expectRefusal(await pay(client, { url: seller.url, maxAmount: "1" }), 403, "POLICY_DENIED");
    await client.put("/api/wallet/policy", { approvalAbove: null, recipients: [`0x${"12".repeat(20)}`] });
    expectRefusal(await pay(client, { url: seller.url, maxAmount: "1" }), 403, "POLICY_DENIED");
    expect(seller.payments).toEqual([]);
  });

  test("that the seller settles without a receipt is in the ledger", async () => {
    const { client } = await owner();
    seller.behave("take");
    const { body } = await pay(client, { url: seller.url, maxAmount: "1" });
    expect(body).toMatchObject({ status: "confirmed", response: { status: 500, body: "thanks" } });
    expect(await usd.balanceOf(seller.payTo)).toBe(USD);
    await expectSettledBy(body.hash);
  });

  test("has the transaction from the token's events, not the one that the seller names", async () => {
    const { client } = await owner();
    seller.behave("lie");
    const { body } = await pay(client, { url: seller.url, maxAmount: "1" });
    expect(body).toMatchObject({ status: "confirmed" });
    await expectSettledBy(body.hash);
  });

  test("follows no redirect", async () => {
    const { client } = await owner();
    expectRefusal(await pay(client, { url: `${seller.url}/moved`, maxAmount: "1" }), 502, "PAYMENT_NOT_UNDERSTOOD");
    expect(seller.payments).toEqual([]);
    expect(await spends(client)).toEqual([]);
  });

  test("without TLS is rejected before any request", async () => {
    const { client } = await owner();
    expectRefusal(await pay(client, { url: "http://8.8.8.8/news", maxAmount: "1" }), 400, "ADDRESS_NOT_ALLOWED");
  });

  test.each([
    ["before the seller has settled it", "refuse"],
    ["after", "take"],
  ] as const)("killed %s is made once, and known for what it is", async (_, how) => {
    const { client } = await owner();
    seller.behave(how);
    const paymentArrived = Promise.withResolvers<void>();
    seller.onPayment(paymentArrived.resolve);
    const headers = { "idempotency-key": `paid-${how}` };
    const request = { url: seller.url, maxAmount: "1" };
    const paying = pay(client, request, headers).catch(() => "gone");
    await paymentArrived.promise;
    if (how === "take") {
      await eventually(async () => (await usd.balanceOf(seller.payTo)) > 0n, { what: "it is settled" });
    }
    await berth.kill();
    await paying;
    await berth.restart({ keepPorts: true });
    const again = await pay(client, request, headers);
    expect(again.body).toMatchObject({ status: how === "take" ? "confirmed" : "pending" });
    expect(seller.payments).toHaveLength(1);
    expect(await spends(client)).toHaveLength(1);
  });

  // The last test, since it advances the chain's clock.
  test("that the seller does not settle stays reserved until its authorization expires", async () => {
    const { client } = await owner();
    seller.behave("refuse");
    const { body } = await pay(client, { url: seller.url, maxAmount: "1" });
    expect(body).toMatchObject({ success: true, status: "pending", response: { status: 402 } });
    await later(300);
    const reason = async () => (await spends(client))[0]?.reason === "EXPIRED";
    await eventually(reason, { timeoutMs: 20_000, what: "it is given up" });
    expect(await usd.balanceOf(seller.payTo)).toBe(0n);
  });
});
