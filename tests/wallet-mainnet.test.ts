// Spending on the mainnet: as on the testnet, but with the mainnet's addresses, and settled only after a few blocks.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Address, parseUnits } from "viem";
import { type Anvil, callAnvil, startAnvil } from "./support/anvil.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type Seller, startSeller } from "./support/seller.ts";
import { compileContract } from "./support/solidity.ts";
import { deployToken, freshAddress, giveEther, type Token } from "./support/tokens.ts";

const USD = 1_000_000n;
const network = "mainnet_chain";
let chain: Anvil;
let usd: Token;
let gold: Token;
let seller: Seller;
let berth: Berth;
beforeAll(async () => {
  chain = await startAnvil({ chainId: 8453 });
  [usd, gold] = [await deployToken(chain), await deployToken(chain, 18, "Gold")];
  const contract = await compileContract("Exchange.sol", "Exchange");
  const exchange = await chain.deploy(contract);
  await gold.mint(exchange, parseUnits("1000", 18));
  const args = [usd.address, gold.address, 500, parseUnits("0.25", 18) * 10n ** 12n];
  await chain.client.writeContract({ address: exchange, abi: contract.abi, functionName: "setPrice", args });
  seller = startSeller(chain, usd);
  seller.setTerms({ network: "eip155:8453" });
  berth = await startBerth({
    env: {
      RATE_LIMITS: "off",
      MAINNET_RPC_URL: chain.url,
      // No node listens there.
      TESTNET_RPC_URL: "http://127.0.0.1:1",
      STABLECOIN_ADDRESS_MAINNET: usd.address,
      SWAP_ROUTER_ADDRESS_MAINNET: exchange,
      SWAP_QUOTER_ADDRESS_MAINNET: exchange,
      OUTBOUND_ALLOW: "127.0.0.1/32",
    },
  });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await seller?.stop();
  await chain?.[Symbol.asyncDispose]();
});

async function owner(): Promise<{ client: Client; address: Address }> {
  const client = createClient(berth);
  await client.join();
  const { address } = (await client.post<{ address: Address }>("/api/wallet", { action: "create" })).body;
  await usd.mint(address, 20n * USD);
  await giveEther(chain, address);
  return { client, address };
}

interface Item {
  status: string;
  network: string;
  fee?: string;
}
const newest = async (client: Client) =>
  (await client.get<{ spends: Item[] }>("/api/wallet/spends?limit=1")).body.spends[0];
const mine = () => callAnvil(chain, "evm_mine");

/** Mines a block every second during `work`, as on a real chain. */
async function whileMined<T>(work: () => Promise<T>): Promise<T> {
  await callAnvil(chain, "evm_setIntervalMining", [1]);
  try {
    return await work();
  } finally {
    await callAnvil(chain, "evm_setIntervalMining", [0]);
    await callAnvil(chain, "evm_setAutomine", [true]);
  }
}

test("a send is settled after three blocks", async () => {
  const { client, address } = await owner();
  const to = freshAddress();
  const sending = client.post<{ status: string }>("/api/wallet/send", { to, amount: "1.5", network });
  await eventually(async () => (await usd.balanceOf(to)) > 0n, { what: "it is mined" });
  await eventually(async () => (await newest(client))?.status === "submitted", { what: "it is known as sent" });
  await mine();
  expect(await newest(client)).toMatchObject({ status: "submitted", network });
  await mine();
  expect(await sending).toMatchObject({ status: 200, body: { success: true, status: "confirmed", network } });
  expect(await usd.balanceOf(to)).toBe(1_500_000n);
  const { fee = "0" } = (await newest(client)) ?? {};
  expect(parseUnits("1", 18) - (await chain.client.getBalance({ address }))).toBe(parseUnits(fee, 18));
});

test("a trade uses the mainnet's exchange", async () => {
  const { client, address } = await owner();
  const trade = { sell: "USDC", buy: gold.address, amount: "8", network };
  const { status, body } = await whileMined(() => client.post("/api/wallet/trade", trade));
  expect({ status, body }).toMatchObject({ status: 200, body: { success: true, network } });
  await whileMined(() =>
    eventually(async () => (await newest(client))?.status === "confirmed", {
      timeoutMs: 20_000,
      what: "both steps are deep enough",
    }),
  );
  expect(await usd.balanceOf(address)).toBe(12n * USD);
  expect(await gold.balanceOf(address)).toBe(parseUnits("1.999", 18));
});

test("a payment is made on the chain that the seller names", async () => {
  const { client, address } = await owner();
  const { body } = await whileMined(() =>
    client.post<{ hash: string }>("/api/wallet/pay", { url: `${seller.url}/news`, maxAmount: "1" }),
  );
  expect(body).toMatchObject({ status: "confirmed", amount: "1", network, response: { status: 200 } });
  expect(await usd.balanceOf(address)).toBe(19n * USD);
  const { status } = await chain.client.getTransactionReceipt({ hash: body.hash as `0x${string}` });
  expect(status).toBe("success");
});

test("a testnet send is not made on the mainnet", async () => {
  const { client } = await owner();
  expectRefusal(await client.post("/api/wallet/send", { to: freshAddress(), amount: "1" }), 500, "CHAIN_UNAVAILABLE");
  expect(await newest(client)).toBeUndefined();
});
