// Trades on a real chain: at the best pool's price, within the slippage bound, and counted by their value.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Address, parseUnits } from "viem";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type RpcProxy, startRpcProxy } from "./support/rpc-proxy.ts";
import { compileContract } from "./support/solidity.ts";
import { deployToken, giveEther, type Token, tokenAt } from "./support/tokens.ts";

const USD = 1_000_000n;
const WETH: Address = "0x4200000000000000000000000000000000000006";
let chain: Anvil;
let rpc: RpcProxy;
let usd: Token;
let gold: Token;
let weth: Token;
let exchange: Address;
let berth: Berth;
beforeAll(async () => {
  chain = await startAnvil({ chainId: 84_532 });
  rpc = startRpcProxy(chain.url);
  usd = await deployToken(chain);
  gold = await deployToken(chain, 18, "Gold");
  exchange = await chain.deploy(await compileContract("Exchange.sol", "Exchange"));
  await usd.mint(exchange, 1_000_000n * USD);
  await gold.mint(exchange, parseUnits("1000000", 18));
  // The address of WETH on every OP Stack chain.
  weth = await tokenAt(chain, WETH, gold);
  await setPrice(weth, usd, 500, 10n * USD);
  // One gold costs 4 USD, in two pools with different fees, in both directions.
  for (const fee of [500, 3000]) {
    await setPrice(gold, usd, fee, 4n * USD);
    await setPrice(usd, gold, fee, parseUnits("0.25", 18) * 10n ** 12n);
  }
  berth = await startBerth({
    env: {
      RATE_LIMITS: "off",
      TESTNET_RPC_URL: rpc.url,
      STABLECOIN_ADDRESS_TESTNET: usd.address,
      SWAP_ROUTER_ADDRESS_TESTNET: exchange,
      SWAP_QUOTER_ADDRESS_TESTNET: exchange,
    },
  });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await rpc?.stop();
  await chain?.[Symbol.asyncDispose]();
});

async function setPrice(sell: Token, buy: Token, fee: number, price: bigint): Promise<void> {
  const { abi } = await compileContract("Exchange.sol", "Exchange");
  const args = [sell.address, buy.address, fee, price];
  const hash = await chain.client.writeContract({ address: exchange, abi, functionName: "setPrice", args });
  await chain.client.waitForTransactionReceipt({ hash });
}

async function owner(): Promise<{ client: Client; address: string }> {
  const client = createClient(berth);
  await client.join();
  const { address } = (await client.post<{ address: string }>("/api/wallet", { action: "create" })).body;
  await usd.mint(address, 100n * USD);
  await gold.mint(address, parseUnits("100", 18));
  await giveEther(chain, address);
  return { client, address };
}
const trade = (client: Client, body: object, headers: Record<string, string> = {}) =>
  client.post<{ id: string; status: string }>("/api/wallet/trade", body, { headers });
const holdings = async (address: string) => ({
  usd: await usd.balanceOf(address),
  gold: await gold.balanceOf(address),
});
const HUNDRED = { usd: 100n * USD, gold: parseUnits("100", 18) };

