// Tests prompts of schedules: where they are answered, with whose rights, and how their end is told.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Agent } from "../agents/index.ts";
import type { ScheduledOutcome, SettlementEffects } from "./scheduled-prompts.ts";
import { openRuntimeFixture, type RuntimeFixture } from "./support.test.ts";

let fixture: RuntimeFixture;
let agent: Agent;
let told: (ScheduledOutcome & { runId: string })[];
let ownerNotice: SettlementEffects["ownerNotice"];
beforeAll(async () => {
  fixture = await openRuntimeFixture();
  fixture.platform.isOwner = async (_, senderId) => senderId === "7";
  fixture.runtime.service.onScheduledSettled(async ({ runId }, outcome) => {
    told.push({ runId, ...outcome });
    return { statements: [], ...(ownerNotice && { ownerNotice }) };
  });
});
beforeEach(async () => {
  [told, ownerNotice] = [[], undefined];
  fixture.sent.length = 0;
  fixture.upstream.reset();
  fixture.upstream.script(({ lastUser }) => `echo: ${lastUser}`);
  agent = await fixture.agent();
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

async function run(to: { platform: string; peer: string } | { sessionId: string | null }) {
  const prompt = {
    agentId: agent.id,
    runId: crypto.randomUUID(),
    name: "Tea",
    prompt: "Make tea.",
    taint: 0 as const,
    to,
  };
  const { statements, ...accepted } = await fixture.runtime.service.acceptScheduled(prompt);
  await fixture.kernel.database.write(statements);
  await fixture.idle();
  return { ...accepted, runId: prompt.runId };
}
const chatOf = (peer: string) => ({ platform: "channel_a", peer });
const entryOf = async (id: string) =>
  (await fixture.rows("SELECT by_owner, kind FROM inbox WHERE agent_id = ? AND id = ?", agent.id, id))[0];

test("without a channel the reply is stored in a session that later runs share", async () => {
  const first = await run({ sessionId: null });
  const second = await run({ sessionId: first.sessionId });
  expect(second.sessionId).toBe(first.sessionId);
  expect((await run({ sessionId: "sess_0000000000000000" })).sessionId).not.toBe(first.sessionId);
  expect(fixture.sent).toEqual([]);
  expect(told.map(({ runId, status }) => [runId, status])).toContainEqual([first.runId, "done"]);
  expect(told[0]?.reply).toContain("Make tea.");
});

test("in the owner's chat it has the owner's rights; elsewhere a guest's, and no fact of the owner", async () => {
  await fixture.hear(agent, "Hello", { byOwner: true, to: { peer: "owner-chat" } });
  await fixture.hear(agent, "Hello", { sender: { id: "8", name: "Eve" }, to: { peer: "eve-chat" } });
  await fixture.idle();
  fixture.sent.length = 0;
  const { memories } = fixture.host.use((await import("../skills/index.ts")).skills);
  await memories.remember({ agentId: agent.id, content: "The safe code is 1234", source: "owner" });
  for (const [peer, byOwner] of [
    ["owner-chat", 1],
    ["eve-chat", 0],
    ["unknown-chat", 0],
  ] as const) {
    const { inboxId } = await run(chatOf(peer));
    expect(await entryOf(inboxId)).toEqual({ by_owner: byOwner, kind: "reminder" });
    const prompt = JSON.stringify(fixture.upstream.chats.at(-1)?.messages);
    expect(prompt.includes("The safe code")).toBe(byOwner === 1);
  }
  expect(fixture.sent.map(({ peer, replyTo }) => [peer, replyTo])).toEqual([
    ["owner-chat", null],
    ["eve-chat", null],
    ["unknown-chat", null],
  ]);
});

test("a failure is told to the plugin and not to the people of the conversation; a notice goes to the owner", async () => {
  await fixture.hear(agent, "Hello", { byOwner: true, to: { peer: "owner-chat" } });
  await fixture.idle();
  fixture.sent.length = 0;
  fixture.upstream.script(() => ({ status: 400, body: { error: { message: "no" } } }) as never);
  await run(chatOf("group"));
  expect(told).toMatchObject([{ status: "failed", error: expect.any(String) }]);
  expect(fixture.sent).toEqual([]);
  ownerNotice = (language) => `Paused (${language}).`;
  await run(chatOf("group"));
  expect(fixture.sent).toMatchObject([{ peer: "owner-chat", body: "Paused (en)." }]);
});
