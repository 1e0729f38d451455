// Tests what people on a channel are told while a reply takes long and when it fails, and what the owner is told.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../../tests/support/eventually.ts";
import type { Agent } from "../../agents/index.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";
import { SLOW_REPLY } from "./slow-replies.ts";

const SORRY = "Sorry, I can't answer.";
const SORRY_NOW = "Sorry, I can't answer right now.";
/** Milliseconds until a person is told to wait, and between two tries of a turn. */
const SLOW = 150;
const RETRY = 60;

let fixture: RuntimeFixture;
let agent: Agent;
beforeAll(async () => {
  fixture = await openRuntimeFixture({ SHUTDOWN_GRACE: "1ms" }, { slowReply: SLOW, turnRetries: [RETRY] });
  await fixture.start();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  await fixture.idle();
  fixture.upstream.reset();
  fixture.sent.length = 0;
  Object.assign(fixture.platform, { typing: undefined, preview: undefined, isOwner: async () => true });
  agent = await fixture.agent();
});

/** Without the note that an answer takes long, which comes when the machine is slow. */
const told = () => fixture.sent.filter(({ body }) => body !== SLOW_REPLY).map(({ peer, body }) => [peer, body]);
const bodies = () => fixture.sent.map(({ body }) => body);
const owner = { byOwner: true, to: { peer: "owner-chat" }, sender: { id: "1", name: "Ada" } };

describe("a slow reply", () => {
  test("is announced once, and comes after that", async () => {
    fixture.upstream.script({ text: "at last", delayMs: 5 * SLOW });
    await fixture.hear(agent, "Hello");
    await eventually(() => fixture.sent.length === 2);
    expect(bodies()).toEqual([SLOW_REPLY, "at last"]);
    expect(fixture.sent.map(({ replyTo, previewId }) => [typeof replyTo, previewId])).toEqual([
      ["string", null],
      ["string", null],
    ]);
  });

  test("is announced once over all tries of the turn, while the agent is shown as typing", async () => {
    let typing = 0;
    let shown = 0;
    fixture.platform.typing = () => {
      shown++;
      typing++;
      return { end: async () => void typing-- };
    };
    fixture.upstream.failNext(4, 503);
    await fixture.hear(agent, "Hello");
    await fixture.idle();
    expect(bodies()).toEqual([SLOW_REPLY, "echo: Hello"]);
    expect(shown).toBe(4);
    expect(typing).toBe(0);
  });

  test("that is quick is not announced", async () => {
    await fixture.hear(agent, "Hello");
    await fixture.idle();
    // A later slow reply shows that the time of the first one has passed.
    fixture.upstream.script({ text: "at last", delayMs: 5 * SLOW });
    await fixture.hear(agent, "Again");
    await fixture.idle();
    expect(bodies()).toEqual(["echo: Hello", SLOW_REPLY, "at last"]);
  });

  test("is not announced where the person sees it grow, to callers that wait, or for a command or reminder", async () => {
    const observer = { delta: () => undefined, tool: () => undefined };
    fixture.platform.preview = () => ({ observer, end: async () => undefined });
    fixture.upstream.script({ pieces: Array.from({ length: 15 }, () => "word "), paceMs: SLOW / 5 });
    await Promise.all([fixture.hear(agent, "Hello"), fixture.chat(agent, "Hello")]);
    await fixture.hear(agent, "later", { kind: "reminder", to: { peer: "chat-2" }, platformMessageId: "reminder:1" });
    await fixture.idle();
    expect(bodies()).not.toContain(SLOW_REPLY);
    expect(fixture.sent).toHaveLength(2);
  });

  test("is not announced a second time after a restart", async () => {
    fixture.upstream.script({ hang: true });
    await fixture.hear(agent, "Hello");
    await eventually(() => fixture.sent.length === 1);
    const restarted = fixture.restart();
    fixture.upstream.script({ text: "at last", delayMs: 5 * SLOW });
    await restarted;
    await eventually(() => fixture.sent.length === 2);
    await fixture.idle();
    expect(bodies()).toEqual([SLOW_REPLY, "at last"]);
    const rows = await fixture.rows("SELECT body FROM outbox WHERE agent_id = ? ORDER BY id", agent.id);
    expect(rows.map(({ body }) => body)).toEqual([SLOW_REPLY, "at last"]);
  });

  test("is not announced a second time where the process ended before the platform confirmed it", async () => {
    let tries = 0;
    fixture.platform.answer = () => {
      tries++;
      return { kind: "retry", reason: "No answer." };
    };
    fixture.upstream.script({ hang: true });
    await fixture.hear(agent, "Hello");
    await eventually(() => tries > 0);
    const restarted = fixture.restart();
    fixture.upstream.script({ text: "at last", delayMs: 5 * SLOW });
    await restarted;
    fixture.platform.answer = () => ({ kind: "sent" });
    await eventually(() => fixture.sent.length === 1);
    await fixture.idle();
    expect(bodies()).toEqual(["at last"]);
  });

  test("of a cancelled turn is not announced", async () => {
    fixture.upstream.script({ hang: true });
    await fixture.hear(agent, "Hello");
    await fixture.upstream.waitFor(({ open }) => open === 1);
    await fixture.hear(agent, "/stop");
    await fixture.idle();
    fixture.upstream.script({ text: "at last", delayMs: 5 * SLOW });
    await fixture.hear(agent, "Again");
    await fixture.idle();
    // On a busy machine the first turn is announced before it is cancelled.
    const sent = bodies();
    expect(sent.slice(sent.indexOf("Stopped."))).toEqual(["Stopped.", SLOW_REPLY, "at last"]);
  });
});