describe("a trade", () => {
  test("of stablecoin buys at the best price", async () => {
    const { client, address } = await owner();
    const { status, body } = await trade(client, { sell: "USDC", buy: gold.address, amount: "8" });
    expect({ status, body }).toMatchObject({ status: 200, body: { success: true, status: "confirmed", amount: "8" } });
    // 2 gold less the pool's fee of 0.05 %.
    expect(await holdings(address)).toEqual({ usd: 92n * USD, gold: HUNDRED.gold + parseUnits("1.999", 18) });
    const { spends } = (await client.get<{ spends: object[] }>("/api/wallet/spends")).body;
    expect(spends).toEqual([expect.objectContaining({ kind: "trade", usd: "8", to: null, asset: usd.address })]);
  });

  test("of another token counts by its value", async () => {
    const { client, address } = await owner();
    await client.put("/api/wallet/policy", { assets: [usd.address, gold.address] });
    expectRefusal(await trade(client, { sell: gold.address, buy: "USDC", amount: "2.6" }), 403, "POLICY_DENIED");
    expect((await trade(client, { sell: gold.address, buy: "USDC", amount: "2.5" })).status).toBe(200);
    expect(await holdings(address)).toEqual({
      usd: HUNDRED.usd + 9_995_000n,
      gold: HUNDRED.gold - parseUnits("2.5", 18),
    });
    const { spends } = (await client.get<{ spends: { usd: string }[] }>("/api/wallet/spends")).body;
    expect(spends[0]?.usd).toBe("9.995");
  });

  test("sells a token without another price source only if the policy names it", async () => {
    const { client, address } = await owner();
    const sale = { sell: gold.address, buy: "USDC", amount: "0.1" };
    expectRefusal(await trade(client, sale), 403, "POLICY_DENIED");
    expect(await holdings(address)).toEqual(HUNDRED);
    await client.put("/api/wallet/policy", { assets: [usd.address, gold.address] });
    expect((await trade(client, sale)).body).toMatchObject({ status: "confirmed" });
  });

  test("sells WETH like the stablecoin", async () => {
    const { client, address } = await owner();
    await weth.mint(address, parseUnits("1", 18));
    expect((await trade(client, { sell: "WETH", buy: "USDC", amount: "0.5" })).body).toMatchObject({
      status: "confirmed",
    });
    expect(await usd.balanceOf(address)).toBe(HUNDRED.usd + 4_997_500n);
  });

  test("is rejected if the policy has a list of recipients", async () => {
    const { client, address } = await owner();
    await client.put("/api/wallet/policy", { recipients: [`0x${"12".repeat(20)}`] });
    const purchase = { sell: "USDC", buy: gold.address, amount: "1" };
    expectRefusal(await trade(client, purchase), 403, "POLICY_DENIED");
    expect(await holdings(address)).toEqual(HUNDRED);
    await client.put("/api/wallet/policy", { assets: [usd.address, gold.address] });
    expect((await trade(client, purchase)).body).toMatchObject({ status: "confirmed" });
  });

  test.each([
    ["can't say", { code: -32_000, message: "header not found" }],
    ["is out of gas", { code: -32_015, message: "execution aborted" }],
  ])("is not priced by a node that %s", async (_, error) => {
    const { client } = await owner();
    rpc.respondWith("eth_call", ({ result, params }) =>
      JSON.stringify(params).includes(exchange.slice(2).toLowerCase()) ? { error } : { result },
    );
    try {
      const purchase = { sell: "USDC", buy: gold.address, amount: "1" };
      expectRefusal(await trade(client, purchase), 500, "CHAIN_UNAVAILABLE");
    } finally {
      rpc.pass();
    }
  });

  test("that waits for approval shows its minimum result, and is made for no less", async () => {
    const { client, address } = await owner();
    await client.put("/api/wallet/policy", { approvalAbove: "1" });
    const { status, body } = await trade(client, { sell: "USDC", buy: gold.address, amount: "4", slippageBps: 100 });
    expect({ status, body }).toMatchObject({ status: 202, body: { status: "waiting_approval" } });
    const item = async () => (await client.get<{ spends: object[] }>("/api/wallet/spends")).body.spends[0];
    expect(await item()).toMatchObject({
      asset: usd.address,
      buy: gold.address,
      quoted: "0.9995",
      atLeast: "0.989505",
    });
    const approve = () => client.post<{ status: string }>(`/api/wallet/spends/${body.id}/approve`);

    const price = parseUnits("0.25", 18) * 10n ** 12n;
    try {
      for (const fee of [500, 3000]) await setPrice(usd, gold, fee, (price * 98n) / 100n);
      expectRefusal(await approve(), 409, "PRICE_MOVED");
      expect(await holdings(address)).toEqual(HUNDRED);
      // A better price than shown is to the owner's benefit.
      for (const fee of [500, 3000]) await setPrice(usd, gold, fee, price * 2n);
      expect((await approve()).body).toMatchObject({ status: "confirmed" });
      expect(await item()).toMatchObject({ quoted: "1.999", atLeast: "1.97901" });
      expect((await holdings(address)).gold).toBe(HUNDRED.gold + parseUnits("1.999", 18));
    } finally {
      for (const fee of [500, 3000]) await setPrice(usd, gold, fee, price);
    }
  });

  test("is made for each of several requests at once", async () => {
    const { client, address } = await owner();
    const answers = await Promise.all(
      [1, 2, 3].map((amount) => trade(client, { sell: "USDC", buy: gold.address, amount: `${amount}` })),
    );
    for (const { body } of answers) expect(body).toMatchObject({ status: "confirmed" });
    expect((await holdings(address)).usd).toBe(94n * USD);
  });

  test.each([
    [{ sell: "USDC", buy: "USDC", amount: "1" }, "INVALID_INPUT"],
    [{ sell: "GOLD", buy: "USDC", amount: "1" }, "INVALID_INPUT"],
    [{ sell: "USDC", buy: "gold", amount: "0" }, "INVALID_INPUT"],
    [{ sell: "USDC", buy: "gold", amount: "0.0000001" }, "INVALID_INPUT"],
    [{ sell: "USDC", buy: "gold", amount: "1", slippageBps: 1001 }, "INVALID_INPUT"],
    [{ sell: "USDC", buy: "gold", amount: "1", slippageBps: -1 }, "INVALID_INPUT"],
    [{ sell: "USDC", buy: "gold", amount: "1", slippageBps: 0.5 }, "INVALID_INPUT"],
  ])("%j is refused", async (body, code) => {
    const { client } = await owner();
    const named = body.buy === "gold" ? { ...body, buy: gold.address } : body;
    expectRefusal(await trade(client, named), 400, code);
  });

  test("without a pool, or above the balance, is rejected", async () => {
    const { client } = await owner();
    const lead = await deployToken(chain, 18, "Lead");
    expectRefusal(await trade(client, { sell: "USDC", buy: lead.address, amount: "1" }), 400, "NO_ROUTE");
    await client.put("/api/wallet/policy", { perTransaction: "1000", perDay: "1000" });
    expectRefusal(await trade(client, { sell: "USDC", buy: gold.address, amount: "100.5" }), 400, "INSUFFICIENT_FUNDS");
    await client.put("/api/wallet/policy", { assets: [usd.address] });
    expectRefusal(await trade(client, { sell: "USDC", buy: gold.address, amount: "1" }), 403, "POLICY_DENIED");
  });

  test("fails when the price has moved beyond its bound, and succeeds within it", async () => {
    const { client, address } = await owner();
    for (const [slippageBps, made] of [
      [99, false],
      [101, true],
    ] as const) {
      const held = rpc.hold("eth_sendRawTransaction");
      const trading = trade(client, { sell: "USDC", buy: gold.address, amount: "4", slippageBps });
      await held.reached;
      // One percent worse.
      await setPrice(usd, gold, 500, (parseUnits("0.25", 18) * 10n ** 12n * 99n) / 100n);
      held.release();
      expect((await trading).body).toMatchObject(
        made ? { success: true, status: "confirmed" } : { success: false, status: "failed", reason: "REFUSED" },
      );
      await setPrice(usd, gold, 500, parseUnits("0.25", 18) * 10n ** 12n);
      expect((await holdings(address)).usd).toBe(made ? 96n * USD : 100n * USD);
    }
  });

  test("is made once after a kill between its two steps", async () => {
    const { client, address } = await owner();
    const headers = { "idempotency-key": "killed-trade" };
    const body = { sell: "USDC", buy: gold.address, amount: "4" };
    const held = rpc.hold("eth_getTransactionReceipt", { forwarded: true });
    const trading = trade(client, body, headers).catch(() => "gone");
    await held.reached;
    await berth.kill();
    expect(await trading).toBe("gone");
    rpc.pass();
    await berth.restart({ keepPorts: true });
    expect((await trade(client, body, headers)).body).toMatchObject({ status: "confirmed" });
    expect((await holdings(address)).usd).toBe(96n * USD);
  });
});
