// Tests which sites may call an agent's chat, that they call it without the browser's account, and what visitors get.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { OWN } from "../public-page/support.test.ts";
import { type EmbedFixture, OTHER_SHOP, openEmbedFixture, SHOP, STRANGER } from "./support.test.ts";

let embed: EmbedFixture;
beforeAll(async () => {
  embed = await openEmbedFixture();
});
afterAll(() => embed[Symbol.asyncDispose]());
beforeEach(() => embed.upstream.reset());

const expectClosed = (answer: Awaited<ReturnType<EmbedFixture["request"]>>) => {
  expectRefusal(answer, 403, "FOREIGN_ORIGIN");
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  return answer.text;
};

describe("the sites", () => {
  test("are none until the owner names some, and a stranger can't tell that from an agent that does not exist", async () => {
    const plain = await embed.createAgent();
    const opened = await embed.createOpenAgent({}, { embedOrigins: [SHOP] });
    const named = await embed.createEmbedded();
    const refusals = new Set<string>();
    for (const [name, origin] of [
      [plain.subdomain, SHOP],
      [plain.subdomain, OWN],
      [opened.subdomain, SHOP],
      [named.subdomain, STRANGER],
      [named.subdomain, "null"],
      [named.subdomain, `${SHOP}.evil.example`],
      [named.subdomain, "http://shop.example.com"],
      [named.subdomain, `${SHOP}:8443`],
      ["nobody", SHOP],
    ] as const) {
      refusals.add(expectClosed(await embed.look(name, origin)).replace(/"requestId":"[^"]*"/, ""));
      expectClosed(await embed.send(name, origin, { message: "Hello" }));
      expectClosed(await embed.request("OPTIONS", `/api/embed/${name}/messages`, { origin }));
    }
    expect(refusals.size).toBe(1);
    expect(embed.modelRequests()).toEqual([]);
  });

  test("are asked for in each request: one without an origin is refused", async () => {
    const { subdomain } = await embed.createEmbedded();
    expectRefusal(await embed.look(subdomain, undefined), 403, "FOREIGN_ORIGIN");
    const path = `/api/embed/${subdomain}/messages`;
    expectRefusal(await embed.request("POST", path, {}, { message: "Hello" }), 403, "FOREIGN_ORIGIN");
  });

  test("lose the chat as soon as the owner takes them out", async () => {
    const { id, subdomain } = await embed.createEmbedded();
    expect((await embed.look(subdomain, SHOP)).status).toBe(200);
    await embed.owner.patch(`/api/agents/${id}`, { config: { embed: { origins: [OTHER_SHOP] } } });
    expectClosed(await embed.look(subdomain, SHOP));
    expect((await embed.look(subdomain, OTHER_SHOP)).status).toBe(200);
    await embed.owner.patch(`/api/agents/${id}`, { config: {} });
    expectClosed(await embed.look(subdomain, OTHER_SHOP));
  });

  test.each([
    ["https://*.example.com"],
    ["https://www.example.com/"],
    ["https://www.example.com/page"],
    ["http://www.example.com"],
    ["https://WWW.example.com"],
    ["https://user@www.example.com"],
    ["https://[::1]"],
    ["*"],
    ["null"],
    [""],
  ])("can't be %p", async (origin) => {
    const { id } = await embed.createAgent();
    const refused = await embed.owner.patch(`/api/agents/${id}`, { config: { embed: { origins: [origin] } } });
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "embed.origins[0]" }] } });
  });
});