describe("why there is no reply", () => {
  const failing = { status: 401, message: "secret words of the provider" };
  const CAUSE = /The provider of provider_5:fake-small doesn't accept the key \(401\)\./;
  beforeEach(async () => {
    agent = await fixture.agent({}, { ownKey: "sk-test" });
  });

  test.each([
    ["a stranger", {}],
    ["the owner in a group", { byOwner: true, group: true }],
  ])("is not told to %s, but to the owner in their own chat and in the log", async (_, sender) => {
    await fixture.hear(agent, "Good morning", owner);
    await fixture.idle();
    fixture.upstream.failNext(1, failing);
    await fixture.hear(agent, "Hello", sender);
    await fixture.idle();
    expect(told()).toEqual([
      ["owner-chat", "echo: Good morning"],
      ...[["chat-1", `${SORRY_NOW} My owner has been told.`]],
      ["owner-chat", expect.stringMatching(CAUSE)],
    ]);
    expect(fixture.sent[2]?.body).toStartWith("I could not answer somebody on Telegram. ");
    expect(JSON.stringify(await fixture.agents.logs.list(agent.id, { limit: 50 }))).toMatch(CAUSE);
    expect(JSON.stringify(fixture.sent)).not.toContain("secret words");
  });

  test("is told to the owner who asked, and not a second time", async () => {
    fixture.upstream.failNext(1, failing);
    await fixture.hear(agent, "Hello", owner);
    await fixture.idle();
    expect(told()).toEqual([["owner-chat", expect.stringMatching(CAUSE)]]);
  });

  test("is told to the owner once in an hour, and at once where it is another cause", async () => {
    await fixture.hear(agent, "Good morning", owner);
    for (const failure of [failing, failing, { status: 400 }, failing]) {
      await fixture.idle();
      fixture.upstream.failNext(1, failure);
      await fixture.hear(agent, "Hello");
    }
    await fixture.idle();
    const alerts = fixture.sent.filter(({ peer }) => peer === "owner-chat").slice(1);
    expect(alerts.map(({ body }) => /\((\d+)\)/.exec(body)?.[1])).toEqual(["401", "400", "401"]);
  });

  test("is told of visitors of the public page, too", async () => {
    await fixture.hear(agent, "Good morning", owner);
    await fixture.idle();
    fixture.upstream.failNext(1, failing);
    const visit = { platform: "public" as const, byOwner: false, peer: "visitor-1" };
    await fixture.chat(agent, "Hello", visit).catch(() => undefined);
    await fixture.idle();
    expect(fixture.sent[1]?.body).toStartWith("I could not answer somebody on my public page. ");
  });

  test("is told to nobody who is no longer the owner", async () => {
    fixture.platform.isOwner = async (agentId, senderId, peer) => {
      expect([agentId, senderId, peer]).toEqual([agent.id, "1", "owner-chat"]);
      return false;
    };
    await fixture.hear(agent, "Good morning", owner);
    await fixture.idle();
    fixture.upstream.failNext(1, failing);
    await fixture.hear(agent, "Hello");
    await fixture.idle();
    expect(told().map(([peer]) => peer)).toEqual(["owner-chat", "chat-1"]);
  });

  describe("on the operator's key", () => {
    const UNUSABLE =
      "The model can't be used right now. The operator has been told; try again later or choose another model.";
    const agentLog = async () => JSON.stringify(await fixture.agents.logs.list(agent.id, { limit: 50 }));
    beforeEach(async () => {
      fixture.logged.length = 0;
      agent = await fixture.agent();
    });

    test.each([401, 402, 403])("is told to the operator (%i); the owner is told what to do", async (status) => {
      await fixture.hear(agent, "Good morning", owner);
      await fixture.idle();
      fixture.upstream.failNext(3, { ...failing, status });
      await fixture.hear(agent, "Hello", owner);
      await fixture.hear(agent, "Hello");
      await fixture.idle();
      expect(told().slice(1).toSorted()).toEqual([
        ["chat-1", `${SORRY_NOW} My owner has been told.`],
        ["owner-chat", `I could not answer somebody on Telegram. ${UNUSABLE}`],
        ["owner-chat", `${SORRY} ${UNUSABLE}`],
      ]);
      await expect(fixture.chat(agent, "Hello")).rejects.toMatchObject({
        status: 502,
        code: "MODEL_UNAVAILABLE",
        message: UNUSABLE,
      });
      expect(await agentLog()).toContain(UNUSABLE);
      expect(await agentLog()).not.toMatch(/provider_5|accept the key|secret words|\(40\d\)/);
      expect(fixture.logged.join("")).toContain(
        `The provider of provider_5:fake-small doesn't accept the key (${status})`,
      );
    });

    test.each([400, 500])("quotes the provider (%i) nowhere that the owner reads", async (status) => {
      fixture.upstream.failNext(1, { ...failing, status });
      await expect(fixture.chat(agent, "Hello")).rejects.toMatchObject({ code: "MODEL_UNAVAILABLE" });
      expect(await agentLog()).toContain(`(${status})`);
      expect(await agentLog()).not.toContain("secret words");
      expect(fixture.logged.join("")).toContain("secret words");
    });

    test("is told to an admin who owns the agent", async () => {
      agent = await fixture.agent({}, { isAdmin: true });
      fixture.upstream.failNext(1, failing);
      await fixture.hear(agent, "Hello", owner);
      await fixture.idle();
      expect(told()).toEqual([["owner-chat", expect.stringMatching(CAUSE)]]);
    });
  });
});
