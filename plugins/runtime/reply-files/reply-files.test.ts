// Tests files that a turn sends with its reply: where they arrive, what is kept, and what a crash does to them.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import type { Agent } from "../../agents/index.ts";
import { approvals } from "../../approvals/index.ts";
import { defineTool, type Skill } from "../../skills/index.ts";
import { uploads } from "../../uploads/index.ts";
import { createConversationMessages } from "../conversations/conversation-messages.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";
import type { Observer } from "../turn/tool-calls.ts";
import type { SentFile } from "./sent-files.ts";

const PNG = new Uint8Array(Buffer.from("\x89PNG\r\n\x1a\n a chart", "latin1"));

let fixture: RuntimeFixture;
/** Calls of the tool so far; the tool waits for the gate after it has attached its files. */
let calls = 0;
let gate: Promise<unknown> = Promise.resolve();

const draw = defineTool({
  name: "draw",
  class: "read",
  description: "Draws.",
  input: t.Object({
    names: t.Array(t.String()),
    kind: t.Optional(t.Literal("document")),
    size: t.Optional(t.Integer()),
  }),
  async execute({ names, kind, size }, { attach, signal }) {
    calls++;
    if (!attach) return "Files can't be sent here.";
    const bytes = size === undefined ? PNG : new Uint8Array(size);
    for (const name of names) await attach({ name, bytes, type: "text/html", kind, caption: `This is ${name}.` });
    const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    await Promise.race([gate, aborted]);
    return "Sent.";
  },
});
const guarded = defineTool({
  ...{ name: "guarded", class: "outside", description: "Asks.", input: t.Object({}) },
  execute: () => "Done.",
});
const skill: Skill = {
  ...{ id: "drawing", name: "Drawing", description: "", category: "test", version: "1", enabledByDefault: true },
  tools: () => [draw, guarded],
};

