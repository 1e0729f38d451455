// Tests the wallet skill: it is off by default, idempotent per message, and bound by the policy and the tool approvals.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Anvil, startAnvil } from "../../tests/support/anvil.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { deployToken, freshAddress, giveEther, type Token } from "../../tests/support/tokens.ts";
import { createChains } from "../chains/index.ts";
import type { ToolContext } from "../skills/index.ts";
import { createKeyring } from "./keys/keyring.ts";
import { createWallets } from "./keys/wallets.ts";
import { createLedger } from "./spending/ledger.ts";
import { createSend } from "./spending/send.ts";
import { createSpendingSteps } from "./spending/spending-steps.ts";
import { createWalletSkill } from "./wallet-skill.ts";

const USD = 1_000_000n;
let chain: Anvil;
let usd: Token;
let server: TestServer;
let wallets: ReturnType<typeof createWallets>;
let ledger: ReturnType<typeof createLedger>;
let userId: string;

beforeAll(async () => {
  chain = await startAnvil({ chainId: 84_532 });
  usd = await deployToken(chain);
  server = await openServer({ env: { TESTNET_RPC_URL: chain.url, STABLECOIN_ADDRESS_TESTNET: usd.address } });
  const { kernel } = server;
  wallets = createWallets({ ...kernel, keys: createKeyring(kernel) });
  ledger = createLedger(kernel);
  // The wallet plugin of this server runs the queues.
  await kernel.jobs.start();
  userId = crypto.randomUUID();
  const { address } = await wallets.create(userId, () => []);
  await usd.mint(address, 20n * USD);
  await giveEther(chain, address);
});
afterAll(async () => {
  await server?.kernel.jobs.stop();
  await server?.[Symbol.asyncDispose]();
  await chain?.[Symbol.asyncDispose]();
});

function skill() {
  const { kernel } = server;
  const wakeStatement = (queue: { network: string; address: string }) =>
    kernel.jobs.enqueueStatement("wallet.lane", queue, { uniqueKey: `${queue.network}:${queue.address}` });
  const unused = () => Promise.reject(new Error("not in this test"));
  const steps = createSpendingSteps({
    ...kernel,
    chains: createChains(kernel.config),
    ledger,
    nonceQueues: { wakeStatement },
  });
  const send = createSend({ steps, wallets });
  const spending = { steps, send, trade: unused, pay: unused, approve: unused };
  return createWalletSkill({ wallets, spending: async () => spending });
}

async function call(name: string, input: object, inboxId: string = crypto.randomUUID()): Promise<unknown> {
  const tool = skill()
    .tools("agent")
    .find((candidate) => candidate.name === name);
  const signal = AbortSignal.timeout(30_000);
  const from = { byOwner: true, platform: "web", peer: "ada", timezone: "UTC", sessionId: "s" };
  const trusted = { taint: 0 as const, raiseTaint: () => undefined, approved: false };
  const context: ToolContext = {
    ...from,
    ...trusted,
    agentId: "agent",
    userId,
    inboxId,
    callKey: `${inboxId}.2`,
    signal,
  };
  return tool?.execute(input, context);
}

test("the skill is off by default, and its tools are for the owner only", () => {
  const { enabledByDefault, tools } = skill();
  expect(enabledByDefault).toBe(false);
  expect(tools("agent").map(({ name, ownerOnly }) => [name, ownerOnly])).toEqual([
    ["wallet_create", true],
    ["wallet_balance", true],
    ["wallet_send", true],
    ["wallet_trade", true],
    ["wallet_pay", true],
  ]);
});

test("it reads the balance, and sends once per message", async () => {
  expect(await call("wallet_balance", {})).toMatchObject({ usd: "20", ether: "1", network: "testnet_chain" });
  const to = freshAddress();
  const inboxId = crypto.randomUUID();
  const first = await call("wallet_send", { to, amount: "2" }, inboxId);
  expect(first).toMatchObject({ success: true, status: "confirmed" });
  expect(await call("wallet_send", { to, amount: "2" }, inboxId)).toEqual(first);
  expect(await usd.balanceOf(to)).toBe(2n * USD);
  const { spends } = await ledger.list(userId, { limit: 1 });
  expect(spends[0]?.agentId).toBe("agent");
  expect(await ledger.list(userId, { limit: 10 }, { agentId: "agent" })).toMatchObject({
    spends: [{ id: spends[0]?.id }],
    total: 1,
  });
  expect(await ledger.list(userId, { limit: 10 }, { agentId: "another" })).toEqual({ spends: [], total: 0 });
});

test("it obeys the policy", async () => {
  const to = freshAddress();
  expect(call("wallet_send", { to, amount: "10.5" })).rejects.toMatchObject({ code: "POLICY_DENIED" });
  expect(await usd.balanceOf(to)).toBe(0n);
});
