// Tests of the Slack adapter beyond the contract, against the strict fake.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { type FakeApp, newAppId, type Slack, startSlack, tokensFor } from "../../tests/support/slack.ts";
import { channelErrorOf, createMemorySink } from "../contract/harness.ts";
import type { Binding, OutgoingMessage } from "../port.ts";
import { writeCredentials } from "../shared/credential-text.ts";
import { CREDENTIAL_FIELDS } from "./credentials.ts";
import { createSlack, type SlackChannel } from "./index.ts";

let fake: Slack;
let app: FakeApp;
let binding: Binding;
let slack: SlackChannel;
let stop: AbortController;
let warnings: string[];

beforeEach(async () => {
  fake = await startSlack({ confirmMs: 200 });
  const id = newAppId();
  const tokens = tokensFor(id);
  app = fake.addApp(tokens, { username: "harbour" });
  const detail = JSON.stringify({ user: app.botUser, team: app.team });
  const token = writeCredentials(CREDENTIAL_FIELDS, { ...tokens });
  binding = { agentId: "agent", token, bot: { id, username: "harbour", detail } };
  stop = new AbortController();
  warnings = [];
  slack = createSlack({
    apiRoot: fake.url,
    commands: { help: "what I understand" },
    log: { debug: () => undefined, warn: (message) => void warnings.push(message) },
  });
});
afterEach(async () => {
  stop.abort();
  await fake.stop();
});

const message = (more: Partial<OutgoingMessage>): OutgoingMessage => ({
  id: "0190f5e6-0000-7000-8000-000000000002",
  peer: app.dm(),
  text: "the reply",
  attempts: 0,
  deliveredParts: [],
  ...more,
});
const send = (more: Partial<OutgoingMessage>) => slack.send(binding, message(more), () => undefined, stop.signal);
const calls = (route: string) => fake.calls.filter((call) => call.route === route);

