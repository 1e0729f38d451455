// Tests which files of earlier messages a tool finds: by age, by a reply, after restarts, and in no other conversation.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import type { Agent } from "../../agents/index.ts";
import { defineTool, type EarlierFile, type Skill } from "../../skills/index.ts";
import { uploads } from "../../uploads/index.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";
import type { InboundMessage } from "./entries.ts";

let fixture: RuntimeFixture;
/** What the tool has found. */
let found: (Pick<EarlierFile, "name" | "byAgent"> & { text: string | undefined })[] = [];
/** References that the platform was asked for. */
const asked: string[] = [];

const look = defineTool({
  ...{ name: "look", class: "read", description: "Looks.", input: t.Object({}) },
  async execute(_, { earlierFiles, signal }) {
    const files = (await earlierFiles?.()) ?? [];
    found = await Promise.all(
      files.map(async ({ name, byAgent, read }) => {
        const bytes = await read(1_000, signal);
        return { name, byAgent, text: bytes && new TextDecoder().decode(bytes) };
      }),
    );
    return "Seen.";
  },
});
const write = defineTool({
  ...{ name: "write", class: "read", description: "Writes.", input: t.Object({}) },
  async execute(_, { attach }) {
    await attach?.({ name: "made.txt", bytes: new TextEncoder().encode("made"), type: "text/plain" });
    return "Sent.";
  },
});
const skill: Skill = {
  ...{ id: "looking", name: "Looking", description: "", category: "test", version: "1", enabledByDefault: true },
  tools: () => [look, write],
};

beforeAll(async () => {
  fixture = await openRuntimeFixture({ SHUTDOWN_GRACE: "1ms" }, {}, [skill]);
});
beforeEach(() => {
  [found, asked.length] = [[], 0];
  fixture.platform.fetchFile = async (_, { ref }) => {
    asked.push(ref);
    return new TextEncoder().encode(`bytes of ${ref}`);
  };
  fixture.upstream.script(({ lastUser, toolResults }) => {
    if (toolResults.length > 0) return "Done.";
    if (lastUser.includes("look")) return { toolCalls: [{ name: "look", arguments: {} }] };
    return lastUser.includes("write") ? { toolCalls: [{ name: "write", arguments: {} }] } : "Yes.";
  });
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const file = (name: string) => ({ kind: "document" as const, ref: `ref-${name}`, mimeType: "text/csv", name });
async function says(agent: Agent, content: string, names: string[] = [], more: Partial<InboundMessage> = {}) {
  const notes = names.map((name) => `[document: ${name}]`);
  const attachments = names.length > 0 ? { attachments: names.map(file) } : {};
  await fixture.hear(agent, [...notes, content].join("\n"), { byOwner: true, ...attachments, ...more });
  await fixture.idle();
}
const names = () => found.map(({ name }) => name);

describe("a tool that asks for earlier files", () => {
  test("gets those of the conversation, newest first, with what the agent has sent", async () => {
    const agent = await fixture.agent();
    await says(agent, "here", ["a.csv", "b.csv"]);
    await says(agent, "write");
    await says(agent, "thanks", ["c.csv"]);
    await says(agent, "look");
    expect(found).toEqual([
      { name: "c.csv", byAgent: false, text: "bytes of ref-c.csv" },
      { name: "made.txt", byAgent: true, text: "made" },
      { name: "a.csv", byAgent: false, text: "bytes of ref-a.csv" },
      { name: "b.csv", byAgent: false, text: "bytes of ref-b.csv" },
    ]);
  });

  test("gets those of the message that is replied to first, however old it is", async () => {
    const agent = await fixture.agent();
    await says(agent, "here", ["old.csv"], { platformMessageId: "bot/1" });
    for (let n = 0; n < 31; n++) await says(agent, `word ${n}`);
    await says(agent, "there", ["new.csv"]);
    await says(agent, "look");
    expect(names()).toEqual(["new.csv"]);
    await says(agent, "look", [], { repliesTo: "bot/1" });
    expect(names()).toEqual(["old.csv", "new.csv"]);
  });

  test("gets nothing of another conversation, of another agent, or after a new beginning", async () => {
    const [agent, other] = [await fixture.agent(), await fixture.agent()];
    await says(agent, "here", ["a.csv"], { platformMessageId: "bot/2", to: { peer: "chat-2" } });
    await says(other, "here", ["b.csv"], { platformMessageId: "bot/2" });
    await says(agent, "look", [], { repliesTo: "bot/2" });
    expect(names()).toEqual([]);
    await says(agent, "/reset", [], { to: { peer: "chat-2" } });
    await says(agent, "look", [], { to: { peer: "chat-2" } });
    expect(names()).toEqual([]);
  });

  test("gets them after a restart, too; a message without such a tool fetches and reads none", async () => {
    const agent = await fixture.agent();
    await says(agent, "here", ["a.csv"]);
    await fixture.restart();
    asked.length = 0;
    await says(agent, "nothing to do");
    expect(asked).toEqual([]);
    await says(agent, "look");
    expect(names()).toEqual(["a.csv"]);
  });
});

test("uploads of a conversation without references, such as a restored one, are found, too", async () => {
  const agent = await fixture.agent();
  const service = fixture.host.use(uploads);
  const bytes = new TextEncoder().encode("uploaded");
  const { id } = await service.add(agent, { name: "up.txt", type: "text/plain", bytes });
  const more = { platform: "web" as const, sender: { id: agent.userId, name: "" } };
  await says(agent, "here", [], { ...more, attachments: await service.attachmentsOf(agent.id, [id]) });
  await fixture.kernel.database.write([{ sql: "UPDATE inbox SET attachments = NULL", args: [] }]);
  await says(agent, "look", [], more);
  expect(found).toEqual([{ name: "up.txt", byAgent: false, text: "uploaded" }]);
});

test("the references go with the conversation", async () => {
  const agent = await fixture.agent();
  await says(agent, "here", ["a.csv"]);
  const stored = () =>
    fixture.rows("SELECT attachments FROM inbox WHERE agent_id = ? AND attachments IS NOT NULL", agent.id);
  expect(await stored()).toHaveLength(1);
  const change = fixture.runtime.service.backupRows.erase(agent.id);
  await fixture.kernel.database.write(change.statements);
  await change.cleanUp();
  expect(await stored()).toEqual([]);
});
