// The wallet's skill inside whole turns: a model asks for tools, the owner's configuration and word decide, the chain shows it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { type AgentItem, expectRefusal, provision } from "./support/scene.ts";
import { deployToken, freshAddress, giveEther, type Token } from "./support/tokens.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const USD = 1_000_000n;
let chain: Anvil;
let usd: Token;
let upstream: Upstream;
let berth: Berth;
beforeAll(async () => {
  [chain, upstream] = await Promise.all([startAnvil({ chainId: 84_532 }), startUpstream({ models: ["captain"] })]);
  usd = await deployToken(chain);
  berth = await startBerth({
    env: {
      RATE_LIMITS: "off",
      TESTNET_RPC_URL: chain.url,
      STABLECOIN_ADDRESS_TESTNET: usd.address,
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:captain",
    },
  });
}, 60_000);
beforeEach(() => upstream.reset());
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
  await chain?.[Symbol.asyncDispose]();
});

interface Owner {
  client: Client;
  agent: AgentItem;
}

async function owner(config: object = {}): Promise<Owner> {
  const client = createClient(berth);
  await client.signUp();
  await client.grant("pro");
  await client.signIn();
  return { client, agent: await provision(client, "Purser", { skills: { wallet: true }, ...config }) };
}

/** One message, to which the model answers with this call of a tool; gives what the tool said to the model. */
async function told({ client }: Owner, name: string, input: object): Promise<string> {
  const results: string[] = [];
  upstream.script(({ toolResults }) => {
    results.push(...toolResults.map(({ content }) => content));
    return toolResults.length > 0 ? "Done." : { toolCalls: [{ name, arguments: input }] };
  });
  const { status, body } = await client.post("/api/agent", { message: "Do it." });
  expect({ status, body }).toMatchObject({ status: 200, body: { reply: "Done." } });
  expect(results).toHaveLength(1);
  return results[0] ?? "";
}
const parsed = async (owner: Owner, name: string, input: object): Promise<Record<string, unknown>> =>
  JSON.parse(await told(owner, name, input));

/** Puts money where the agent's wallet is. */
async function fund(address: string): Promise<void> {
  await usd.mint(address, 20n * USD);
  await giveEther(chain, address);
}

test("without the skill the model is offered no tool of it", async () => {
  const ada = await owner({ skills: { wallet: false } });
  upstream.script("Ay.");
  await ada.client.post("/api/agent", { message: "Pay them." });
  const [chat] = upstream.chats;
  expect(JSON.stringify(chat?.body.tools ?? [])).not.toContain("wallet_");
});

test("an agent makes its owner's wallet once, sees what is in it, and sends", async () => {
  const ada = await owner();
  expect(await told(ada, "wallet_balance", {})).toContain("Make a wallet first");
  const { address, made } = await parsed(ada, "wallet_create", {});
  expect({ address, made }).toEqual({ address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/), made: true });
  expect(await parsed(ada, "wallet_create", {})).toEqual({ address, made: false });
  expect((await ada.client.get("/api/wallet")).body).toMatchObject({ address, hasWallet: true });
  await fund(String(address));
  expect(await parsed(ada, "wallet_balance", {})).toMatchObject({ address, usd: "20", ether: "1" });
  const to = freshAddress();
  expect(await parsed(ada, "wallet_send", { to, amount: "1.5" })).toMatchObject({ status: "confirmed", amount: "1.5" });
  expect(await usd.balanceOf(to)).toBe(1_500_000n);
  const { spends } = (await ada.client.get<{ spends: object[] }>("/api/wallet/spends")).body;
  expect(spends).toEqual([expect.objectContaining({ kind: "send", agentId: ada.agent.id, to, usd: "1.5" })]);
}, 60_000);

test("two calls that mean the same, in the answer to one message, are one spend", async () => {
  const ada = await owner();
  await fund(String((await parsed(ada, "wallet_create", {})).address));
  const to = freshAddress();
  upstream.script(({ toolResults }) =>
    toolResults.length > 0
      ? "Done."
      : {
          toolCalls: [
            { name: "wallet_send", arguments: { to, amount: "2" } },
            { name: "wallet_send", arguments: { amount: "2.00", to: to.toLowerCase(), network: "testnet_chain" } },
          ],
        },
  );
  await ada.client.post("/api/agent", { message: "Send them two." });
  expect(await usd.balanceOf(to)).toBe(2n * USD);
});

describe("what the configuration says of a tool holds:", () => {
  test("`ask` waits for the owner, who sees what it is, and says yes", async () => {
    const ada = await owner({ approvals: { wallet_send: "ask" } });
    await fund(String((await parsed(ada, "wallet_create", {})).address));
    const to = freshAddress();
    const { id, status } = await parsed(ada, "wallet_send", { to, amount: "3" });
    expect(status).toBe("waiting_approval");
    expect(await usd.balanceOf(to)).toBe(0n);
    expect((await ada.client.get("/api/wallet/spends")).body).toMatchObject({
      spends: [{ id, status: "waiting_approval", to, usd: "3", agentId: ada.agent.id }],
    });
    const eve = await owner();
    expectRefusal(await eve.client.post(`/api/wallet/spends/${id}/approve`), 404, "SPEND_NOT_FOUND");
    expect((await ada.client.post(`/api/wallet/spends/${id}/approve`)).body).toMatchObject({ status: "confirmed" });
    expect(await usd.balanceOf(to)).toBe(3n * USD);
  }, 60_000);

  test("`deny` is no for every tool, also for those that only look", async () => {
    const approvals = { wallet_balance: "deny", wallet_create: "deny", wallet_send: "deny" };
    const ada = await owner({ approvals });
    expect(await told(ada, "wallet_create", {})).toContain("switched off");
    expect((await ada.client.get("/api/wallet")).body).toMatchObject({ hasWallet: false });
    const { address } = (await ada.client.post<{ address: string }>("/api/wallet", { action: "create" })).body;
    await fund(address);
    expect(await told(ada, "wallet_balance", {})).toContain("switched off");
    const to = freshAddress();
    expect(await told(ada, "wallet_send", { to, amount: "1" })).toContain("switched off");
    expect(await usd.balanceOf(to)).toBe(0n);
  });
});