async function listening() {
  const memory = createMemorySink();
  const ended = slack.listener.listen(binding, memory.sink, stop.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  await memory.waitFor(() => memory.state.alive > 0);
  return { ...memory, ended };
}

describe("a connection", () => {
  test("is replaced by one beside it when Slack announces its end; both are confirmed", async () => {
    const { state, waitFor, texts } = await listening();
    const gate = Promise.withResolvers<void>();
    state.gate = gate.promise;
    app.userSays(app.dm(), "before");
    app.warns("warning", 60_000);
    await fake.waitFor(() => app.connected === 2);
    app.userSays(app.dm(), "after");
    gate.resolve();
    await waitFor(() => state.messages.length >= 2);
    await fake.waitFor(() => app.unconfirmed === 0);
    expect([...new Set(texts())]).toEqual(["before", "after"]);
  });

  test.each([
    ["link_disabled", "unreachable", "Socket Mode is switched off"],
    ["too_many_websockets", "conflict", "Too many programs"],
  ])("ends with a sentence for %s", async (reason, kind, words) => {
    const { ended } = await listening();
    app.warns(reason, 60_000);
    expect(await ended).toMatchObject({ kind, message: expect.stringContaining(words) });
  });

  test("ends for good when the app is uninstalled", async () => {
    const { ended } = await listening();
    app.sends({ type: "app_uninstalled" });
    expect(await ended).toMatchObject({ kind: "refused", scope: "bot" });
  });

  test("drops and confirms what is for another workspace, and what it does not know", async () => {
    const { state, waitFor } = await listening();
    app.sends({ type: "message", channel: app.dm(), user: "U0PERSON1", text: "no timestamp" });
    const elsewhere = { type: "message", channel: app.dm(), user: "U0PERSON1", text: "hi", ts: "1700000000.000100" };
    app.sends(elsewhere, "T0000002");
    app.sends({ type: "reaction_added" });
    app.sends({ nothing: true });
    app.userSays(app.dm(), "hello");
    await waitFor(() => state.messages.length === 1);
    await fake.waitFor(() => app.unconfirmed === 0);
    expect(state.messages).toMatchObject([{ text: "hello" }]);
    expect(warnings).toEqual(["slack: an event could not be read"]);
  });

  test("asks for a name once, and goes on without it", async () => {
    fake.fail("users.info", { status: 429, retryAfter: 30 });
    const { state, waitFor } = await listening();
    for (const text of ["one", "two"]) app.userSays(app.dm(), text);
    await waitFor(() => state.messages.length === 2);
    expect(state.messages[0]?.sender).toEqual({ id: "U0PERSON1", name: "U0PERSON1" });
    // Slack asked to wait, so it is not asked again.
    expect(calls("users.info")).toHaveLength(1);
  });

  test("fetches what was missed by pages, and waits when Slack asks to", async () => {
    const dm = app.dm();
    const first = app.userSays(dm, "first");
    for (let n = 0; n < 450; n++) app.userSays(dm, `missed ${n}`);
    app.givesUp();
    binding.resume = JSON.stringify([[dm, first.split(":")[1]]]);
    fake.fail("conversations.history", { status: 429, retryAfter: 3 });
    const busy = await listening();
    expect(await busy.ended).toMatchObject({ kind: "busy", retryAfter: 3_000 });
    slack.forget(binding);
    const { state, waitFor, texts } = await listening();
    await waitFor(() => state.messages.length === 450);
    expect(texts()).toEqual(Array.from({ length: 450 }, (_, n) => `missed ${n}`));
    expect(calls("conversations.history")).toHaveLength(4);
  });

  test.each(["x", "[]", '[["D0000001"]]', '[["../x","1700000000.000100"]]', "{}"])(
    "begins anew with the resume point %j",
    async (resume) => {
      binding.resume = resume;
      const { state, waitFor } = await listening();
      app.userSays(app.dm(), "hello");
      await waitFor(() => state.messages.length === 1);
      expect(calls("conversations.history")).toEqual([]);
    },
  );
});

describe("sending", () => {
  test("remembers how long to wait, for this method alone", async () => {
    fake.fail("chat.postMessage", { status: 429, retryAfter: 20 });
    for (let n = 0; n < 5; n++) {
      expect(await channelErrorOf(send({}), binding.token)).toMatchObject({ kind: "busy" });
    }
    expect(calls("chat.postMessage")).toHaveLength(1);
    await slack.typing(binding, app.dm(), stop.signal, app.userSays(app.dm(), "hello"));
    expect(calls("assistant.threads.setStatus")).toHaveLength(1);
  });

  test("in a thread of a direct message stays there, and the status is not touched again", async () => {
    const dm = app.dm();
    const root = app.userSays(dm, "root");
    const thread = root.split(":")[1] ?? "";
    const reply = app.userSays(dm, "deeper", { thread });
    const peer = `${dm}:${thread}`;
    await slack.typing(binding, peer, stop.signal, reply);
    await send({ peer, replyTo: reply });
    expect(app.sent(dm)).toMatchObject([{ text: "the reply", thread }]);
    expect(app.statuses(dm)).toEqual([expect.objectContaining({ thread, status: "is typing…" })]);
  });

  test("splits a long question into sections above its buttons", async () => {
    const choices = [{ label: "Approve", text: "/approve ABC" }];
    await send({ text: "word ".repeat(780), choices });
    expect(app.sent()).toMatchObject([{ buttons: [{ label: "Approve", value: "/approve ABC" }] }]);
  });

  test("finds a part that a lost answer has hidden, and only then looks", async () => {
    const text = `${"a".repeat(4_000)} ${"b".repeat(10)}`;
    fake.fail("chat.postMessage", "cut", { when: "after" });
    expect(await channelErrorOf(send({ text }), binding.token)).toMatchObject({ kind: "unreachable" });
    expect(calls("conversations.history")).toEqual([]);
    const parts: string[] = [];
    await slack.send(binding, message({ text, attempts: 1 }), (part) => parts.push(part), stop.signal);
    expect(app.sent().map(({ id }) => id)).toEqual(parts);
    expect(parts).toHaveLength(2);
    expect(calls("conversations.history")).toHaveLength(1);
  });

  test.each([
    ["not_in_channel", "peer", "Invite it"],
    ["is_archived", "peer", "archived"],
    ["token_revoked", "bot", "uninstalled"],
    ["some_new_code", "peer", "some_new_code"],
    ["bad code <x>", "peer", "without a reason"],
  ])("says what %s means", async (code, scope, words) => {
    fake.fail("chat.postMessage", { error: code });
    const error = await channelErrorOf(send({}), binding.token);
    expect(error).toMatchObject({ kind: "refused", scope, message: expect.stringContaining(words) });
  });

  test.each([{ error: "internal_error" }, { status: 503 }, "garbage"] as const)(
    "%j may have had an effect",
    async (fault) => {
      fake.fail("chat.postMessage", fault);
      expect(await channelErrorOf(send({}), binding.token)).toMatchObject({ kind: "unreachable" });
    },
  );
});

describe("previews", () => {
  test("are updated seldom enough for Slack, whatever the number of conversations", async () => {
    const people = Array.from({ length: 30 }, (_, n) => app.dm(`U0PERSON${100 + n}`));
    for (let round = 0; round < 3; round++) {
      for (const [n, peer] of people.entries()) {
        await slack.preview(binding, { draftId: n + 1, peer, group: false, text: `text ${round}` }, stop.signal);
      }
    }
    // A burst of ten, less the five that replies may need.
    expect(calls("chat.postMessage").length + calls("chat.update").length).toBeLessThanOrEqual(8);
  });
});

describe("files", () => {
  test("are fetched only from Slack, and not from its sign-in page", async () => {
    const { state, waitFor } = await listening();
    app.userSays(app.dm(), "", { files: [{ name: "a.txt", type: "text/plain", bytes: new Uint8Array(9) }] });
    await waitFor(() => state.messages.length === 1);
    const [file] = state.messages[0]?.attachments ?? [];
    if (!file) throw new Error("There is no file.");
    expect(await slack.fetchFile(binding, file, 9, stop.signal)).toHaveLength(9);
    fake.fail("download", { status: 403 });
    const refused = channelErrorOf(slack.fetchFile(binding, file, 9, stop.signal), binding.token);
    expect(await refused).toMatchObject({ kind: "refused", scope: "peer" });
    fake.fail("files.info", { error: "file_deleted" });
    expect(await channelErrorOf(slack.fetchFile(binding, file, 9, stop.signal), binding.token)).toMatchObject({
      message: "Slack does not have this file any more.",
    });
  });
});

test("an idle bot makes no calls", async () => {
  await listening();
  await eventually(() => calls("apps.connections.open").length === 1);
  expect(fake.calls.map(({ route }) => route)).toEqual(["auth.test", "apps.connections.open"]);
});
