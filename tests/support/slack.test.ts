// Tests the Slack fake with Slack's own client: what that sends is accepted, and what it reads is understood.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { WebClient } from "@slack/web-api";
import { eventually } from "./eventually.ts";
import { type FakeApp, newAppId, type Slack, startSlack, tokensFor } from "./slack.ts";

const id = newAppId();
const tokens = tokensFor(id);
let slack: Slack;
let app: FakeApp;
let client: WebClient;

beforeAll(async () => {
  slack = await startSlack({ confirmMs: 100 });
  app = slack.addApp(tokens, { username: "harbour" });
  client = clientOf(tokens.botToken);
});
afterAll(() => slack.stop());

const clientOf = (token: string) =>
  new WebClient(token, { slackApiUrl: `${slack.url}/`, retryConfig: { retries: 0 }, rejectRateLimitedCalls: true });
const errorOf = (call: Promise<unknown>) =>
  call.then(
    () => "none",
    (error: unknown) => (error as { data?: { error?: string } }).data?.error ?? String(error),
  );

describe("Slack's own client", () => {
  test("posts, edits and reads messages, with metadata and threads", async () => {
    const channel = app.channel();
    const metadata = { event_type: "note", event_payload: { key: "1" } };
    const { ts = "" } = await client.chat.postMessage({ channel, text: "a &lt; b", metadata, unfurl_links: false });
    await client.chat.postMessage({ channel, text: "below", thread_ts: ts });
    await client.chat.update({ channel, ts, text: "a" });
    expect(app.sent(channel)).toMatchObject([
      { text: "a", edits: ["a < b"] },
      { text: "below", thread: ts },
    ]);
    const { messages } = await client.conversations.history({ channel, include_all_metadata: true });
    expect(messages).toMatchObject([{ text: "a", metadata }]);
    const replies = await client.conversations.replies({ channel, ts });
    expect(replies.messages?.map(({ text }) => text)).toEqual(["a", "below"]);
  });

  test("uploads a file in three steps", async () => {
    const channel = app.channel();
    const file = Buffer.from("a;b\n1;2\n");
    await client.filesUploadV2({ channel_id: channel, file, filename: "table.csv", initial_comment: "Here" });
    expect(app.sent(channel)).toMatchObject([{ file: { name: "table.csv", caption: "Here" } }]);
    expect(Buffer.from(app.sent(channel)[0]?.file?.bytes ?? []).toString()).toBe("a;b\n1;2\n");
  });

  test("is refused for what Slack refuses", async () => {
    const channel = app.channel();
    expect(await errorOf(clientOf(tokens.appToken).auth.test())).toBe("not_allowed_token_type");
    expect(await errorOf(clientOf("xoxb-1-2-stranger").auth.test())).toBe("invalid_auth");
    expect(await errorOf(client.chat.postMessage({ channel: "C0NOWHERE1", text: "x" }))).toBe("channel_not_found");
    expect(await errorOf(client.chat.postMessage({ channel, text: "x".repeat(4_001) }))).toBe("msg_too_long");
    expect(await errorOf(client.apiCall("chat.postMessage", { channel, text: "x", colour: "red" }))).toBe(
      "invalid_arguments",
    );
    expect(await errorOf(client.chat.update({ channel, ts: "1700000000.000001", text: "x" }))).toBe(
      "message_not_found",
    );
    const blocks = [{ type: "actions", elements: [{ type: "button", text: { type: "plain_text", text: "x" } }] }];
    expect(await errorOf(client.apiCall("chat.postMessage", { channel, text: "x", blocks }))).toBe("invalid_blocks");
  });

  test("is told how long to wait", async () => {
    slack.fail("auth.test", { status: 429, retryAfter: 7 });
    const error: unknown = await client.auth.test().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ retryAfter: 7 });
  });
});

describe("a connection", () => {
  const open = async () => {
    const { url = "" } = await clientOf(tokens.appToken).apps.connections.open();
    const received: Record<string, unknown>[] = [];
    const socket = new WebSocket(url);
    socket.addEventListener("message", ({ data }) => received.push(JSON.parse(String(data))));
    await eventually(() => received.length > 0);
    return { socket, received, url };
  };

  test("greets, and repeats an envelope until it is confirmed", async () => {
    const { socket, received, url } = await open();
    app.userSays(app.dm(), "hello");
    const envelopes = () => received.filter(({ type }) => type === "events_api");
    await eventually(() => envelopes().length === 2);
    expect(received[0]).toMatchObject({ type: "hello", connection_info: { app_id: id } });
    const [first, second] = envelopes();
    expect(second).toMatchObject({ envelope_id: first?.envelope_id, retry_attempt: 1 });
    socket.send(JSON.stringify({ envelope_id: first?.envelope_id }));
    await slack.waitFor(() => app.unconfirmed === 0);
    expect((await fetch(url.replace("ws", "http"))).status).toBe(403);
    socket.close();
    await slack.waitFor(() => app.connected === 0);
  });

  test("is closed for a confirmation with unknown fields", async () => {
    const { socket } = await open();
    const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
    socket.send(JSON.stringify({ envelope_id: "x", type: "ack" }));
    expect(await closed).toBe(4000);
  });
});
