// Tests turns that wait for the owner's approval: their lane is free, and they go on with the decision, also after a restart.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import { eventually } from "../../../tests/support/eventually.ts";
import { rejectionOf } from "../../../tests/support/rejection.ts";
import type { Agent } from "../../agents/index.ts";
import { approvals, type Decision } from "../../approvals/index.ts";
import { defineTool, type Skill } from "../../skills/index.ts";
import { createTurnCounter } from "../inbox/turn-counter.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";

let fixture: RuntimeFixture;
const sent: { to: string; approved: boolean }[] = [];
const skill: Skill = {
  ...{ id: "mail", name: "mail", description: "", category: "test", version: "1", enabledByDefault: true },
  tools: () => tools,
};
const tools = [
  defineTool({
    name: "send_mail",
    class: "outside",
    description: "Sends.",
    input: t.Object({ to: t.String() }),
    summarize: ({ to }) => `Write to ${to}`,
    execute({ to }, { approved }) {
      sent.push({ to, approved });
      return `sent to ${to}`;
    },
  }),
];

beforeAll(async () => {
  fixture = await openRuntimeFixture({}, {}, [skill]);
  fixture.platform.isOwner = async (_, senderId) => senderId === "1";
});
beforeEach(() => {
  sent.length = 0;
  fixture.sent.length = 0;
  fixture.upstream.reset();
  // Sends mail to each name in the message, and reports what became of it.
  fixture.upstream.script(({ lastUser, toolResults }) => {
    const results = toolResults.map(({ content }) => content.replace(/^\{"error":"(.*)"\}$/, "$1"));
    if (results.length > 0) return results.join("; ");
    const names = lastUser.startsWith("Mail") ? lastUser.slice(5).split(" and ") : [];
    if (names.length === 0) return `Ay: ${lastUser}`;
    return { toolCalls: names.map((to) => ({ name: "send_mail", arguments: { to } })) };
  });
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const requests = (agent: Agent) =>
  fixture.rows("SELECT id, code, status, summary FROM approvals WHERE agent_id = ? ORDER BY id", agent.id);
const service = () => fixture.host.use(approvals);
async function decide(agent: Agent, n: number, decision: Decision) {
  const id = String((await requests(agent))[n]?.id);
  return service().decide(await fixture.reload(agent), id, decision, "web");
}
const suspended = (agent: Agent) =>
  fixture.rows("SELECT content, status, suspended, has_steps FROM inbox WHERE agent_id = ? ORDER BY id", agent.id);
const bodies = () => fixture.sent.map(({ peer, body }) => [peer, body]);
/** Accepts a message of the owner in a chat of their own. */
const owner = (agent: Agent, content: string) =>
  fixture.hear(agent, content, { byOwner: true, sender: { id: "1", name: "Ada" }, to: { peer: "own" } });
const untilReply = (agent: Agent, text: string) =>
  eventually(async () => (await fixture.messagesOf(agent)).some(({ content }) => content === text), {
    what: `the reply "${text}"`,
  });

test("the owner is asked in the conversation; later messages go on; the approved call runs once, and the turn ends", async () => {
  const agent = await fixture.agent();
  await owner(agent, "Mail Bob");
  await fixture.idle();
  // The channel shows the answers below the question.
  expect(bodies()).toEqual([["own", "May I do this?\n\nWrite to Bob"]]);
  expect(await suspended(agent)).toMatchObject([{ status: "pending", suspended: 1 }]);
  expect(fixture.runtime.heldCount()).toBe(0);

  await owner(agent, "And the weather?");
  await fixture.idle();
  expect(bodies().at(-1)).toEqual(["own", "Ay: And the weather?"]);
  expect(sent).toEqual([]);

  await decide(agent, 0, { decision: "approve" });
  await untilReply(agent, "sent to Bob");
  await fixture.idle();
  expect(sent).toEqual([{ to: "Bob", approved: true }]);
  // The audit log has the decision, and the call with the approval by which it ran.
  const [approval] = await requests(agent);
  expect(
    await fixture.rows(
      "SELECT actor_kind, action, target_name, details FROM audit_log WHERE actor_id = ?1 OR target_id = ?1 AND action LIKE 'approval.%' ORDER BY id",
      agent.id,
    ),
  ).toMatchObject([
    { action: "approval.approve", details: expect.stringContaining(String(approval?.id)) },
    {
      action: "tool.call",
      actor_kind: "agent",
      target_name: "send_mail",
      details: expect.stringContaining(String(approval?.id)),
    },
  ]);
  expect(bodies().at(-1)).toEqual(["own", "sent to Bob"]);
  // The message and the question are in the conversation once, in the order in which they were said.
  const roles = (await fixture.messagesOf(agent)).map(
    ({ role, content }) => `${role}: ${String(content).split("\n")[0]}`,
  );
  expect(roles).toEqual([
    "user: Mail Bob",
    "assistant: May I do this?",
    "user: And the weather?",
    "assistant: Ay: And the weather?",
    "assistant: sent to Bob",
  ]);
  // The model gets its message once, and last.
  const prompt = JSON.stringify(fixture.upstream.chats.at(-1)?.messages);
  expect(prompt.split("Mail Bob")).toHaveLength(2);
  expect(prompt.indexOf("weather")).toBeLessThan(prompt.indexOf("Mail Bob"));
});

test("the owner decides by command, in a private chat, once", async () => {
  const agent = await fixture.agent();
  await owner(agent, "Mail Bob");
  await fixture.idle();
  const code = String((await requests(agent))[0]?.code);
  await fixture.hear(agent, `/approve ${code}`, { sender: { id: "9", name: "Eve" } });
  await owner(agent, `/deny ${code.toLowerCase()}`);
  await untilReply(agent, "send_mail was not run: the owner has denied this call. Don't call it again.");
  await fixture.idle();
  expect(sent).toEqual([]);
  expect(bodies().map(([, body]) => body)).toContain("Only my owner can do that, in a chat of our own.");
  expect(bodies().map(([, body]) => body)).toContain("Denied: Write to Bob");
  const again = decide(agent, 0, { decision: "approve" });
  expect(await rejectionOf(again)).toMatchObject({ code: "ALREADY_DECIDED" });
});

test("the agent's log says which call a rule of the owner refused, once in a turn, and what was decided", async () => {
  const logged = async (agent: Agent) =>
    (await fixture.agents.logs.list(agent.id, { limit: 9 })).lines
      .map(({ message }) => message)
      .filter((message) => message.includes("call"))
      .toReversed();
  const forbidden = await fixture.agent({ approvals: { send_mail: "deny" } });
  await owner(forbidden, "Mail Bob and Eve");
  await fixture.idle();
  expect(bodies()).toEqual([["own", Array(2).fill("The owner of this agent has forbidden send_mail.").join("; ")]]);
  await eventually(async () => (await logged(forbidden)).length > 0, { what: "a line of the log" });
  expect(await logged(forbidden)).toEqual(["A call of send_mail was refused by your rule."]);

  const asking = await fixture.agent();
  await owner(asking, "Mail Bob");
  await fixture.idle();
  await decide(asking, 0, { decision: "deny" });
  await owner(asking, `Mail ${"x".repeat(70_000)}`);
  await eventually(async () => (await logged(asking)).length === 3, { what: "three lines of the log" });
  expect(await logged(asking)).toEqual([
    "A tool call waits for your approval: Write to Bob",
    "A call of send_mail was denied.",
    "A call of send_mail was refused: its input is too large to be shown.",
  ]);
});

test("a guest is told once that the owner is asked, who is asked in their own chat", async () => {
  const agent = await fixture.agent();
  await owner(agent, "Hello");
  await fixture.idle();
  fixture.sent.length = 0;
  await fixture.hear(agent, "Mail Bob", { to: { peer: "guest" } });
  await fixture.idle();
  const warning =
    "Other people have written in the conversation, and one of them may be behind this. Approve only what you want yourself.";
  const origin = "It is about a message of Bob on Telegram.";
  const question = `May I do this?\n\n${origin}\n\nWrite to Bob\n\n${warning}`;
  expect(new Map(bodies() as [string, string][])).toEqual(
    new Map([
      ["guest", "I need my owner's approval for this. I have asked, and go on as soon as I have the answer."],
      ["own", question],
    ]),
  );
});

test("the time for which a turn waits is no time that the agent took to answer", async () => {
  const agent = await fixture.agent();
  await owner(agent, "Mail Bob");
  await fixture.idle();
  const hour = 3_600_000;
  await fixture.kernel.database.write([
    {
      sql: "UPDATE inbox SET received_at = received_at - ?1, suspended_at = suspended_at - ?1 WHERE agent_id = ?2",
      args: [hour, agent.id],
    },
  ]);
  await decide(agent, 0, { decision: "approve" });
  await untilReply(agent, "sent to Bob");
  const [row] = await fixture.rows("SELECT waited_ms, settled_at, received_at FROM inbox WHERE agent_id = ?", agent.id);
  expect(Number(row?.waited_ms)).toBeGreaterThanOrEqual(hour);
  expect(Number(row?.settled_at) - Number(row?.received_at) - Number(row?.waited_ms)).toBeLessThan(hour);
  const counted: { ms: number }[] = [];
  await createTurnCounter(fixture.kernel)(agent.id, ({ recent }) => void counted.push(...recent));
  expect(counted.map(({ ms }) => ms < hour)).toEqual([true]);
});

test("a caller who waits gets the question as the reply, and finds the result in the conversation", async () => {
  const agent = await fixture.agent();
  const heard: string[] = [];
  const observer = { delta: (text: string) => void heard.push(text), tool: () => undefined };
  const { reply } = await fixture.chat(agent, "Mail Bob", { observer });
  // The console shows the question with buttons.
  expect(reply).toBe("May I do this?\n\nWrite to Bob");
  expect(heard.join("")).toBe(reply);
  await decide(agent, 0, { decision: "approve" });
  await untilReply(agent, "sent to Bob");
});

test("with several calls in one answer the turn goes on when all are decided; an edited input runs as edited", async () => {
  const agent = await fixture.agent();
  await owner(agent, "Mail Bob and Eve");
  await fixture.idle();
  const asked = (await requests(agent)).map(({ code, summary }) => ({
    body: `May I do this?\n\n${summary}`,
    choices: [
      { label: "Approve", text: `/approve ${code}` },
      { label: "Deny", text: `/deny ${code}` },
    ],
  }));
  expect(fixture.sent).toMatchObject(asked);
  await decide(agent, 0, { decision: "approve", input: { to: "Robert" } });
  await fixture.idle();
  expect({ sent, turns: await suspended(agent) }).toMatchObject({ sent: [], turns: [{ suspended: 1 }] });
  expect(await rejectionOf(decide(agent, 1, { decision: "approve", input: { to: 7 } }))).toMatchObject({ status: 400 });
  await decide(agent, 1, { decision: "deny" });
  await eventually(() => sent.length > 0, { what: "a mail" });
  await fixture.idle();
  expect(sent).toEqual([{ to: "Robert", approved: true }]);
  const reply = String((await fixture.messagesOf(agent)).at(-1)?.content);
  expect(reply).toContain('The owner has changed the input before approving it. It ran with {"to":"Robert"}');
  expect(reply).toContain("the owner has denied this call");
});

test("a decision that comes before the turn is suspended is not lost", async () => {
  const agent = await fixture.agent();
  const { events } = fixture.kernel;
  const stop = events.subscribe(({ type, agentId }) => {
    if (type === "approval.requested" && agentId === agent.id) void decide(agent, 0, { decision: "approve" });
  });
  try {
    await owner(agent, "Mail Bob");
    await untilReply(agent, "sent to Bob");
  } finally {
    stop();
  }
  expect(sent).toHaveLength(1);
});

describe("a waiting turn", () => {
  test("survives a restart, before and after the decision", async () => {
    const agent = await fixture.agent();
    await owner(agent, "Mail Bob");
    await fixture.idle();
    await fixture.restart();
    expect(await suspended(agent)).toMatchObject([{ suspended: 1 }]);
    await decide(agent, 0, { decision: "approve" });
    await untilReply(agent, "sent to Bob");
    expect(sent).toHaveLength(1);
  });

  test("ends with /stop, and its requests with it", async () => {
    const agent = await fixture.agent();
    await owner(agent, "Mail Bob");
    await fixture.idle();
    await owner(agent, "/stop");
    await fixture.idle();
    expect(await suspended(agent)).toMatchObject([{ status: "cancelled" }, { status: "done" }]);
    expect(await requests(agent)).toMatchObject([{ status: "expired" }]);
    expect(await rejectionOf(decide(agent, 0, { decision: "approve" }))).toMatchObject({ code: "EXPIRED" });
    expect(sent).toEqual([]);
  });

  test("goes on without the call when the time is over", async () => {
    const agent = await fixture.agent();
    await owner(agent, "Mail Bob");
    await fixture.idle();
    await fixture.kernel.database.write([
      { sql: "UPDATE approvals SET expires_at = 1 WHERE agent_id = ?", args: [agent.id] },
      { sql: "UPDATE jobs SET run_at = 1 WHERE kind = 'approvals.expire'", args: [] },
    ]);
    await fixture.kernel.jobs.start();
    await eventually(async () => (await suspended(agent))[0]?.status === "done", { what: "the turn is over" });
    expect(String((await fixture.messagesOf(agent)).at(-1)?.content)).toContain("has expired");
    expect(sent).toEqual([]);
  });

  test("is not repaired, and stays when the agent's memory is reset", async () => {
    const agent = await fixture.agent();
    await owner(agent, "Mail Bob");
    await fixture.idle();
    await fixture.runtime.service.backupRows.repair(agent.id);
    expect(await suspended(agent)).toMatchObject([{ status: "pending", suspended: 1 }]);
    expect(await fixture.messagesOf(agent)).toHaveLength(2);
  });
});

test("a rule of the configuration lets the call run, or forbids it", async () => {
  for (const [rule, reply] of [
    ["allow", "sent to Bob"],
    ["deny", "The owner of this agent has forbidden send_mail."],
  ]) {
    const agent = await fixture.agent({ approvals: { send_mail: rule } });
    await owner(agent, "Mail Bob");
    await untilReply(agent, reply ?? "");
    expect(await requests(agent)).toEqual([]);
  }
});
