// SIGTERM during a turn: within the grace period the turn finishes; after it the message is kept for the next start.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import { member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startSqld } from "./support/sqld.ts";
import { startTelegram } from "./support/telegram.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(() => upstream.stop());
const env = () => ({ PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" });

interface Sent {
  messages: { message: string; status: string; reply: string | null }[];
}

test("turns in progress finish within SHUTDOWN_GRACE: every client gets its whole reply, the exit code is 0", async () => {
  await using berth = await startBerth({ env: env() });
  const ada = await member(berth);
  const agent = await provision(ada);
  // `paceMs` slows streams, `delayMs` also whole responses.
  upstream.script({ pieces: ["one ", "two ", "three ", "four"], paceMs: 100, delayMs: 500 });

  const plain = ada.post("/api/chat", { message: "Count.", topic: "plain" });
  const streamed = (async () => {
    const events: string[] = [];
    for await (const { event } of ada.sse("/api/chat", { message: "Count.", topic: "streamed" })) events.push(event);
    return events;
  })();
  const socket = openGateway(berth, agent.id, { cookie: ada.cookie });
  socket.send({ type: "chat", id: "1", message: "Count." });
  await upstream.waitFor(({ open, chats }) => open === 3 && chats.length === 3);

  const code = berth.stop("SIGTERM");
  expect((await plain).body).toMatchObject({ reply: "one two three four", status: "sent" });
  expect((await streamed).at(-1)).toBe("reply");
  expect((await socket.next("reply")).reply).toBe("one two three four");
  expect(await code).toBe(0);
  expect(upstream.aborted).toBe(0);
  expect(berth.output().stderr).not.toContain('"level":"error"');

  await berth.restart();
  const { body } = await ada.get<Sent>("/api/chat?topic=plain");
  expect(body.messages).toMatchObject([{ message: "Count.", status: "sent", reply: "one two three four" }]);
  expect(upstream.chats).toHaveLength(3);
});

test("after the grace period the service stops; accepted messages are answered after the next start", async () => {
  await using telegram = await startTelegram();
  const bot = telegram.addBot("1001:shutdown-test-token-0123456789abcdefg");
  await using berth = await startBerth({
    env: { ...env(), SHUTDOWN_GRACE: "1s", CHANNEL_A_API_ROOT: telegram.url },
  });
  const ada = await member(berth);
  const agent = await provision(ada, "Harbour", { channels: { channel_a: { access: "open" } } });
  const connected = await ada.put(`/api/agents/${agent.id}/channels/channel_a`, { token: bot.token });
  expect(connected.status).toBeLessThan(300);
  upstream.script({ hang: true });

  const pending = ada.post("/api/chat", { message: "Are you there?" });
  bot.userSays(42, "And for me?");
  await upstream.waitFor(({ open }) => open === 2);
  const since = performance.now();
  const code = berth.stop("SIGTERM");
  expectRefusal(await pending, 503, "STOPPING");
  expect(await code).toBe(0);
  expect(performance.now() - since).toBeLessThan(5_000);
  expect(upstream.open).toBe(0);

  upstream.reset();
  await berth.restart();
  await telegram.waitFor(() => bot.sent(42).length > 0, 15_000);
  await eventually(async () => {
    const { body } = await ada.get<Sent>("/api/chat");
    expect(body.messages).toMatchObject([{ message: "Are you there?", status: "sent", reply: "echo: Are you there?" }]);
    return true;
  });
  expect(bot.sent(42)).toHaveLength(1);
  expect(bot.sent(42)[0]?.text).toContain("And for me?");
  expect(upstream.chats).toHaveLength(2);
});

test("pass-through streams finish, and a web process forwards its backend's replies to their end", async () => {
  const sqld = await startSqld();
  const shared = { DATABASE_URL: sqld.url, SECRET_KEY: "shutdown-test-root-key-0123456789abcdef" };
  await using backend = await startBerth({ env: { ...env(), ...shared, ROLE: "backend" } });
  await using web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
  const ada = await member(web);
  await provision(ada);
  upstream.script({ pieces: ["one ", "two ", "three"], paceMs: 500 });

  const chat = ada.sse("/api/agent", { message: "Count." });
  expect((await chat.next()).value?.event).toBe("delta");
  const body = { model: "fake-small", stream: true, messages: [{ role: "user", content: "Count." }] };
  const through = await createClient(backend.backend).fetch("POST", "/v1/chat/completions", body);
  expect(through.status).toBe(200);
  const codes = Promise.all([web.stop("SIGTERM"), backend.stop("SIGTERM")]);

  const events: string[] = [];
  for await (const { event } of chat) events.push(event);
  expect(events.at(-1)).toBe("reply");
  expect(await through.text()).toEndWith("data: [DONE]\n\n");
  expect(await codes).toEqual([0, 0]);
  expect(upstream.aborted).toBe(0);
  await sqld.stop();
});

test("an idle service stops at once on SIGTERM and SIGINT", async () => {
  await using berth = await startBerth();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const since = performance.now();
    expect(await berth.stop(signal)).toBe(0);
    expect(performance.now() - since).toBeLessThan(6_000);
    await berth.restart();
  }
});
