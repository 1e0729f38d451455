// Tests the refusals of visitors' messages (other origins, invalid bodies, floods), and the errors of an agent that can't answer.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { openInteractionFixture } from "../interaction/support.test.ts";
import { DOMAIN, OWN, openPublicPageFixture, type PublicPageFixture } from "./support.test.ts";

let pageFixture: PublicPageFixture;
let ada: PublicPageFixture["ada"];
let fixture: PublicPageFixture["fixture"];
beforeAll(async () => {
  pageFixture = await openPublicPageFixture();
  ({ fixture, ada } = pageFixture);
});
afterAll(() => pageFixture[Symbol.asyncDispose]());
beforeEach(() => fixture.upstream.reset());

describe("a visitor's message", () => {
  test("is refused from pages of other origins, and with an invalid body", async () => {
    const agent = await pageFixture.createOpenAgent();
    const one = pageFixture.visitor();
    for (const origin of ["https://evil.example", `https://${agent.subdomain}.${DOMAIN}`, "null"]) {
      expectRefusal(await one.sendMessage(agent, "Hello", { origin }), 403, "FOREIGN_ORIGIN");
    }
    expect((await one.sendMessage(agent, "Hello", { origin: OWN })).status).toBe(200);
    const path = `/a/${agent.subdomain}/messages`;
    for (const body of [{}, { message: "" }, { message: 7 }, { message: "x".repeat(4_001) }]) {
      expectRefusal(await one.request("POST", path, body), 400, "INVALID_INPUT");
    }
    expectRefusal(await one.request("POST", path, { message: "x".repeat(1024 * 1024) }), 413, "BODY_TOO_LARGE");
    expect(pageFixture.modelRequests()).toHaveLength(1);
  });

  test("gets an error without internals from a stopped agent, a used-up budget or a failing model", async () => {
    const agent = await pageFixture.createOpenAgent();
    await fixture.agents.setStatus(agent.id, "stopped");
    expect(
      expectRefusal(await pageFixture.visitor().sendMessage(agent, "Hello"), 409, "AGENT_STOPPED").error,
    ).toContain("asleep");
    await fixture.agents.setStatus(agent.id, "active");
    fixture.upstream.failNext(4, { status: 401, message: "secret words" });
    const failed = await pageFixture.visitor().sendMessage(agent, "Hello");
    expectRefusal(failed, 502, "MODEL_UNAVAILABLE");
    const streamed = await pageFixture.visitor().sendMessage(agent, "Hello", { accept: "text/event-stream" });
    expect(streamed.text).toContain("MODEL_UNAVAILABLE");
    for (const { text } of [failed, streamed]) expect(text).not.toMatch(/fake-small|secret|credential|key/i);
    fixture.upstream.reset();
    const poor = await pageFixture.createOpenAgent({ budget: { usdPerDay: 0 } });
    const refused = expectRefusal(await pageFixture.visitor().sendMessage(poor, "Hello"), 402, "BUDGET_EXCEEDED");
    expect(Object.keys(refused).sort()).toEqual(["code", "error", "message"]);
    expect(pageFixture.modelRequests()).toEqual([]);
  });

  test("is accepted by the backend's route only from the web surface", async () => {
    const agent = await pageFixture.createOpenAgent();
    const path = `/api/agents/${agent.id}/visits`;
    const body = JSON.stringify({ message: "Hello", visitor: "A".repeat(22) });
    const { tokens } = fixture.kernel.backend;
    const grant = { userId: ada.userId, isAdmin: true, action: "agent.visit", address: "" };
    const bearers = {
      "no token": undefined,
      "another action": tokens.sign({ ...grant, action: "agent.chat", agentId: agent.id }),
      "another agent": tokens.sign({ ...grant, agentId: (await pageFixture.createOpenAgent()).id }),
      "no agent": tokens.sign(grant),
    };
    for (const [name, bearer] of Object.entries(bearers)) {
      const headers = { "content-type": "application/json", ...(bearer && { authorization: `Bearer ${bearer}` }) };
      const { status } = await fixture.app.backend.handle(
        new Request(`http://b${path}`, { method: "POST", headers, body }),
      );
      expect([name, status]).toEqual([name, ["no token", "another action"].includes(name) ? 401 : 404]);
    }
    const headers = { "content-type": "application/json", cookie: ada.cookie };
    const own = await fixture.app.backend.handle(new Request(`http://b${path}`, { method: "POST", headers, body }));
    expect(own.status).toBe(404);
    expect(pageFixture.modelRequests()).toEqual([]);
  });

  test("is limited by rate per address and agent, and by number at once", async () => {
    await using own = await openInteractionFixture({ RATE_LIMITS: '{"ai":"12/m"}' });
    const eve = await own.member();
    const id = await own.provision(eve);
    await eve.put(`/api/agents/${id}/public`, { enabled: true });
    const { body } = await eve.get<{ agent: { subdomain: string } }>(`/api/agents/${id}`);
    const agent = { id, subdomain: body.agent.subdomain };
    const statuses = [];
    for (let n = 0; n < 4; n++)
      statuses.push((await pageFixture.visitor(own.origin).sendMessage(agent, "Hello")).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
    const refused = await pageFixture.visitor(own.origin).sendMessage(agent, "Hello");
    expectRefusal(refused, 429, "RATE_LIMITED");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    // The visitors' rate limit does not affect the owner.
    expect((await eve.post("/api/agent", { message: "Hello" })).status).toBe(200);
    // Viewing the page does not count.
    expect((await pageFixture.visitor(own.origin).getPage(`/a/${agent.subdomain}`)).status).toBe(200);

    const busy = await pageFixture.createOpenAgent();
    fixture.upstream.script({ hang: true });
    const left = new AbortController();
    for (let n = 0; n < 2; n++) {
      fetch(`${fixture.origin}/a/${busy.subdomain}/messages`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"message":"Hello"}',
        signal: left.signal,
      }).catch(() => undefined);
    }
    await fixture.upstream.waitFor(({ open }) => open === 2);
    expectRefusal(await pageFixture.visitor().sendMessage(busy, "Hello"), 429, "AGENT_BUSY");
    left.abort();
    await fixture.upstream.waitFor(({ open }) => open === 0);
    fixture.upstream.reset();
    await eventually(async () => (await pageFixture.visitor().sendMessage(busy, "Hello")).status === 200);
  });
});
