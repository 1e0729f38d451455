// Tests the journal of turns: what an interrupted turn does again, what it does not, and what is kept of its steps.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import { deleteInBatches } from "../../../src/kernel/retention/deletion.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import type { Agent } from "../../agents/index.ts";
import { defineTool, type Skill, TAINT, type Tool, type ToolEffect } from "../../skills/index.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";
import { turnsKind } from "./journal-retention.ts";

let fixture: RuntimeFixture;
/** The runs of each tool, by the keys of their calls. */
const runs: { tool: string; key: string; approved: boolean }[] = [];
/** A tool waits for it before it returns. */
let gate: Promise<unknown> = Promise.resolve();

const tool = (name: string, effect: ToolEffect, more: Partial<Tool> = {}) => ({
  ...defineTool({
    name,
    class: "write",
    effect,
    description: name,
    input: t.Object({ password: t.Optional(t.String()), waits: t.Optional(t.Boolean()) }),
    async execute({ waits }, { callKey, approved, raiseTaint, signal }) {
      runs.push({ tool: name, key: callKey, approved });
      if (name === "read_it") raiseTaint(TAINT.outside);
      const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      if (waits) await Promise.race([gate, aborted]);
      return `${name} did it with Bearer abcdefghijklmnop`;
    },
  }),
  ...more,
});
const tools = [
  tool("read_it", "read", { class: "read" }),
  tool("set_it", "idempotent", { passesTaintOn: true }),
  tool("pay_it", "once", { passesTaintOn: true }),
  tool("guarded", "once"),
];
const skill: Skill = {
  ...{ id: "steps", name: "steps", description: "", category: "test", version: "1", enabledByDefault: true },
  tools: () => tools,
};

