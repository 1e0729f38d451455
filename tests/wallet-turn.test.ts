// The wallet skill in whole turns: a model calls its tools, the owner's configuration and approval decide, the chain confirms.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { type AgentItem, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
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

/** Sends a message that the model answers with this tool call; returns the tool's result. */
async function toolResult({ client }: Owner, name: string, input: object): Promise<string> {
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
const jsonResult = async (owner: Owner, name: string, input: object): Promise<Record<string, unknown>> =>
  JSON.parse(await toolResult(owner, name, input));

/** Sends USD and ether to the agent's wallet. */
async function fund(address: string): Promise<void> {
  await usd.mint(address, 20n * USD);
  await giveEther(chain, address);
}

test("without the skill the model gets none of its tools", async () => {
  const ada = await owner({ skills: { wallet: false } });
  upstream.script("Ay.");
  await ada.client.post("/api/agent", { message: "Pay them." });
  const [chat] = upstream.chats;
  expect(JSON.stringify(chat?.body.tools ?? [])).not.toContain("wallet_");
});

test("an agent creates its owner's wallet once, reads its balance, and sends", async () => {
  const ada = await owner();
  expect(await toolResult(ada, "wallet_balance", {})).toContain("Make a wallet first");
  const { address, made } = await jsonResult(ada, "wallet_create", {});
  expect({ address, made }).toEqual({ address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/), made: true });
  expect(await jsonResult(ada, "wallet_create", {})).toEqual({ address, made: false });
  expect((await ada.client.get("/api/wallet")).body).toMatchObject({ address, hasWallet: true });
  await fund(String(address));
  expect(await jsonResult(ada, "wallet_balance", {})).toMatchObject({ address, usd: "20", ether: "1" });
  const to = freshAddress();
  expect(await jsonResult(ada, "wallet_send", { to, amount: "1.5" })).toMatchObject({
    status: "confirmed",
    amount: "1.5",
  });
  expect(await usd.balanceOf(to)).toBe(1_500_000n);
  const { spends } = (await ada.client.get<{ spends: object[] }>("/api/wallet/spends")).body;
  expect(spends).toEqual([expect.objectContaining({ kind: "send", agentId: ada.agent.id, to, usd: "1.5" })]);
}, 60_000);

test("two equivalent calls in the reply to one message are one spend", async () => {
  const ada = await owner();
  await fund(String((await jsonResult(ada, "wallet_create", {})).address));
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

describe("the configured approval of a tool:", () => {
  test("`ask` waits until the owner sees and approves the spend", async () => {
    const ada = await owner({ approvals: { wallet_send: "ask" } });
    await fund(String((await jsonResult(ada, "wallet_create", {})).address));
    const to = freshAddress();
    const { id, status } = await jsonResult(ada, "wallet_send", { to, amount: "3" });
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

  test("`deny` rejects every tool, also those that only read", async () => {
    const approvals = { wallet_balance: "deny", wallet_create: "deny", wallet_send: "deny" };
    const ada = await owner({ approvals });
    expect(await toolResult(ada, "wallet_create", {})).toContain("switched off");
    expect((await ada.client.get("/api/wallet")).body).toMatchObject({ hasWallet: false });
    const { address } = (await ada.client.post<{ address: string }>("/api/wallet", { action: "create" })).body;
    await fund(address);
    expect(await toolResult(ada, "wallet_balance", {})).toContain("switched off");
    const to = freshAddress();
    expect(await toolResult(ada, "wallet_send", { to, amount: "1" })).toContain("switched off");
    expect(await usd.balanceOf(to)).toBe(0n);
  });
});
