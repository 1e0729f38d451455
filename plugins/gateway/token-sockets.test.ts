// Tests the gateway socket by token: it opens its own agent from any origin until it is replaced.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { rawRequest } from "../../tests/support/raw.ts";
import { type InteractionFixture, openInteractionFixture, openSocket } from "../interaction/support.test.ts";

const OWN = "https://berth.example";
const EVIL = "https://evil.example";

let fixture: InteractionFixture;
let ada: Awaited<ReturnType<InteractionFixture["member"]>>;
let agentId: string;
let token: string;
const sockets: { close(): void }[] = [];

const tokenOf = async (id: string) => (await ada.get<{ token: string }>(`/api/agents/${id}/token`)).body.token;

beforeAll(async () => {
  fixture = await openInteractionFixture();
  ada = await fixture.member();
  agentId = await fixture.provision(ada);
  token = await tokenOf(agentId);
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.upstream.reset());
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

function open(path: string, headers: Record<string, string>, protocols?: string[], origin = fixture.origin) {
  const socket = openSocket(`${origin}/agent/${path}`, headers, protocols);
  sockets.push(socket);
  return socket;
}
const bearer = (text = token) => ({ authorization: `Bearer ${text}` });
const asSubprotocol = (text = token) => ["berth.v1", `berth.token.${text}`];

describe("opening", () => {
  test("as a header, from any origin; messages come from the owner", async () => {
    for (const origin of [undefined, EVIL, "null"]) {
      const socket = open(agentId, { ...bearer(), ...(origin && { origin }) });
      expect(await socket.next("status")).toMatchObject({ agentId, status: "running" });
      socket.send({ type: "chat", id: "a", message: "Hello" });
      expect((await socket.next("reply", "a")).reply).toBe("echo: Hello");
    }
    const [row] = await fixture.rows("SELECT DISTINCT by_owner FROM inbox WHERE agent_id = ?", agentId);
    expect(row).toEqual({ by_owner: 1 });
  });

  test("as a subprotocol, in any order; berth.v1 alone is confirmed", async () => {
    for (const protocols of [asSubprotocol(), asSubprotocol().reverse()]) {
      const socket = open(agentId, { origin: EVIL }, protocols);
      await socket.next("status");
      expect(socket.protocol).toBe("berth.v1");
    }
  });

  test("a subprotocol that carries a token is never confirmed, even alone", async () => {
    const answer = await rawRequest(
      fixture.origin,
      [
        `GET /agent/${agentId} HTTP/1.1`,
        "Host: x",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        // With a wrong token the socket is closed again, and so is the connection.
        `Sec-WebSocket-Protocol: berth.token.${"0".repeat(64)}`,
        "\r\n",
      ].join("\r\n"),
    );
    expect(answer.status).toBe(101);
    expect(answer.headers.get("sec-websocket-protocol")).toBeNull();
    expect(JSON.stringify([...answer.headers])).not.toContain("0000");
  });

  test("with the owner's id in the path it opens the token's agent, not the owner's current one", async () => {
    const newer = await fixture.provision(ada);
    expect(await open(ada.userId, bearer()).next("status")).toMatchObject({ agentId });
    expect(await open(ada.userId, bearer(await tokenOf(newer))).next("status")).toMatchObject({ agentId: newer });
  });

  test.each([
    ["another agent of the same owner", async () => [await fixture.provision(ada), token]],
    ["another user's agent", async () => [await fixture.provision(await fixture.member()), token]],
    ["another user's id", async () => [(await fixture.member()).userId, token]],
    ["no agent", () => ["", token]],
    ["a path below its agent", () => [`${agentId}/more`, token]],
    ["a wrong token", () => [agentId, "0".repeat(64)]],
    ["an empty token", () => [agentId, ""]],
    ["the token's hash", () => [agentId, new Bun.CryptoHasher("sha256").update(token).digest("hex")]],
    ["a service token", () => [agentId, fixture.kernel.backend.tokens.sign({ ...NOBODY, agentId })]],
  ])("%s: 4401, as a header and as a subprotocol", async (_, pick) => {
    const [path = "", text = ""] = await pick();
    for (const socket of [open(path, bearer(text)), open(path, {}, asSubprotocol(text))]) {
      expect(await socket.closed()).toBe(4401);
      expect(socket.frames).toEqual([]);
    }
  });

  test("an API key is not accepted as a token", async () => {
    const { body } = await ada.post<{ key: string }>("/api/keys", { name: "all" });
    expect(await open(agentId, bearer(body.key)).closed()).toBe(4401);
  });

  test("a wrong token is rejected also beside a valid cookie", async () => {
    const page = { cookie: ada.cookie, origin: OWN };
    expect(await open(agentId, { ...page, ...bearer("0".repeat(64)) }).closed()).toBe(4401);
    expect(await open(agentId, page, asSubprotocol("secret")).closed()).toBe(4401);
    await open(agentId, page).next("status");
  });
});

describe("revocation", () => {
  const live = async (socket: ReturnType<typeof open>) => {
    socket.send({ type: "ping" });
    await socket.next("pong");
  };

  test("replacing the token closes the sockets that used the old one with 4401, and no others", async () => {
    const own = await fixture.provision(ada);
    const old = await tokenOf(own);
    const [first, second] = [open(own, bearer(old)), open(own, {}, asSubprotocol(old))];
    const others = [open(own, { cookie: ada.cookie, origin: OWN }), open(agentId, bearer())];
    await Promise.all([first, second, ...others].map((socket) => socket.next("status")));
    fixture.upstream.script({ hang: true });
    first.send({ type: "chat", id: "a", message: "Hello" });
    await fixture.upstream.waitFor(({ open }) => open === 1);
    const { body } = await ada.post<{ token: string }>(`/api/agents/${own}/token/rotate`);
    expect(await Promise.all([first.closed(), second.closed()])).toEqual([4401, 4401]);
    await fixture.upstream.waitFor(({ open }) => open === 0);
    await Promise.all(others.map(live));
    expect(await open(own, bearer(old)).closed()).toBe(4401);
    await open(own, bearer(body.token)).next("status");
  });

  test("the owner's sign-out does not close the socket", async () => {
    const guest = await fixture.member();
    const own = await fixture.provision(guest);
    const theirs = (await guest.get<{ token: string }>(`/api/agents/${own}/token`)).body.token;
    const [byToken, byCookie] = [open(own, bearer(theirs)), open(own, { cookie: guest.cookie, origin: OWN })];
    await Promise.all([byToken.next("status"), byCookie.next("status")]);
    await guest.signOut();
    expect(await byCookie.closed()).toBe(4401);
    await live(byToken);
  });

  test("deleting the agent closes the socket", async () => {
    const doomed = await fixture.provision(ada);
    const text = await tokenOf(doomed);
    const socket = open(doomed, bearer(text));
    await socket.next("status");
    await fixture.agents.remove(doomed);
    expect(await socket.closed()).toBe(4401);
    expect(await open(doomed, bearer(text)).closed()).toBe(4401);
  });

  test("disabling the account closes the socket; after enabling, the token works again", async () => {
    const guest = await fixture.member();
    const own = await fixture.provision(guest);
    const theirs = (await guest.get<{ token: string }>(`/api/agents/${own}/token`)).body.token;
    const socket = open(own, bearer(theirs));
    await socket.next("status");
    const { administration } = fixture.app.accounts;
    const nothing = () => ({ sql: "SELECT 1", args: [] });
    await administration.update(guest.userId, { disabled: true }, nothing, { keepAnAdmin: false });
    expect(await socket.closed()).toBe(4401);
    expect(await open(own, bearer(theirs)).closed()).toBe(4401);
    await administration.update(guest.userId, { disabled: false }, nothing, { keepAnAdmin: false });
    await open(own, bearer(theirs)).next("status");
  });
});

describe("events of the agent", () => {
  test("a change of status goes to all sockets of the agent, and to no others", async () => {
    const [one, two] = [await fixture.provision(ada), await fixture.provision(ada)];
    const mine = open(one, bearer(await tokenOf(one)));
    const other = open(two, { cookie: ada.cookie, origin: OWN });
    await Promise.all([mine.next("status"), other.next("status")]);
    await fixture.agents.setStatus(one, "error", { reason: "The disk is full." });
    await fixture.agents.setStatus(one, "stopped");
    const received = await eventually(() => (mine.frames.length === 3 ? mine.frames : undefined));
    const about = { type: "status", agentId: one, name: "Harbour" };
    expect(received).toEqual([
      { ...about, status: "running", reason: null },
      { ...about, status: "error", reason: "The disk is full." },
      { ...about, status: "stopped", reason: null },
    ]);
    expect(other.frames.length).toBe(1);
    mine.send({ type: "chat", id: "a", message: "Hello" });
    expect(await mine.next("error", "a")).toMatchObject({ status: 409, code: "AGENT_STOPPED" });
    expect(await open(one, bearer(await tokenOf(one))).next("status")).toMatchObject({ status: "stopped" });
  });

  test("new lines of the log are sent, with secrets redacted", async () => {
    const [one, two] = [await fixture.provision(ada), await fixture.provision(ada)];
    fixture.agents.log(one, "info", "long ago", "test");
    await fixture.agents.logs.flush();
    const socket = open(one, bearer(await tokenOf(one)));
    await socket.next("status");
    await eventually(async () => {
      fixture.agents.log(one, "info", "are you there?", "test");
      await fixture.agents.logs.flush();
      return socket.frames.some(({ type }) => type === "log");
    });
    fixture.agents.log(two, "error", "somebody else's", "test");
    for (let n = 0; n < 120; n++) fixture.agents.log(one, "warning", `line ${n}`, "test");
    fixture.agents.log(one, "error", "Bearer sk-live-0123456789abcdefghijklmnop was refused", "test");
    const lines = await eventually(() => {
      const all = socket.frames.filter(({ type }) => type === "log");
      return all.some(({ level }) => level === "error") ? all : undefined;
    });
    expect(lines.at(-1)).toEqual({
      type: "log",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      level: "error",
      message: expect.any(String),
      source: "test",
      agentId: one,
    });
    const texts = lines.map(({ message }) => String(message));
    expect(texts.filter((text) => text.startsWith("line "))).toEqual(
      Array.from({ length: 120 }, (_, n) => `line ${n}`),
    );
    expect(texts.join()).not.toMatch(/long ago|somebody else|sk-live/);
  });
});

describe("limits", () => {
  test("wrong tokens count per address and end in 4429; right tokens and sign-ins are not blocked", async () => {
    await using own = await openInteractionFixture({ RATE_LIMITS: '{"sign-in-ip":"3/15m"}' });
    const eve = await own.member();
    const id = await own.provision(eve);
    const good = (await eve.get<{ token: string }>(`/api/agents/${id}/token`)).body.token;
    const at = (text: string) => open(id, bearer(text), [], own.origin);
    for (let n = 0; n < 5; n++) await at(good).next("status");
    for (let n = 0; n < 3; n++) expect(await at("0".repeat(64)).closed()).toBe(4401);
    expect(await at("0".repeat(64)).closed()).toBe(4429);
    // A client that retries with an old token shares its address with others that have the new one.
    const fresh = (await eve.post<{ token: string }>(`/api/agents/${id}/token/rotate`)).body.token;
    expect(await at(good).closed()).toBe(4429);
    await at(fresh).next("status");
    await open(id, { cookie: eve.cookie, origin: OWN }, [], own.origin).next("status");
    await eve.signIn();
  });

  test("messages count against the account's rate, like messages over HTTP", async () => {
    await using own = await openInteractionFixture({ RATE_LIMITS: '{"default":"12/m"}' });
    const eve = await own.member();
    const id = await own.provision(eve);
    const socket = open(id, { cookie: eve.cookie, origin: OWN }, [], own.origin);
    await socket.next("status");
    for (let n = 0; n < 12; n++) socket.send({ type: "chat", id: `${n}`, message: "Hello" });
    const refused = await socket.next("error");
    expect(refused).toMatchObject({ code: "RATE_LIMITED", error: expect.stringContaining("Try again in") });
    socket.send({ type: "ping" });
    await socket.next("pong");
  });
});

const NOBODY = { userId: Bun.randomUUIDv7(), isAdmin: true, action: "agent.chat", address: "" };
