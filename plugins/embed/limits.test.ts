// Tests that a site's visitors share the limits of visitors, however many tokens and chats they use.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { type EmbedFixture, openEmbedFixture, SHOP } from "./support.test.ts";

let embed: EmbedFixture;
beforeAll(async () => {
  embed = await openEmbedFixture({ RATE_LIMITS: '{"ai":"120/m"}' });
});
afterAll(() => embed[Symbol.asyncDispose]());

test("one address sends 20 messages a minute, to all agents and with all tokens together, also on public pages", async () => {
  const agents = [await embed.createEmbedded(), await embed.createOpenAgent({ embed: { origins: [SHOP] } })];
  const [, open = { id: "", subdomain: "" }] = agents;
  const sendNext = (sent: number) => embed.send(agents[sent % 2]?.subdomain ?? "", SHOP, { message: "Hello" });
  let sent = 0;
  let refused = await sendNext(sent);
  // The rate is a leaky bucket: while this takes a moment, a message or two more fit in.
  while (refused.status === 200 && sent < 30) refused = await sendNext(++sent);
  expect(sent).toBeWithin(20, 24);
  expectRefusal(refused, 429, "RATE_LIMITED");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(refused.headers.get("access-control-expose-headers")).toContain("retry-after");
  expectRefusal(await embed.visitor().sendMessage(open, "Hello"), 429, "RATE_LIMITED");
  expect((await embed.owner.post("/api/agent", { agentId: open.id, message: "Hello" })).status).toBe(200);
});