describe("a page of a site", () => {
  test("may read the answers, without credentials, and send nothing but JSON", async () => {
    const { subdomain } = await embed.createEmbedded();
    const preflight = await embed.request("OPTIONS", `/api/embed/${subdomain}/messages`, {
      origin: SHOP,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("content-type");
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, POST");
    for (const answer of [preflight, await embed.look(subdomain, SHOP), await embed.send(subdomain, SHOP, {})]) {
      expect(answer.headers.get("access-control-allow-origin")).toBe(SHOP);
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
      expect(answer.headers.get("vary")).toContain("origin");
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
  });

  test("is a stranger even with its owner's session: no cookie and no key is read", async () => {
    const { id, subdomain } = await embed.createEmbedded();
    const { cookie } = embed.owner;
    expect(cookie).not.toBe("");
    await embed.owner.post("/api/agent", { agentId: id, message: "My secret is 4711." });
    const { status, headers } = await embed.send(subdomain, SHOP, { message: "What is my secret?" }, { cookie });
    expect({ status, setCookie: headers.get("set-cookie") }).toEqual({ status: 200, setCookie: null });
    const [, asVisitor = ""] = embed.modelRequests();
    expect(asVisitor).toContain("this is a visitor, not your owner");
    expect(asVisitor).not.toContain("4711");
    // Beside the chat, the site reaches nothing with the session that the browser might send along.
    for (const [method, path] of [
      ["POST", `/api/agents/${id}/conversations`],
      ["PATCH", `/api/agents/${id}`],
      ["DELETE", `/api/agents/${id}`],
      ["POST", `/a/${subdomain}/messages`],
      ["POST", "/api/agent"],
    ] as const) {
      expectClosed(await embed.request(method, path, { origin: SHOP, cookie }, { message: "Hello" }));
    }
    for (const path of ["/api/agents", `/api/agents/${id}`, `/api/agents/${id}/config`]) {
      const answer = await embed.request("GET", path, { origin: SHOP, cookie });
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      expectRefusal(await embed.request("OPTIONS", path, { origin: SHOP }), 403, "FOREIGN_ORIGIN");
    }
  });

  test("learns name, greeting, colours and words, in a language of the visitor, and nothing else", async () => {
    const { id, subdomain } = await embed.createEmbedded({ greeting: " Ahoy ", accent: "#aa0000", theme: "dark" });
    const { body, headers } = await embed.look(subdomain, SHOP, "?languages=fr,de-AT,en");
    expect(headers.get("cache-control")).toBe("private, max-age=60");
    expect(Object.keys(body).sort()).toEqual(["accent", "errors", "greeting", "language", "name", "texts", "theme"]);
    expect(body).toMatchObject({ name: "Harbour", greeting: "Ahoy", accent: "#aa0000", theme: "dark", language: "de" });
    expect(body.texts).toMatchObject({ send: "Senden", open: "Chat mit {name}" });
    expect(body.errors.AGENT_STOPPED).toBe("Dieser Agent schläft. Komm später wieder.");
    const english = (await embed.look(id, SHOP, "?languages=fr")).body;
    expect(english).toMatchObject({ language: "en", errors: {}, texts: { send: "Send" } });
    expectRefusal(await embed.look(subdomain, SHOP, "?languages=%3Cscript%3E"), 400, "INVALID_INPUT");
  });
});

describe("a visitor", () => {
  test("keeps a conversation by a token that is valid for this agent and site only", async () => {
    const { subdomain } = await embed.createEmbedded();
    const first = await embed.send(subdomain, SHOP, { message: "My name is Bo." });
    expect(first).toMatchObject({ status: 200, body: { reply: "echo: My name is Bo." } });
    const { visitor } = first.body;
    const knows = async (name: string, origin: string, token: string) => {
      await embed.send(name, origin, { message: "Who am I?", visitor: token });
      return embed.modelRequests().at(-1)?.includes("My name is Bo.");
    };
    const renewed = (await embed.send(subdomain, SHOP, { message: "Hm.", visitor })).body.visitor;
    expect(await knows(subdomain, SHOP, renewed)).toBe(true);
    expect(await knows(subdomain, OTHER_SHOP, visitor)).toBe(false);
    expect(await knows(subdomain, OWN, visitor)).toBe(false);
    expect(await knows((await embed.createEmbedded()).subdomain, SHOP, visitor)).toBe(false);
    expect(await knows(subdomain, SHOP, `${visitor.slice(0, -2)}AA`)).toBe(false);
    expect(await knows(subdomain, SHOP, "")).toBe(false);
  });

  test("gets the token first and then the growing reply, if it asks for a stream", async () => {
    const { subdomain } = await embed.createEmbedded();
    const { text } = await embed.send(subdomain, SHOP, { message: "Hello" }, { accept: "text/event-stream" });
    const events = [...text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, event, data = ""]) => [
      event,
      JSON.parse(data),
    ]);
    expect(events[0]).toEqual(["visitor", { visitor: expect.stringMatching(/^[\w-]{22}\.\d+\.[\w-]{43}$/) }]);
    expect(events.at(-1)).toMatchObject(["reply", { reply: "echo: Hello" }]);
    expect(new Set(events.slice(1, -1).map(([event]) => event))).toEqual(new Set(["delta"]));
  });

  test("learns in a sentence that the agent sleeps, has spent its budget or can't answer, and not why", async () => {
    const agent = await embed.createEmbedded();
    await embed.fixture.agents.setStatus(agent.id, "stopped");
    const asleep = await embed.send(agent.subdomain, SHOP, { message: "Hello" });
    expect(expectRefusal(asleep, 409, "AGENT_STOPPED").error).toContain("asleep");
    expect(asleep.headers.get("access-control-allow-origin")).toBe(SHOP);
    await embed.fixture.agents.setStatus(agent.id, "active");
    embed.upstream.failNext(4, { status: 401, message: "secret words" });
    const failed = await embed.send(agent.subdomain, SHOP, { message: "Hello" });
    expectRefusal(failed, 502, "MODEL_UNAVAILABLE");
    expect(failed.text).not.toMatch(/fake-small|secret|credential/i);
    embed.upstream.reset();
    const poor = await embed.createEmbedded({}, { budget: { usdPerDay: 0 } });
    expectRefusal(await embed.send(poor.subdomain, SHOP, { message: "Hello" }), 402, "BUDGET_EXCEEDED");
    expect(embed.modelRequests()).toEqual([]);
  });

  test("can't send what is no message", async () => {
    const { subdomain } = await embed.createEmbedded();
    for (const body of [{}, { message: "" }, { message: 7 }, { message: "x".repeat(4_001) }, "{"]) {
      const refused = await embed.send(subdomain, SHOP, body);
      expect(refused.status).toBe(400);
      expect(refused.headers.get("access-control-allow-origin")).toBe(SHOP);
    }
    expect(embed.modelRequests()).toEqual([]);
  });
});

describe("a message with an id", () => {
  const ask = async () => ({ ...(await embed.createEmbedded()), id: crypto.randomUUID() });
  const stream = { accept: "text/event-stream" };

  test("is answered once, by the token of the first answer or without it, whole or as a stream", async () => {
    const { subdomain, id } = await ask();
    const first = await embed.send(subdomain, SHOP, { message: "Hello", id });
    const { visitor } = first.body;
    expect((await embed.send(subdomain, SHOP, { message: "Hello", id, visitor })).body.reply).toBe("echo: Hello");
    expect((await embed.send(subdomain, SHOP, { message: "Hello", id })).body.reply).toBe("echo: Hello");
    expect((await embed.send(subdomain, SHOP, { message: "Hello", id }, stream)).text).toContain("echo: Hello");
    expect(embed.modelRequests()).toHaveLength(1);
  });

  test("is another one on another site, of another agent, and with another id", async () => {
    const { subdomain, id } = await ask();
    const other = await embed.createEmbedded();
    await embed.send(subdomain, SHOP, { message: "Hello", id });
    await embed.send(subdomain, OTHER_SHOP, { message: "Hello", id });
    await embed.send(other.subdomain, SHOP, { message: "Hello", id });
    await embed.send(subdomain, SHOP, { message: "Hello", id: crypto.randomUUID() });
    expect(embed.modelRequests()).toHaveLength(4);
  });

  test("is tried again after a failure", async () => {
    const { subdomain, id } = await ask();
    embed.upstream.failNext(4, { status: 401 });
    expectRefusal(await embed.send(subdomain, SHOP, { message: "Hello", id }), 502, "MODEL_UNAVAILABLE");
    embed.upstream.reset();
    expect((await embed.send(subdomain, SHOP, { message: "Hello", id })).body.reply).toBe("echo: Hello");
  });

  test("is stopped by its visitor alone", async () => {
    const { subdomain, id } = await ask();
    embed.upstream.script({ hang: true });
    const answer = embed.send(subdomain, SHOP, { message: "Hello", id }, stream);
    await embed.upstream.waitFor(({ chats }) => chats.length === 1);
    const stop = (origin: string, body: object) =>
      embed.request("POST", `/api/embed/${subdomain}/stop`, { origin }, body);
    expect((await stop(OTHER_SHOP, { id })).body).toEqual({ stopped: false });
    expect((await stop(SHOP, { id: crypto.randomUUID() })).body).toEqual({ stopped: false });
    expectClosed(await stop(STRANGER, { id }));
    expect((await stop(SHOP, { id })).body).toEqual({ stopped: true });
    expect((await answer).text).toContain('"code":"CANCELLED"');
    await embed.upstream.waitFor(({ aborted }) => aborted === 1);
  });
});

test("a repeated request with the same Idempotency-Key is answered once, and shows the token once", async () => {
  const { subdomain } = await embed.createEmbedded();
  const headers = { "idempotency-key": crypto.randomUUID() };
  const first = await embed.send(subdomain, SHOP, { message: "Hello" }, headers);
  const second = await embed.send(subdomain, SHOP, { message: "Hello" }, headers);
  expect(first.body.visitor).toBeString();
  expect(second.body).toEqual({ ...first.body, visitor: null });
  expect(embed.modelRequests()).toHaveLength(1);
});
