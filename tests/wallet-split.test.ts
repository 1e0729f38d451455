// Spending with web and backend as two processes over one database server, from a wallet whose key a platform holds.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Cdp, startCdp } from "./support/cdp.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { type Sqld, startSqld } from "./support/sqld.ts";
import { deployToken, freshAddress, giveEther, type Token } from "./support/tokens.ts";

const USD = 1_000_000n;
let chain: Anvil;
let usd: Token;
let sqld: Sqld;
let cdp: Cdp;
let backend: Berth;
let web: Berth;
beforeAll(async () => {
  [chain, sqld] = await Promise.all([startAnvil({ chainId: 84_532 }), startSqld()]);
  usd = await deployToken(chain);
  cdp = startCdp();
  const shared = {
    ...cdp.env,
    RATE_LIMITS: "off",
    DATABASE_URL: sqld.url,
    SECRET_KEY: "split-test-root-key-0123456789abcdefgh",
    TESTNET_RPC_URL: chain.url,
    STABLECOIN_ADDRESS_TESTNET: usd.address,
  };
  backend = await startBerth({ env: { ...shared, ROLE: "backend" } });
  web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
});
afterAll(async () => {
  await web?.[Symbol.asyncDispose]();
  await backend?.[Symbol.asyncDispose]();
  await cdp?.stop();
  await sqld?.stop();
  await chain?.[Symbol.asyncDispose]();
});

test("the web reserves and the backend signs: as many spends as the policy allows, each once", async () => {
  const ada = createClient(web);
  await ada.join();
  const made = await ada.post<{ walletAddress: string }>("/api/wallet/create", { email: "ada@example.com" });
  const from = made.body.walletAddress;
  await usd.mint(from, 100n * USD);
  await giveEther(chain, from);
  const to = freshAddress();
  const send = () => ada.post<{ status: string }>("/api/wallet/send", { to, amount: "10", from });
  const answers = await Promise.all(Array.from({ length: 30 }, send));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(200), ...Array(25).fill(403)]);
  const paid = async () => (await usd.balanceOf(to)) === 50n * USD;
  await eventually(paid, { timeoutMs: 20_000, what: "all five are on the chain" });
  expect(await chain.client.getTransactionCount({ address: from as `0x${string}` })).toBe(5);
  expect(cdp.calls.filter((call) => call.endsWith("/sign/transaction"))).toHaveLength(5);
});
