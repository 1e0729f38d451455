// Tests spoken replies: when they are spoken, what is stored and sent, and what they cost, also through a crash.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import { sound } from "../../../tests/support/sounds.ts";
import type { Agent } from "../../agents/index.ts";
import { uploads } from "../../uploads/index.ts";
import type { InboundMessage } from "../inbox/entries.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";

const voice = { kind: "audio" as const, ref: "voice", mimeType: "audio/ogg", voice: true };
let fixture: RuntimeFixture;
let ogg: Buffer<ArrayBuffer>;
beforeAll(async () => {
  ogg = await sound("ogg", 2);
  fixture = await openRuntimeFixture({ SHUTDOWN_GRACE: "1ms" });
  fixture.platform.fetchFile = async () => ogg;
});
afterEach(() => {
  fixture.upstream.reset();
  fixture.sent.length = 0;
});
afterAll(() => fixture[Symbol.asyncDispose]());

const speaks = () => fixture.upstream.scriptAudio({ speaks: () => new Uint8Array(ogg), hears: () => "Hello" });
async function answered(agent: Agent, content: string, more: Partial<InboundMessage> = {}) {
  await fixture.hear(agent, content, more);
  await eventually(() => fixture.sent.length === 1);
  await fixture.idle();
  const { body, files = [] } = fixture.sent.splice(0)[0] ?? { body: "" };
  return { body, files };
}
/** The rows of the ledger, of which some are written a little later. */
const paid = (agent: Agent, count = 2) =>
  eventually(async () => {
    const sql = "SELECT model, cost_micro_usd AS cost FROM usage WHERE agent_id = ? ORDER BY at, id";
    const rows = await fixture.rows(sql, agent.id);
    return rows.length >= count ? rows : undefined;
  });
const warnings = (agent: Agent) =>
  eventually(async () => {
    const sql = "SELECT message FROM agent_logs WHERE agent_id = ? AND level = 'warning'";
    const rows = await fixture.rows(sql, agent.id);
    return rows.length > 0 ? rows.map(({ message }) => message) : undefined;
  });

describe("a spoken reply", () => {
  test("is a voice message that stands alone; the text is stored, the sound is a file, and both are paid", async () => {
    speaks();
    fixture.upstream.script("The harbour is **open**.");
    const agent = await fixture.agent({ voice: "always" });
    const { body, files } = await answered(agent, "Open?");
    expect(body).toBe("");
    expect(files).toMatchObject([
      { kind: "voice", name: "reply.ogg", type: "audio/ogg", size: ogg.length, words: "The harbour is open." },
    ]);
    expect(await fixture.host.use(uploads).read(agent.id, files[0]?.id ?? "")).toEqual(new Uint8Array(ogg));
    expect((await fixture.messagesOf(agent))[1]).toMatchObject({ content: "The harbour is **open**." });
    expect(fixture.upstream.spoken).toEqual([
      {
        ...{ model: "gpt-4o-mini-tts", input: "The harbour is open.", voice: "alloy" },
        ...{ responseFormat: "opus", instructions: undefined },
      },
    ]);
    // Two seconds at 0.015 USD a minute, and twenty characters.
    expect(await paid(agent)).toMatchObject([{ model: "fake-small" }, { model: "gpt-4o-mini-tts", cost: 512 }]);
  });

  test("comes beside the text where a voice can't say everything", async () => {
    speaks();
    fixture.upstream.script("See [the plan](https://example.com/plan).");
    const { body, files } = await answered(await fixture.agent({ voice: "always" }), "Plan?");
    expect(body).toBe("See [the plan](https://example.com/plan).");
    expect(files).toMatchObject([{ kind: "voice" }]);
    expect(files[0]).not.toHaveProperty("words");
    expect(fixture.upstream.spoken[0]?.input).toBe("See the plan.");
  });

  test("answers voice messages alone with “when spoken to”", async () => {
    speaks();
    const agent = await fixture.agent({ voice: "when spoken to" });
    expect(await answered(agent, "Hello")).toEqual({ body: "echo: Hello", files: [] });
    expect(fixture.upstream.spoken).toEqual([]);
    const spoken = await answered(agent, "[voice message]", { attachments: [voice] });
    expect(spoken).toMatchObject({ body: "", files: [{ kind: "voice" }] });
  });

  test("takes the model and the voice of the configuration", async () => {
    speaks();
    const agent = await fixture.agent({ voice: { replies: "always", model: "provider_5:tts-1", voice: "nova" } });
    await answered(agent, "Hello");
    expect(fixture.upstream.spoken).toMatchObject([{ model: "tts-1", voice: "nova" }]);
    // Eleven characters at 15 USD per million.
    expect(await paid(agent)).toContainEqual({ model: "tts-1", cost: 165 });
  });

  test("reaches callers of the web with its text", async () => {
    speaks();
    const agent = await fixture.agent({ voice: "always" });
    const { reply, files } = await fixture.chat(agent, "Hello");
    expect(reply).toBe("echo: Hello");
    expect(files).toMatchObject([{ kind: "voice", type: "audio/ogg" }]);
  });

  test("is not for visitors and other agents", async () => {
    speaks();
    const agent = await fixture.agent({ voice: "always" });
    const { files } = await fixture.chat(agent, "Hello", { platform: "public", peer: "p", byOwner: false });
    expect(files).toBeUndefined();
    expect(fixture.upstream.spoken).toEqual([]);
  });
});

