// Tests that a trade is repriced on approval and executed, although it waited longer than a swap is valid.
import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from "bun:test";
import { parseUnits } from "viem";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { type Anvil, startAnvil } from "../../../tests/support/anvil.ts";
import { type Client, createClient } from "../../../tests/support/client.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { compileContract } from "../../../tests/support/solidity.ts";
import { deployToken, giveEther, type Token } from "../../../tests/support/tokens.ts";

let chain: Anvil;
let usd: Token;
let gold: Token;
let server: TestServer;
beforeAll(async () => {
  chain = await startAnvil({ chainId: 84_532 });
  [usd, gold] = [await deployToken(chain), await deployToken(chain, 18, "Gold")];
  const contract = await compileContract("Exchange.sol", "Exchange");
  const exchange = await chain.deploy(contract);
  await gold.mint(exchange, parseUnits("1000", 18));
  const args = [usd.address, gold.address, 500, parseUnits("0.25", 18) * 10n ** 12n];
  await chain.client.writeContract({ address: exchange, abi: contract.abi, functionName: "setPrice", args });
  server = await openServer({
    env: {
      TESTNET_RPC_URL: chain.url,
      STABLECOIN_ADDRESS_TESTNET: usd.address,
      SWAP_ROUTER_ADDRESS_TESTNET: exchange,
      SWAP_QUOTER_ADDRESS_TESTNET: exchange,
    },
  });
  await server.kernel.jobs.start();
});
afterEach(() => void setSystemTime());
afterAll(async () => {
  await server?.kernel.jobs.stop();
  await server?.[Symbol.asyncDispose]();
  await chain?.[Symbol.asyncDispose]();
});

async function owner(): Promise<{ client: Client; address: string }> {
  const client = createClient(server);
  await client.join();
  const { address } = (await client.post<{ address: string }>("/api/wallet", { action: "create" })).body;
  await usd.mint(address, 100_000_000n);
  await giveEther(chain, address);
  return { client, address };
}

test.each([1, 11, 600])("a trade that is approved after %d minutes is executed", async (minutes) => {
  const { client, address } = await owner();
  await client.put("/api/wallet/policy", { approvalAbove: "0" });
  setSystemTime(new Date(Date.now() - minutes * MINUTE));
  const requested = await client.post<{ id: string }>("/api/wallet/trade", {
    sell: "USDC",
    buy: gold.address,
    amount: "4",
  });
  expect(requested).toMatchObject({ status: 202, body: { status: "waiting_approval" } });
  setSystemTime();
  const approved = await client.post(`/api/wallet/spends/${requested.body.id}/approve`);
  expect(approved).toMatchObject({ status: 200, body: { success: true, status: "confirmed" } });
  expect(await usd.balanceOf(address)).toBe(96_000_000n);
  expect(await gold.balanceOf(address)).toBe(parseUnits("0.9995", 18));
});
