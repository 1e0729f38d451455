// Tests `make_picture` in turns: the request, the picture that is sent, what it costs, and that a crash pays for it once.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { callTool, toolContext, toolNamed } from "../../tests/support/skills.ts";
import { ONE_POINT_PNG } from "../../tests/support/upstream-pictures.ts";
import type { Agent } from "../agents/index.ts";
import type { InboxEntry } from "../runtime/inbox/entries.ts";
import { createTurnFiles, type TurnFiles } from "../runtime/reply-files/turn-files.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../runtime/support.test.ts";
import { skills, type ToolContext } from "../skills/index.ts";
import { uploads } from "../uploads/index.ts";
import { pictures } from "./index.ts";

let fixture: RuntimeFixture;
beforeAll(async () => {
  fixture = await openRuntimeFixture({ SHUTDOWN_GRACE: "1ms" });
  fixture.host.use(pictures);
});
beforeEach(() => {
  fixture.sent.length = 0;
  fixture.upstream.reset();
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const BOAT = { prompt: "A red boat, watercolour", caption: "A red boat", shape: "wide" };
const painter = (config = {}) => fixture.agent({ skills: { pictures: true }, ...config });
const offered = () => fixture.upstream.chats.at(-1)?.body.tools?.map((tool) => tool.function.name) ?? [];
/** Calls the tool as a turn does. */
async function paint(agent: Agent, more: Partial<ToolContext>) {
  const tool = toolNamed(await fixture.host.use(skills).toolsFor(agent.id, true, true), "make_picture");
  const context = toolContext(agent.id, more);
  const entry = { id: context.inboxId, platform: "web", hasSteps: true, attempts: 1 } as InboxEntry;
  const files = createTurnFiles(fixture.host.use(uploads), agent, entry);
  return callTool(tool, BOAT, { ...context, attach: (file) => attachTo(files, `${context.callKey}.0`, file) });
}
const attachTo = (files: TurnFiles | undefined, key: string, file: Parameters<TurnFiles["attach"]>[1]) => {
  if (!files) throw new Error("There are no files here.");
  return files.attach(key, file);
};
/** The model asks for a boat once, then answers. Returns the results that it got. */
function scriptBoat(): string[] {
  const results: string[] = [];
  fixture.upstream.script(({ toolResults }) => {
    results.push(...toolResults.map(({ content }) => content));
    return results.length > 0 ? "Here it is." : { toolCalls: [{ name: "make_picture", arguments: BOAT }] };
  });
  return results;
}
const costs = (agentId: string) =>
  fixture.rows("SELECT model, cost_micro_usd AS cost FROM usage WHERE agent_id = ? AND model LIKE '%image%'", agentId);

describe("a picture", () => {
  test("is made as asked, sent with its caption, and paid by what the provider counts", async () => {
    const agent = await painter();
    const results = scriptBoat();
    await fixture.hear(agent, "Paint a boat.");
    await fixture.idle();
    expect(fixture.upstream.painted).toEqual([
      { model: "gpt-image-1-mini", prompt: BOAT.prompt, size: "1536x1024", quality: "medium" },
    ]);
    const [{ body, files = [] } = { body: "" }] = fixture.sent;
    expect({ body, files }).toMatchObject({
      body: "Here it is.",
      files: [{ name: "picture.png", type: "image/png", kind: "picture", caption: "A red boat" }],
    });
    expect(await fixture.host.use(uploads).read(agent.id, files[0]?.id ?? "")).toEqual(ONE_POINT_PNG);
    expect(results[0]).toContain("The picture is sent with your reply.");
    // 50 tokens at $2 and 1,056 at $8 a million.
    expect(await costs(agent.id)).toEqual([{ model: "gpt-image-1-mini", cost: 8_548 }]);
  });

  test("is made and paid once, though its call is repeated after a crash", async () => {
    const agent = await painter();
    scriptBoat();
    const { inboxId, files = [] } = await fixture.chat(agent, "Paint a boat.");
    // The call of the first answer, whose end was not stored.
    const repeated = await paint(agent, { inboxId, callKey: `${inboxId}.2` });
    expect(repeated).toMatchObject({ ok: true, text: expect.stringContaining("is sent") });
    expect(fixture.upstream.painted).toHaveLength(1);
    expect(await costs(agent.id)).toHaveLength(1);
    expect((await fixture.host.use(uploads).ofReplies(agent.id, [inboxId])).get(inboxId)).toMatchObject([
      { id: files[0]?.id },
    ]);
  });

  test("is made by the model of the agent's configuration", async () => {
    const { ok } = await paint(await painter({ pictures: { model: "provider_5:gpt-image-1" } }), {});
    expect(ok).toBe(true);
    expect(fixture.upstream.painted).toMatchObject([{ model: "gpt-image-1", quality: "medium" }]);
  });

  test("of a model whose price is unknown is paid by what the answer counts, at the dearest known price", async () => {
    const agent = await painter({ pictures: { model: "provider_5:gpt-image-9" } });
    await paint(agent, {});
    // 50 tokens at $5 and 1,056 at $40 a million.
    expect(await costs(agent.id)).toEqual([{ model: "gpt-image-9", cost: 42_490 }]);
  });

  test("beyond the budget is not asked for", async () => {
    const agent = await painter({ budget: { usdPerDay: 0.001 } });
    const { ok, text } = await paint(agent, {});
    expect({ ok, text }).toMatchObject({ ok: false, text: expect.stringMatching(/budget/i) });
    expect(fixture.upstream.painted).toEqual([]);
  });

  test("that can't be stored is paid all the same, since the provider charges for it", async () => {
    const agent = await painter();
    fixture.upstream.scriptPictures(() => new Uint8Array(20 * 1024 * 1024 + 1));
    const { text } = await paint(agent, {});
    expect(text).toContain("larger than 20 MiB");
    await eventually(async () => (await costs(agent.id)).length === 1, { what: "the picture is paid" });
  });

  test("that the provider refuses costs nothing, and the model is told why", async () => {
    const agent = await painter();
    const results = scriptBoat();
    fixture.upstream.scriptPictures(() => ({ status: 400, message: "Your prompt was blocked by our safety system." }));
    await fixture.chat(agent, "Paint a boat.");
    expect(results[0]).toContain("Your prompt was blocked by our safety system.");
    expect(await costs(agent.id)).toEqual([]);
  });
});

test("the tool is offered where it is switched on and a provider has a model for it", async () => {
  await fixture.chat(await fixture.agent(), "Hello");
  expect(offered()).not.toContain("make_picture");
  await fixture.chat(await painter(), "Hello");
  expect(offered()).toContain("make_picture");
});