describe("an agent without the setting", () => {
  test("makes no call, keeps no step, and reads no file", async () => {
    speaks();
    const agent = await fixture.agent();
    expect(await answered(agent, "[voice message]", { attachments: [voice] })).toMatchObject({ files: [] });
    expect(fixture.upstream.spoken).toEqual([]);
    expect(await fixture.rows("SELECT has_steps FROM inbox WHERE agent_id = ?", agent.id)).toEqual([{ has_steps: 0 }]);
  });
});

describe("a reply that can't be spoken", () => {
  test.each([
    [503, "The model for it can't be reached right now."],
    [400, "The model for it did not take it."],
  ])("after status %d is sent as a text, and the owner's log says why", async (status, reason) => {
    fixture.upstream.scriptAudio({ speaks: () => ({ status }) });
    const agent = await fixture.agent({ voice: "always" });
    expect(await answered(agent, "Hello")).toEqual({ body: "echo: Hello", files: [] });
    expect(await warnings(agent)).toEqual([`The reply was not read aloud. ${reason}`]);
    expect((await paid(agent, 1)).length).toBe(1);
  });

  test("because the answer is no sound", async () => {
    fixture.upstream.scriptAudio({ speaks: () => new TextEncoder().encode("sorry") });
    const agent = await fixture.agent({ voice: "always" });
    expect(await answered(agent, "Hello")).toEqual({ body: "echo: Hello", files: [] });
  });

  test("because the budget is used up: no call is made", async () => {
    speaks();
    const budget = { usdPerDay: 0.01 };
    const agent = await fixture.agent({ voice: "always", model: "provider_5:gpt-4o-mini", maxTokens: 100, budget });
    // To read it aloud may cost four cents.
    fixture.upstream.script("Long. ".repeat(240));
    const { body, files } = await answered(agent, "Hello");
    expect(files).toEqual([]);
    expect(body).toStartWith("Long.");
    expect(fixture.upstream.spoken).toEqual([]);
    await eventually(async () => (await warnings(agent)).join().includes("has used up its budget"));
  });

  test("because no provider has a model for it", async () => {
    const agent = await fixture.agent({ voice: { replies: "always", model: "provider_2:none" } });
    expect(await answered(agent, "Hello")).toEqual({ body: "echo: Hello", files: [] });
    expect(await warnings(agent)).toEqual(["The reply was not read aloud. No provider has a model for it."]);
  });
});

describe("a restart", () => {
  test("while a reply is read aloud: the model's answer is not paid again", async () => {
    let asked = 0;
    fixture.upstream.scriptAudio({ speaks: () => (++asked === 1 ? { hang: true } : new Uint8Array(ogg)) });
    const agent = await fixture.agent({ voice: "always" });
    await fixture.hear(agent, "Hello");
    await eventually(() => asked === 1);
    await fixture.restart();
    await eventually(() => fixture.sent.length === 1);
    expect(fixture.sent).toMatchObject([{ body: "", files: [{ kind: "voice", words: "echo: Hello" }] }]);
    expect(fixture.upstream.chats.length).toBe(1);
  });

  test("after it was read aloud: it is neither read nor paid again", async () => {
    speaks();
    const agent = await fixture.agent({ voice: "always" });
    const stopped = Promise.withResolvers<void>();
    fixture.platform.answer = async () => {
      stopped.resolve();
      return { kind: "retry", reason: "down", after: 3_600_000 };
    };
    await fixture.hear(agent, "Hello");
    await stopped.promise;
    fixture.platform.answer = () => ({ kind: "sent" });
    await fixture.restart();
    await eventually(() => fixture.sent.length === 1);
    expect(fixture.sent).toMatchObject([{ files: [{ kind: "voice", words: "echo: Hello" }] }]);
    expect(fixture.upstream.spoken.length).toBe(1);
    expect((await paid(agent)).map(({ model }) => model)).toEqual(["fake-small", "gpt-4o-mini-tts"]);
  });
});
