// Tests the gateway socket by session: authentication, the effect of each frame, and closing when the session ends.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { type InteractionFixture, openInteractionFixture, openSocket } from "../interaction/support.test.ts";

let fixture: InteractionFixture;
let ada: Awaited<ReturnType<InteractionFixture["member"]>>;
let agentId: string;
const sockets: { close(): void }[] = [];
const OWN = "https://berth.example";

beforeAll(async () => {
  fixture = await openInteractionFixture();
  ada = await fixture.member();
  agentId = await fixture.provision(ada);
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.upstream.reset());
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.close();
  await fixture.upstream.waitFor(({ open }) => open === 0);
});

function open(
  path = agentId,
  { cookie = ada.cookie, origin = OWN, ...more }: Record<string, string> = {},
  protocols?: string[],
) {
  const headers = { ...(cookie && { cookie }), ...(origin && { origin }), ...more };
  const socket = openSocket(`${fixture.origin}/agent/${path}`, headers, protocols);
  sockets.push(socket);
  return socket;
}

describe("opening", () => {
  test("the owner opens it by the agent's id or by the user's; the first frame is the status", async () => {
    for (const path of [agentId, ada.userId]) {
      const first = { type: "status", status: "running", reason: null, agentId, name: "Harbour" };
      expect(await open(path).next("status")).toEqual(first);
    }
  });

  test("berth.v1 is confirmed only to a client that offers it", async () => {
    const socket = open(agentId, {}, ["berth.v1"]);
    await socket.next("status");
    expect(socket.protocol).toBe("berth.v1");
    const lone = open(agentId, {});
    await lone.next("status");
    expect(lone.protocol).toBe("");
  });

  test.each([
    ["no cookie", { cookie: "" }],
    ["a forged cookie", { cookie: "__Host-berth_session=eyJhbGciOiJub25lIn0.e30." }],
    ["a page of another site", { origin: "https://evil.example" }],
    ["a sandboxed page", { origin: "null" }],
    ["a cookie without an origin", { origin: "" }],
    ["a look-alike origin", { origin: "https://berth.example.evil.example" }],
    ["a page of an agent", { origin: "https://harbour-abcdef.berth.example" }],
  ])("with %s it is accepted and closed with 4401 before any other frame", async (_, headers) => {
    const socket = open(agentId, headers, ["berth.v1"]);
    expect(await socket.closed()).toBe(4401);
    expect(socket.frames).toEqual([]);
    expect(socket.protocol).toBe("berth.v1");
  });

  test.each([
    ["an agent that does not exist", () => Bun.randomUUIDv7()],
    ["no agent", () => ""],
    ["a path below the agent's", () => `${agentId}/more`],
    ["an encoded path traversal", () => `${agentId}%2F..%2Fother`],
    ["another user's agent", async () => fixture.provision(await fixture.member())],
    ["another user's id", async () => (await fixture.member()).userId],
  ])("%s in the path: 4401", async (_, path) => {
    expect(await open(await path()).closed()).toBe(4401);
  });
});

