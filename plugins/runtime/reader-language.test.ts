// Tests in which language an agent says its own sentences: that of the reader's app, else that of its owner.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import { LANGUAGES, type Language } from "../../web/languages/languages.ts";
import type { Agent } from "../agents/index.ts";
import { defineTool, type Skill } from "../skills/index.ts";
import { choicesOf } from "./journal/approval-words.ts";
import { openRuntimeFixture, type RuntimeFixture } from "./support.test.ts";
import { statusText } from "./turn/command-runner.ts";

let fixture: RuntimeFixture;
const skill: Skill = {
  ...{ id: "mail", name: "mail", description: "", category: "test", version: "1", enabledByDefault: true },
  tools: () => tools,
};
const tools = [
  defineTool({
    name: "send_mail",
    class: "outside",
    description: "Sends.",
    input: t.Object({}),
    summarize: () => "Write to Bob",
    execute: () => "sent",
  }),
];

beforeAll(async () => {
  fixture = await openRuntimeFixture({}, {}, [skill]);
  fixture.platform.isOwner = async (_, senderId) => senderId === "1";
});
beforeEach(() => {
  fixture.sent.length = 0;
  fixture.upstream.reset();
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

/** What the agent says to this message of its owner. */
async function answer(agent: Agent, content: string, more: object = {}): Promise<string> {
  fixture.sent.length = 0;
  await fixture.hear(agent, content, { byOwner: true, sender: { id: "1", name: "Ada" }, to: { peer: "own" }, ...more });
  await fixture.idle();
  return fixture.sent.at(-1)?.body ?? "";
}
const setLocale = (agent: Agent, locale: string) =>
  fixture.kernel.database.write([{ sql: "UPDATE users SET locale = ? WHERE id = ?", args: [locale, agent.userId] }]);

describe("an agent's own sentences", () => {
  test("are in the language of the reader's app, and in English if Berth does not speak it", async () => {
    const agent = await fixture.agent();
    expect(await answer(agent, "/help", { language: "de" })).toContain("/reset · ein neues Gespräch anfangen");
    expect(await answer(agent, "/help", { language: "de-AT" })).toContain("Sag mir in deinen Worten");
    expect(await answer(agent, "/help", { language: "fr" })).toContain("/reset · start a new conversation");
    expect(await answer(agent, "/status")).toContain("is running");
    expect(statusText({ ...agent, status: "active" }, "de")).toBe(`${agent.name} ist bereit.`);
  });

  test("about files that it can't open are in that language, too", async () => {
    const agent = await fixture.agent();
    fixture.platform.fetchFile = async () => undefined;
    const video = { kind: "video" as const, ref: "1", mimeType: "video/mp4" };
    const files = { language: "de", attachments: [video] };
    expect(await answer(agent, "[video]", files)).toBe(
      "Videos kann ich nicht ansehen. Sag mir, was darin zu sehen ist, dann mache ich damit weiter.",
    );
    expect(await answer(agent, "[video]", { ...files, language: "en" })).toStartWith("I can't watch videos.");
  });

  test("are in the owner's language where the platform names none", async () => {
    const agent = await fixture.agent();
    await setLocale(agent, "de");
    try {
      expect(await answer(agent, "/status")).toContain("läuft. Modell:");
      expect(await answer(agent, "/status", { language: "en" })).toContain("is running");
    } finally {
      await setLocale(agent, "en");
    }
  });

  test("ask the owner in the owner's language, and tell a guest in the guest's", async () => {
    const agent = await fixture.agent();
    fixture.upstream.script(({ toolResults }) =>
      toolResults.length > 0 ? "Done." : { toolCalls: [{ name: "send_mail", arguments: {} }] },
    );
    expect(await answer(agent, "Mail", { language: "de" })).toBe("Darf ich das tun?\n\nWrite to Bob");
    expect(fixture.sent.at(-1)?.choices?.map(({ label }) => label)).toEqual(["Erlauben", "Ablehnen"]);
    fixture.sent.length = 0;
    await fixture.hear(agent, "Mail", { to: { peer: "guest" }, language: "en" });
    await fixture.idle();
    const bodies = new Map(fixture.sent.map(({ peer, body }) => [peer, body]));
    expect(bodies.get("guest")).toContain("I need my owner's approval");
    expect(bodies.get("own")).toStartWith("Darf ich das tun?");
    expect(bodies.get("own")).toContain("haben auch andere geschrieben");
  });

  test.each(Object.keys(LANGUAGES) as Language[])("fit on buttons in the language %s", (language) => {
    for (const { label } of choicesOf({ code: "ABCDEF" }, language)) expect(label.length).toBeLessThanOrEqual(20);
  });

  test("say why there is no reply, without mixing languages", async () => {
    const agent = await fixture.agent();
    fixture.upstream.failNext(1, 400);
    expect(await answer(agent, "Hello", { language: "de" })).toBe(
      "Ich kann leider nicht antworten. Das Modell provider_5:fake-small hat diese Anfrage abgelehnt (400).",
    );
    fixture.upstream.failNext(1, 400);
    await fixture.hear(agent, "Hello", { to: { peer: "guest" }, language: "de" });
    await fixture.idle();
    expect(fixture.sent.map(({ body }) => body)).toContain(
      "Ich kann gerade leider nicht antworten. Mein Besitzer weiß Bescheid.",
    );
  });
});
