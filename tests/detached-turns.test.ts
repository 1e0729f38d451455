// Kills the service in the middle of a turn: it is answered after the restart, its stream says so, and who repeats the request gets its reply.
import { expect, test } from "bun:test";
import { startBerth } from "./support/berth.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { startUpstream } from "./support/upstream.ts";

test("a turn that a kill interrupted is answered after the start, and its stream goes on", async () => {
  await using upstream = await startUpstream();
  upstream.script(() => ({ pieces: ["Half ", "of it"], hangAfter: 2 }));
  await using berth = await startBerth({
    env: { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" },
  });
  const owner = await member(berth);
  const { id } = await provision(owner);
  const sent = await owner.post<{ turnId: string }>(`/api/agents/${id}/conversations`, { message: "are you there?" });
  expect(sent.status).toBe(202);
  const path = `/api/agents/${id}/turns/${sent.body.turnId}/events`;

  let lastId = "";
  for await (const { event, id: eventId = "" } of owner.sse(path)) {
    lastId = eventId;
    if (event === "delta") break;
  }
  await berth.kill();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: 500 }));
  await berth.restart({ keepPorts: true });

  const events = await Array.fromAsync(owner.sse(path, undefined, { headers: { "last-event-id": lastId } }));
  expect(events.find(({ event }) => event === "reply")?.data).toContain('"text":"echo: are you there?"');
  expect(events.at(-1)?.data).toContain('"status":"done"');
  // What it had said before is void, so nothing of it is told again.
  expect(events.some(({ data }) => data.includes("Half"))).toBe(false);
  type Messages = { messages: { text: string }[] };
  const { conversationId } = JSON.parse(events.find(({ event }) => event === "reply")?.data ?? "{}");
  const { messages } = (await owner.get<Messages>(`/api/agents/${id}/conversations/${conversationId}/messages`)).body;
  expect(messages.map(({ text }) => text)).toEqual(["echo: are you there?", "are you there?"]);
  await eventually(() => upstream.chats.length === 2);
});

test("a request that is repeated under its key after a kill gets the reply to the message that was stored", async () => {
  await using upstream = await startUpstream();
  upstream.script(() => ({ hang: true }));
  await using berth = await startBerth({
    env: { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" },
  });
  const owner = await member(berth);
  const { id: agentId } = await provision(owner);
  const body = { agentId, message: "are you there?", topic: "kills" };
  const headers = { "idempotency-key": "k1" };
  const cut = owner.post("/api/chat", body, { headers }).catch(() => undefined);
  await eventually(() => upstream.chats.length === 1);
  await berth.kill();
  await cut;
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: 500 }));
  await berth.restart({ keepPorts: true });

  const { status, body: answer } = await owner.post<{ id: string; reply: string }>("/api/chat", body, { headers });
  expect([status, answer.reply]).toEqual([200, "echo: are you there?"]);
  type Sent = { messages: { id: string }[] };
  const { messages } = (await owner.get<Sent>(`/api/chat?agentId=${agentId}&topic=kills`)).body;
  expect(messages.map(({ id }) => id)).toEqual([answer.id]);
});