describe("chat", () => {
  test("the reply comes in deltas and at the end as a whole", async () => {
    fixture.upstream.script("one two three");
    const socket = open();
    await socket.next("status");
    socket.send({ type: "chat", id: "a", message: "Count" });
    const reply = await socket.next("reply", "a");
    expect(reply).toEqual({
      type: "reply",
      id: "a",
      inboxId: expect.any(String),
      agentId,
      sessionId: expect.stringMatching(/^sess_/),
      reply: "one two three",
      timestamp: expect.any(Number),
    });
    const deltas = socket.frames.filter(({ type, id }) => type === "delta" && id === "a");
    expect(deltas.map(({ text }) => text).join("")).toBe("one two three");
    expect(deltas.length).toBeGreaterThan(1);
  });

  test("two messages at once in separate sessions are told apart by their ids", async () => {
    fixture.upstream.script(({ lastUser }) => ({ text: `${lastUser} ${lastUser}`, paceMs: 1 }));
    const socket = open();
    await socket.next("status");
    const { body } = await ada.post<{ sessionId: string }>("/api/agent", { action: "create-session", agentId });
    socket.send({ type: "chat", id: "a", message: "ah" });
    socket.send({ type: "chat", id: "b", message: "bee", sessionId: body.sessionId });
    expect((await socket.next("reply", "a")).reply).toBe("ah ah");
    expect(await socket.next("reply", "b")).toMatchObject({ reply: "bee bee", sessionId: body.sessionId });
  });

  test("sends a frame for each tool call", async () => {
    fixture.upstream.script(({ toolResults }) =>
      toolResults.length > 0 ? "Noon." : { toolCalls: [{ name: "clock", arguments: {} }] },
    );
    const socket = open();
    await socket.next("status");
    socket.send({ type: "chat", id: "a", message: "What time is it?" });
    await socket.next("reply", "a");
    const tools = socket.frames.filter(({ type }) => type === "tool");
    expect(tools.map(({ state }) => state)).toEqual(["called", "done"]);
  });

  test("cancel ends the turn and the model's call; the id can be used again", async () => {
    fixture.upstream.script({ text: "one two three", hangAfter: 3 });
    const socket = open();
    await socket.next("status");
    socket.send({ type: "chat", id: "a", message: "Hello" });
    await socket.next("delta", "a");
    socket.send({ type: "cancel", id: "a" });
    expect(await socket.next("error", "a")).toMatchObject({ code: "CANCELLED" });
    await fixture.upstream.waitFor(({ open }) => open === 0);
    fixture.upstream.reset();
    socket.send({ type: "chat", id: "a", message: "Again" });
    expect((await socket.next("reply", "a")).reply).toBe("echo: Again");
  });

  test("closing the socket cancels its messages", async () => {
    fixture.upstream.script({ hang: true });
    const socket = open();
    await socket.next("status");
    socket.send({ type: "chat", id: "a", message: "Hello" });
    await fixture.upstream.waitFor(({ open }) => open === 1);
    socket.close();
    await fixture.upstream.waitFor(({ open }) => open === 0);
    const newest = async () => (await fixture.rows("SELECT status FROM inbox ORDER BY id DESC LIMIT 1"))[0]?.status;
    await eventually(async () => (await newest()) === "cancelled");
  });

  test("an error frame has the status and code of the API", async () => {
    fixture.upstream.failNext(1, { status: 500, message: "secret words" });
    const socket = open();
    await socket.next("status");
    socket.send({ type: "chat", id: "a", message: "Hello" });
    const failed = await socket.next("error", "a");
    expect(failed).toMatchObject({ status: 502, code: "MODEL_UNAVAILABLE", error: expect.any(String) });
    expect(JSON.stringify(failed)).not.toContain("secret words");
    socket.send({ type: "chat", id: "b", message: "Hello", sessionId: "sess_0000000000000000" });
    expect(await socket.next("error", "b")).toMatchObject({ code: "SESSION_NOT_FOUND" });
    socket.send({ type: "chat", id: "c", message: "x".repeat(100_001) });
    expect(await socket.next("error", "c")).toMatchObject({ code: "INVALID_INPUT" });
  });
});

