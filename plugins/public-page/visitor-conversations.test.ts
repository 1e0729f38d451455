// Tests that each visitor has a separate conversation, which neither other visitors nor the owner can see.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { parseEvents } from "../../tests/support/sse.ts";
import { DOMAIN, OWN, openPublicPageFixture, type PublicPageFixture, type TestAgent } from "./support.test.ts";

let pageFixture: PublicPageFixture;
let ada: PublicPageFixture["ada"];
let fixture: PublicPageFixture["fixture"];
beforeAll(async () => {
  pageFixture = await openPublicPageFixture();
  ({ fixture, ada } = pageFixture);
});
afterAll(() => pageFixture[Symbol.asyncDispose]());
beforeEach(() => fixture.upstream.reset());

describe("a visitor", () => {
  test("continues their own conversation by a cookie for this address only", async () => {
    const agent = await pageFixture.createOpenAgent();
    const [one, two] = [pageFixture.visitor(), pageFixture.visitor()];
    const first = await one.sendMessage(agent, "My name is Bo.");
    const attributes = `Max-Age=2592000; Path=/a/${agent.subdomain}; HttpOnly; SameSite=Strict; Secure`;
    expect(first.setCookie).toMatch(/^__Secure-berth_visitor=[\w-]{22}\.[\w-]{43}; /);
    expect(first.setCookie).toEndWith(attributes);
    expect(JSON.stringify(first.body)).not.toMatch(/sess_|inboxId/);
    await one.sendMessage(agent, "Who am I?");
    expect(pageFixture.modelRequests()[1]).toContain("My name is Bo.");
    await two.sendMessage(agent, "Who am I?");
    expect(pageFixture.modelRequests()[2]).not.toContain("Bo.");
    expect(two.cookie).not.toBe(one.cookie);
    const sessions = await fixture.rows(
      "SELECT platform, peer, message_count FROM sessions WHERE agent_id = ?",
      agent.id,
    );
    expect(sessions).toHaveLength(2);
    for (const { platform, peer } of sessions) {
      expect(platform).toBe("public");
      expect(peer).toMatch(/^visitor:[\w-]{22}$/);
    }
    const kept = await fixture.rows("SELECT peer FROM sessions WHERE agent_id = ?", agent.id);
    const mac = one.cookie.split(".")[1] ?? "?";
    expect(JSON.stringify(kept)).not.toContain(mac);
  });

  test("starts over with /reset", async () => {
    const agent = await pageFixture.createOpenAgent();
    const one = pageFixture.visitor();
    await one.sendMessage(agent, "My name is Bo.");
    await one.sendMessage(agent, "/reset");
    await one.sendMessage(agent, "Who am I?");
    expect(pageFixture.modelRequests().at(-1)).not.toContain("Bo.");
  });

  test("learns the model from no command", async () => {
    const agent = await pageFixture.createOpenAgent();
    const one = pageFixture.visitor();
    for (const command of ["/start", "/help", "/status", "/model"]) {
      const { status, body } = await one.sendMessage(agent, command);
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toMatch(/provider_|fake-small/);
    }
  });

  test("can't pass for another by a forged cookie, nor by one of another agent", async () => {
    const [agent, other] = [await pageFixture.createOpenAgent(), await pageFixture.createOpenAgent()];
    const one = pageFixture.visitor();
    await one.sendMessage(agent, "My name is Bo.");
    const [name = "", value = ""] = one.cookie.split("=");
    const [id = "", mac = ""] = value.split(".");
    const forged = [
      `${name}=${id}`,
      `${name}=${id}.${"A".repeat(43)}`,
      `${name}=${"A".repeat(22)}.${mac}`,
      `${name}=.${mac}`,
    ];
    for (const cookie of forged) {
      const thief = pageFixture.visitor();
      thief.cookie = cookie;
      const { setCookie } = await thief.sendMessage(agent, "Who am I?");
      expect(setCookie).not.toContain(id);
      expect(pageFixture.modelRequests().at(-1)).not.toContain("Bo.");
    }
    const same = pageFixture.visitor();
    same.cookie = one.cookie;
    expect((await same.sendMessage(other, "Hello")).setCookie).not.toContain(id);
    same.cookie = `${name}=${"A".repeat(22)}.${mac}; ${one.cookie}`;
    await same.sendMessage(agent, "Who am I?");
    expect(pageFixture.modelRequests().at(-1)).toContain("Bo.");
  });

  test("gets nothing of the owner's sessions, memories and tools, even if the owner is signed in", async () => {
    const agent = await pageFixture.createOpenAgent();
    await ada.post("/api/agent", { agentId: agent.id, message: "The safe's number is 4711." });
    await fixture.kernel.database.write([
      {
        sql: `INSERT INTO memories (id, agent_id, circle, content, digest, source, created_at, updated_at)
          VALUES ('m', ?, '', 'The safe is behind the picture.', 'd', 'owner', 1, 1)`,
        args: [agent.id],
      },
    ]);
    const one = pageFixture.visitor();
    // Even the owner is a visitor on this page, with or without a session.
    one.cookie = ada.cookie;
    await one.sendMessage(agent, "Where is the safe, and its number?", { origin: OWN });
    const modelRequest = pageFixture.modelRequests().at(-1) ?? "";
    expect(modelRequest).not.toMatch(/4711|behind the picture/);
    expect(modelRequest).toContain("this is a visitor, not your owner");
    const [entry] = await fixture.rows(
      "SELECT by_owner, sender_id FROM inbox WHERE agent_id = ? AND platform = 'public'",
      agent.id,
    );
    expect(entry).toEqual({ by_owner: 0, sender_id: expect.not.stringContaining(ada.userId) });
    // Nor does the owner's message continue the visitor's conversation.
    await ada.post("/api/agent", { agentId: agent.id, message: "Anybody?" });
    expect(pageFixture.modelRequests().at(-1)).not.toContain("and its number?");
    // The owner's list of sessions leaves out visitors', of which there can be any number.
    const { body } = await ada.get<{ sessions: { id: string }[] }>(`/api/agent?action=sessions&agentId=${agent.id}`);
    expect(body.sessions).toHaveLength(1);
  });

  test("does not get the agent's memories of another visitor", async () => {
    const agent = await pageFixture.createOpenAgent();
    const [one, two] = [pageFixture.visitor(), pageFixture.visitor()];
    fixture.upstream.script(({ toolResults }) =>
      toolResults.length > 0
        ? "Noted."
        : { toolCalls: [{ name: "remember", arguments: { fact: "The visitor likes herring." } }] },
    );
    await one.sendMessage(agent, "I like herring.");
    fixture.upstream.reset();
    await one.sendMessage(agent, "/reset");
    await one.sendMessage(agent, "What do I like?");
    expect(pageFixture.modelRequests().at(-1)).toContain("likes herring");
    await two.sendMessage(agent, "What do I like?");
    expect(pageFixture.modelRequests().at(-1)).not.toContain("herring");
    await ada.post("/api/agent", { agentId: agent.id, message: "What do I like?" });
    expect(pageFixture.modelRequests().at(-1)).not.toContain("herring");
    const [fact] = await fixture.rows("SELECT circle FROM memories WHERE agent_id = ?", agent.id);
    expect(fact?.circle).toMatch(/^public:visitor:[\w-]{22}$/);
  });

  test("sees the reply grow, but no tool calls", async () => {
    const agent = await pageFixture.createOpenAgent();
    fixture.upstream.script(({ toolResults }) =>
      toolResults.length > 0 ? "one two three" : { toolCalls: [{ name: "clock", arguments: {} }] },
    );
    const { headers, text, setCookie } = await pageFixture
      .visitor()
      .sendMessage(agent, "Count", { accept: "text/event-stream" });
    expect(headers.get("content-type")).toStartWith("text/event-stream");
    expect(setCookie).toContain("berth_visitor=");
    const events = parseEvents(text).map(({ event, data }) => [event, JSON.parse(data)]);
    expect(events.at(-1)).toEqual(["reply", { reply: "one two three", timestamp: expect.any(Number) }]);
    expect(new Set(events.map(([event]) => event))).toEqual(new Set(["delta", "reply"]));
    expect(text).not.toContain("clock");
  });

  test("ends the turn by disconnecting", async () => {
    const agent = await pageFixture.createOpenAgent();
    fixture.upstream.script({ text: "one two three", hangAfter: 2 });
    const left = new AbortController();
    const response = await fetch(`${fixture.origin}/a/${agent.subdomain}/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ message: "Count" }),
      signal: left.signal,
    });
    await response.body?.getReader().read();
    await fixture.upstream.waitFor(({ open }) => open === 1);
    left.abort();
    await fixture.upstream.waitFor(({ open }) => open === 0);
    fixture.upstream.reset();
    // The visitor's place is free again, too.
    await eventually(async () => {
      const all = await Promise.all([1, 2].map(() => pageFixture.visitor().sendMessage(agent, "Hello")));
      return all.every(({ status }) => status === 200);
    });
  });

  test("gets one reply per Idempotency-Key", async () => {
    const agent = await pageFixture.createOpenAgent();
    const one = pageFixture.visitor();
    await one.sendMessage(agent, "Hello");
    const key = { "idempotency-key": "k1" };
    const [first, again] = [
      await one.sendMessage(agent, "Count me", key),
      await one.sendMessage(agent, "Count me", key),
    ];
    expect(again.body).toEqual(first.body);
    expect(pageFixture.modelRequests().filter((text) => text.includes("Count me"))).toHaveLength(1);
    expectRefusal(await one.sendMessage(agent, "Something else", key), 409, "IDEMPOTENCY_MISMATCH");
  });
});

describe("an agent's own host", () => {
  const at = ({ subdomain }: TestAgent, more: Record<string, string> = {}) => ({
    host: `${subdomain}.${DOMAIN}`,
    ...more,
  });

  test("serves the page and the chat, with a cookie for this host only", async () => {
    const agent = await pageFixture.createOpenAgent();
    const own = `https://${agent.subdomain}.${DOMAIN}`;
    const one = pageFixture.visitor();
    const page = await one.getPage("/", at(agent, { accept: "text/html" }));
    expect(page.text).toContain("Harbour");
    expect(page.headers.get("content-security-policy")).toContain(`connect-src ${own}/messages;`);
    const response = await one.request("POST", "/messages", { message: "Hello" }, at(agent, { origin: own }));
    expect(response.body).toMatchObject({ reply: "echo: Hello" });
    expect(response.setCookie).toMatch(/^__Host-berth_visitor=.*; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
    expect(response.setCookie).not.toMatch(/domain/i);
  });

  test("accepts messages from its own pages only", async () => {
    const [agent, other] = [await pageFixture.createOpenAgent(), await pageFixture.createOpenAgent()];
    for (const origin of [OWN, `https://${other.subdomain}.${DOMAIN}`, "https://evil.example"]) {
      const answer = await pageFixture
        .visitor()
        .request("POST", "/messages", { message: "Hello" }, at(agent, { origin }));
      expectRefusal(answer, 403, "FOREIGN_ORIGIN");
    }
  });

  test("serves nothing else of Berth, whatever the cookie", async () => {
    const agent = await pageFixture.createOpenAgent();
    for (const path of ["/api/agents", "/api/auth/session", "/login", "/swagger/json", `/a/${agent.subdomain}`]) {
      const answer = await pageFixture.visitor().request("GET", path, undefined, at(agent, { cookie: ada.cookie }));
      expectRefusal(answer, 404);
    }
    const unknown = await pageFixture.visitor().getPage("/", { host: `nobody.${DOMAIN}`, accept: "text/html" });
    expect([unknown.status, unknown.text.includes("Nobody is here")]).toEqual([404, true]);
  });
});