beforeAll(async () => {
  fixture = await openRuntimeFixture({ SHUTDOWN_GRACE: "1ms" }, {}, [skill]);
});
beforeEach(() => {
  calls = 0;
  gate = Promise.resolve();
  fixture.sent.length = 0;
  fixture.upstream.reset();
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

/** The model draws once, then answers with this text. */
const scriptDrawing = (input: object, text = "Here it is.") =>
  fixture.upstream.script(({ toolResults }) =>
    toolResults.length > 0 ? text : { toolCalls: [{ name: "draw", arguments: input }] },
  );
const storedFiles = (agent: Agent) => fixture.rows("SELECT id, name FROM uploads WHERE agent_id = ?", agent.id);
async function untilAnswered(agent: Agent): Promise<void> {
  await eventually(async () => (await fixture.inbox(agent))[0]?.status === "done", { what: "the turn is over" });
  await fixture.idle();
}
const attempts = async (agent: Agent) =>
  (await fixture.rows("SELECT attempts FROM outbox WHERE agent_id = ?", agent.id))[0]?.attempts;
const bytesOf = async (agent: Agent, id = "") => fixture.host.use(uploads).read(agent.id, id);

describe("a reply with a file", () => {
  test("goes to the channel with what was attached, in order", async () => {
    const agent = await fixture.agent();
    scriptDrawing({ names: ["../a.html", "b.png"] });
    await fixture.hear(agent, "Draw.");
    await fixture.idle();
    const file = { type: "image/png", size: PNG.length, kind: "picture" };
    expect(fixture.sent).toMatchObject([
      {
        body: "Here it is.",
        files: [
          { ...file, name: "a.html", caption: "This is ../a.html." },
          { ...file, name: "b.png" },
        ],
      },
    ]);
    expect(await bytesOf(agent, fixture.sent[0]?.files?.[1]?.id)).toEqual(PNG);
  });

  test("tells its caller where the file is, as soon as it is attached and with the reply", async () => {
    const agent = await fixture.agent();
    scriptDrawing({ names: ["chart.png"] });
    const early: SentFile[] = [];
    const observer: Observer = { delta: () => undefined, tool: () => undefined, file: (one) => void early.push(one) };
    const { files = [] } = await fixture.chat(agent, "Draw.", { observer });
    const [{ id } = { id: undefined }] = await storedFiles(agent);
    expect(files).toEqual([
      {
        ...{ id: String(id), name: "chart.png", type: "image/png", size: PNG.length, kind: "picture" },
        ...{ caption: "This is chart.png.", url: `/api/agents/${agent.id}/uploads/${id}` },
      },
    ]);
    expect(early).toEqual(files);
  });

  test("is in the event of the reply, without what it says; other replies have none", async () => {
    const agent = await fixture.agent();
    scriptDrawing({ names: ["chart.png"] });
    const { files = [], inboxId } = await fixture.chat(agent, "Draw.");
    const facts = files.map(({ caption: _, ...file }) => file);
    fixture.upstream.script(() => "Hello.");
    await fixture.chat(agent, "Hello.");
    const events = await fixture.kernel.events.since(0, { agentId: agent.id, types: ["agent.message"] });
    expect(facts).toHaveLength(1);
    expect(events.map(({ data }) => data)).toEqual([
      expect.objectContaining({ inboxId, files: facts }),
      expect.not.objectContaining({ files: expect.anything() }),
    ]);
  });

  test("needs no text, and its conversation keeps what was sent", async () => {
    const agent = await fixture.agent();
    scriptDrawing({ names: ["chart.png"], kind: "document" }, "");
    await fixture.hear(agent, "Draw.");
    await fixture.idle();
    expect(fixture.sent).toMatchObject([{ body: "", files: [{ name: "chart.png", kind: "document" }] }]);
    expect((await fixture.messagesOf(agent))[1]).toEqual({ role: "assistant", content: "[sent document: chart.png]" });
  });

  test("is shown with the reply, not with the question that its turn has asked the owner before", async () => {
    const agent = await fixture.agent();
    fixture.upstream.script(({ toolResults }) => {
      if (toolResults.length === 0) return { toolCalls: [{ name: "draw", arguments: { names: ["chart.png"] } }] };
      return toolResults.at(-1)?.content === "Sent."
        ? { toolCalls: [{ name: "guarded", arguments: {} }] }
        : "Here it is.";
    });
    const { sessionId } = await fixture.chat(agent, "Draw, then ask.");
    const [request] = await fixture.rows("SELECT id FROM approvals WHERE agent_id = ?", agent.id);
    await fixture.host.use(approvals).decide(agent, String(request?.id), { decision: "approve" }, "web");
    await untilAnswered(agent);
    const readMessages = createConversationMessages({
      ...fixture.kernel,
      steps: fixture.runtime.steps,
      turnList: { figures: async () => () => null },
      uploads: fixture.host.use(uploads),
    });
    const { messages } = await readMessages(agent, sessionId, { before: undefined, limit: 10 });
    expect(messages.map(({ text, attachments }) => [text.split("\n")[0], attachments])).toEqual([
      ["Here it is.", [expect.objectContaining({ name: "chart.png", kind: "picture", caption: "This is chart.png." })]],
      ["May I do this?", []],
      ["Draw, then ask.", []],
    ]);
  });
});

describe("a crash", () => {
  test("between the file and the reply loses none and sends none twice", async () => {
    const agent = await fixture.agent();
    scriptDrawing({ names: ["a.png", "b.png"] });
    gate = new Promise(() => undefined);
    await fixture.hear(agent, "Draw.");
    await eventually(async () => (await storedFiles(agent)).length === 2, { what: "both files are stored" });
    gate = Promise.resolve();
    await fixture.restart();
    await untilAnswered(agent);
    expect(calls).toBe(2);
    expect(fixture.sent.map(({ files }) => files?.map(({ name }) => name))).toEqual([["a.png", "b.png"]]);
    expect(await storedFiles(agent)).toHaveLength(2);
  });

  test("after the call leaves the file to the next try, which does not call again", async () => {
    const agent = await fixture.agent();
    let failures = 0;
    fixture.upstream.script(({ toolResults }) => {
      if (toolResults.length === 0) return { toolCalls: [{ name: "draw", arguments: { names: ["a.png"] } }] };
      return failures++ === 0 ? { status: 500 } : "Here it is.";
    });
    await fixture.hear(agent, "Draw.");
    await fixture.idle();
    expect(calls).toBe(1);
    expect(fixture.sent).toMatchObject([{ body: "Here it is.", files: [{ name: "a.png" }] }]);
  });

  test("before the delivery leaves the file in the outbox", async () => {
    const agent = await fixture.agent();
    scriptDrawing({ names: ["a.png"] });
    const original = fixture.platform.answer;
    fixture.platform.answer = () => ({ kind: "retry", reason: "down", after: HOUR });
    await fixture.hear(agent, "Draw.");
    await eventually(async () => (await attempts(agent)) === 1, { what: "the first try has failed" });
    fixture.platform.answer = original;
    await fixture.restart();
    await eventually(() => fixture.sent.length === 1, { what: "the reply is delivered" });
    expect(fixture.sent).toMatchObject([{ files: [{ name: "a.png", kind: "picture" }] }]);
  });
});

describe("limits", () => {
  const resultOf = async (input: object, platform: "web" | "agent" | "public" = "web") => {
    const agent = await fixture.agent();
    let result = "";
    fixture.upstream.script(({ toolResults }) => {
      result = toolResults[0]?.content ?? "";
      return result ? "Done." : { toolCalls: [{ name: "draw", arguments: input }] };
    });
    const { files = [] } = await fixture.chat(agent, "Draw.", { platform, peer: platform === "web" ? undefined : "p" });
    return { result, files };
  };

  test("a reply has ten files; the model is told", async () => {
    const { result, files } = await resultOf({ names: Array.from({ length: 11 }, (_, n) => `${n}.png`) });
    expect(result).toContain("A reply has at most 10 files.");
    expect(files.map(({ name }) => name)).toEqual(Array.from({ length: 10 }, (_, n) => `${n}.png`));
  });

  test.each([
    [0, "The file is empty"],
    [20 * 1024 * 1024 + 1, "larger than 20 MiB"],
  ])("a file of %p bytes is refused", async (size, text) => {
    const { result, files } = await resultOf({ names: ["a.bin"], size });
    expect(result).toContain(text);
    expect(files).toEqual([]);
  });

  test.each(["agent", "public"] as const)("a reply to %p is text alone", async (platform) => {
    expect(await resultOf({ names: ["a.png"] }, platform)).toEqual({ result: "Files can't be sent here.", files: [] });
  });
});