describe("frames", () => {
  test("ping is answered with pong", async () => {
    const socket = open();
    await socket.next("status");
    socket.send({ type: "ping" });
    expect(await socket.next("pong")).toEqual({ type: "pong" });
  });

  test.each([
    ["no JSON", "hello", "INVALID_FRAME"],
    ["no object", "[1]", "INVALID_FRAME"],
    ["null", "null", "INVALID_FRAME"],
    ["no id", { type: "chat", message: "x" }, "INVALID_FRAME"],
    ["an id that is not text", { type: "chat", id: 7, message: "x" }, "INVALID_FRAME"],
    ["a long id", { type: "chat", id: "x".repeat(129), message: "x" }, "INVALID_FRAME"],
    ["an unknown type", { type: "sudo", id: "a" }, "INVALID_FRAME"],
    ["no message", { type: "chat", id: "a" }, "INVALID_INPUT"],
    ["a message that is no text", { type: "chat", id: "a", message: { text: "x" } }, "INVALID_INPUT"],
    ["deep JSON", `${"[".repeat(100)}${"]".repeat(100)}`, "INVALID_FRAME"],
    ["a NUL", '{"type":"chat","id":"a","message":"\\u0000"}', "INVALID_FRAME"],
    ["half a surrogate pair", '{"type":"chat","id":"a","message":"\\ud800"}', "INVALID_FRAME"],
  ])("%s is rejected, and the socket stays open", async (_, frame, code) => {
    const socket = open();
    await socket.next("status");
    socket.send(frame);
    expect(await socket.next("error")).toMatchObject({ code });
    socket.send({ type: "ping" });
    await socket.next("pong");
    expect(fixture.upstream.chats).toEqual([]);
  });

  test("an id in use, and more than sixteen messages at once, are rejected", async () => {
    fixture.upstream.script({ hang: true });
    const socket = open();
    await socket.next("status");
    for (let n = 0; n < 16; n++) socket.send({ type: "chat", id: `${n}`, message: "Hello" });
    socket.send({ type: "chat", id: "0", message: "Hello" });
    expect(await socket.next("error", "0")).toMatchObject({ code: "DUPLICATE_ID" });
    socket.send({ type: "chat", id: "16", message: "Hello" });
    expect(await socket.next("error", "16")).toMatchObject({ code: "TOO_MANY" });
    socket.send({ type: "cancel", id: "nothing" });
    socket.send({ type: "ping" });
    await socket.next("pong");
  });
});

describe("revocation", () => {
  test("sign-out closes the socket with 4401 and cancels its messages; other sockets stay open", async () => {
    const eve = await fixture.member();
    const own = await fixture.provision(eve);
    fixture.upstream.script({ hang: true });
    const [mine, other] = [open(own, { cookie: eve.cookie }), open()];
    await Promise.all([mine.next("status"), other.next("status")]);
    mine.send({ type: "chat", id: "a", message: "Hello" });
    await fixture.upstream.waitFor(({ open }) => open === 1);
    await eve.signOut();
    expect(await mine.closed()).toBe(4401);
    await fixture.upstream.waitFor(({ open }) => open === 0);
    other.send({ type: "ping" });
    await other.next("pong");
    expect(await open(own, { cookie: eve.cookie }).closed()).toBe(4401);
  });

  test("deleting the agent closes the socket", async () => {
    const doomed = await fixture.provision(ada);
    const socket = open(doomed);
    await socket.next("status");
    await fixture.agents.remove(doomed);
    expect(await socket.closed()).toBe(4401);
  });
});

test("at shutdown running replies still arrive, new messages are rejected, and all sockets are closed", async () => {
  await using own = await openInteractionFixture();
  const eve = await own.member();
  const id = await own.provision(eve);
  const gate = Promise.withResolvers<void>();
  own.upstream.script(async () => {
    await gate.promise;
    return "one two three";
  });
  const headers = { cookie: eve.cookie, origin: OWN };
  const [idle, busy] = [1, 2].map(() => openSocket(`${own.origin}/agent/${id}`, headers));
  if (!idle || !busy) throw new Error("There are two.");
  await Promise.all([idle.next("status"), busy.next("status")]);
  busy.send({ type: "chat", id: "a", message: "Count" });
  await own.upstream.waitFor(({ chats }) => chats.length === 1);
  const stopped = own.app.stop();
  busy.send({ type: "chat", id: "b", message: "And this?" });
  expect(await busy.next("error", "b")).toMatchObject({ code: "STOPPING" });
  gate.resolve();
  expect((await busy.next("reply", "a")).reply).toBe("one two three");
  expect(await Promise.all([idle.closed(), busy.closed()])).toEqual([1001, 1001]);
  await stopped;
});