beforeAll(async () => {
  fixture = await openRuntimeFixture({ SHUTDOWN_GRACE: "1ms" }, {}, [skill]);
});
beforeEach(() => {
  runs.length = 0;
  gate = Promise.resolve();
  fixture.upstream.reset();
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const countOf = (name: string) => runs.filter((run) => run.tool === name).length;
const steps = (agentId: string) => fixture.rows("SELECT * FROM turn_steps WHERE agent_id = ? ORDER BY seq", agentId);
const call = (name: string, input: object = {}) => ({ name, arguments: input });

/** Ends the process while a tool waits, and starts it again; returns when the turn is over. */
async function interruptAt(name: string, agent: Agent): Promise<void> {
  await eventually(() => countOf(name) > 0, { what: `${name} runs` });
  gate = Promise.resolve();
  await fixture.restart();
  await eventually(async () => (await fixture.inbox(agent))[0]?.status !== "pending", { what: "the turn is over" });
}

test("a turn without tools leaves no steps", async () => {
  const agent = await fixture.agent();
  fixture.upstream.script(() => "Hello");
  await fixture.chat(agent, "Hi");
  expect(await steps(agent.id)).toEqual([]);
  expect(await fixture.rows("SELECT has_steps FROM inbox WHERE agent_id = ?", agent.id)).toEqual([{ has_steps: 0 }]);
});

test("a turn whose model fails goes on behind its last step: nothing is paid or done twice", async () => {
  const agent = await fixture.agent();
  let failures = 0;
  fixture.upstream.script(({ toolResults }) => {
    if (toolResults.length === 0) return { text: "I pay.", toolCalls: [call("pay_it")] };
    if (failures++ === 0) return { status: 500 };
    return "Paid.";
  });
  await fixture.hear(agent, "Pay it");
  await fixture.idle();
  expect(countOf("pay_it")).toBe(1);
  expect(fixture.upstream.chats).toHaveLength(3);
  expect((await fixture.messagesOf(agent)).at(-1)).toEqual({ role: "assistant", content: "I pay.\n\nPaid." });
  // The model gets the same conversation as before.
  const [, failed, repeated] = fixture.upstream.chats;
  expect(repeated?.messages).toEqual(failed?.messages);
});

describe("a call that was interrupted", () => {
  test("is repeated with the same key if it reads or is idempotent; one that runs once is not", async () => {
    const agent = await fixture.agent();
    gate = new Promise(() => undefined);
    const results: string[] = [];
    fixture.upstream.script(({ toolResults }) => {
      if (toolResults.length === 0) {
        const input = { waits: true };
        return { toolCalls: [call("read_it", input), call("set_it", input), call("pay_it", input)] };
      }
      results.push(...toolResults.map(({ content }) => content));
      return "Done.";
    });
    await fixture.hear(agent, "Do all three");
    await interruptAt("pay_it", agent);
    expect([countOf("read_it"), countOf("set_it"), countOf("pay_it")]).toEqual([2, 2, 1]);
    for (const name of ["read_it", "set_it"]) {
      expect(new Set(runs.filter((run) => run.tool === name).map(({ key }) => key)).size).toBe(1);
    }
    expect(new Set(runs.map(({ key }) => key)).size).toBe(3);
    expect(results[2]).toContain("it is not known whether the call had its effect");
    const [, , , interrupted] = await steps(agent.id);
    expect(interrupted).toMatchObject({ name: "pay_it", ok: 0 });
    const logged = await fixture.agents.logs.list(agent.id, { limit: 10 });
    expect(JSON.stringify(logged)).toContain("interrupted while I used pay_it");
  });

  test("has no part in a finished one beside it, which is not repeated", async () => {
    const agent = await fixture.agent();
    gate = new Promise(() => undefined);
    fixture.upstream.script(({ toolResults }) =>
      toolResults.length === 0 ? { toolCalls: [call("pay_it"), call("set_it", { waits: true })] } : "Done.",
    );
    await fixture.hear(agent, "Pay, and set it");
    await eventually(async () => (await steps(agent.id)).some(({ name, ok }) => name === "pay_it" && ok === 1), {
      what: "the payment is stored",
    });
    await interruptAt("set_it", agent);
    expect([countOf("pay_it"), countOf("set_it")]).toEqual([1, 2]);
    expect(fixture.upstream.chats).toHaveLength(2);
  });
});

test("what an earlier try has read taints the later ones", async () => {
  const agent = await fixture.agent();
  let failures = 0;
  fixture.upstream.script(({ toolResults }) => {
    if (toolResults.length === 0) return { toolCalls: [call("read_it")] };
    if (failures++ === 0) return { status: 500 };
    return toolResults.length === 1 ? { toolCalls: [call("guarded")] } : "Asked.";
  });
  await fixture.hear(agent, "Read it, then do the other", { byOwner: true });
  await fixture.idle();
  expect(countOf("guarded")).toBe(0);
});

test("exact texts are sealed while the turn runs and deleted when it ends; what is shown and kept has no secrets", async () => {
  const agent = await fixture.agent();
  const open = Promise.withResolvers<void>();
  gate = open.promise;
  fixture.upstream.script(({ toolResults }) =>
    toolResults.length === 0 ? { toolCalls: [call("pay_it", { password: "hunter2", waits: true })] } : "Done.",
  );
  const reply = fixture.chat(agent, "Pay it");
  await eventually(() => countOf("pay_it") === 1, { what: "the tool runs" });
  const [answer, running] = await steps(agent.id);
  expect(answer).toMatchObject({ kind: "model", name: expect.stringContaining("fake-small"), ok: 1 });
  expect(running).toMatchObject({ effect: "once", ok: null, ended_at: null, sealed: expect.stringMatching(/^v1\./) });
  open.resolve();
  await reply;
  const ended = await steps(agent.id);
  expect(ended).toMatchObject([{ sealed: null }, { sealed: null, ok: 1, ended_at: expect.any(Number) }]);
  const kept = await fixture.rows("SELECT steps FROM messages WHERE agent_id = ?", agent.id);
  for (const text of [JSON.stringify([answer, running]), JSON.stringify(ended), JSON.stringify(kept)]) {
    expect(text).not.toContain("hunter2");
    expect(text).not.toContain("abcdefghijklmnop");
  }
  expect(JSON.stringify(kept)).toContain("pay_it did it");
});

test("a call that waits for a stop ends with the turn, and is not taken up again", async () => {
  const agent = await fixture.agent();
  gate = new Promise(() => undefined);
  fixture.upstream.script(() => ({ toolCalls: [call("pay_it", { waits: true })] }));
  await fixture.hear(agent, "Pay it");
  await eventually(() => countOf("pay_it") === 1, { what: "the tool runs" });
  await fixture.hear(agent, "/stop");
  await fixture.idle();
  expect(await fixture.inbox(agent)).toMatchObject([{ status: "cancelled" }, { status: "done" }]);
  expect(await steps(agent.id)).toMatchObject([{}, { ok: null, sealed: null }]);
});

test("the journal is kept for 30 days, longer of a turn that is not over, and goes with the message", async () => {
  const [agent, pending] = [await fixture.agent(), await fixture.agent()];
  fixture.upstream.script(({ toolResults }) => (toolResults.length === 0 ? { toolCalls: [call("read_it")] } : "Read."));
  await fixture.chat(agent, "Read it");
  await fixture.chat(pending, "Read it");
  await fixture.kernel.database.write([
    { sql: "UPDATE inbox SET status = 'pending' WHERE agent_id = ?", args: [pending.id] },
  ]);
  const { steps: deletion } = turnsKind(fixture.kernel.database, 30 * DAY);
  expect(await deleteInBatches(deletion, Date.now() - DAY)).toBe(0);
  await deleteInBatches(deletion, Date.now() + DAY);
  expect(await steps(agent.id)).toEqual([]);
  expect(await steps(pending.id)).toHaveLength(2);
  await fixture.kernel.database.write([
    { sql: "UPDATE inbox SET status = 'done', content = '' WHERE agent_id = ?", args: [pending.id] },
  ]);
  expect(await steps(pending.id)).toEqual([]);
});
