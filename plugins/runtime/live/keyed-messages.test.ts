// Tests that a request which comes again under its key finds the message that the first one has stored, where its answer was not stored.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { DAY } from "../../../src/kernel/util/time.ts";
import { type InteractionFixture, openInteractionFixture } from "../../interaction/support.test.ts";

let fixture: InteractionFixture;
let ada: Awaited<ReturnType<InteractionFixture["member"]>>;
let agentId: string;
beforeAll(async () => {
  fixture = await openInteractionFixture({ OUTBOUND_ALLOW: "127.0.0.1/32" });
  ada = await fixture.member();
});
beforeEach(async () => {
  fixture.upstream.reset();
  agentId = await fixture.provision(ada);
  headers = { "idempotency-key": agentId };
});
afterAll(async () => await fixture?.[Symbol.asyncDispose]());

let headers: Record<string, string>;
const ask = async (message = "Pay the bill") => {
  const { status, body } = await ada.post<{ id: string; reply: string }>(
    "/api/chat",
    { agentId, message },
    { headers },
  );
  return { status, id: body.id, reply: body.reply };
};
/** As a kill does that comes right after a message was stored. */
const forgetAnswers = () => fixture.kernel.database.write([{ sql: "DELETE FROM idempotency_keys", args: [] }]);
const stored = () => fixture.rows("SELECT id, session_id, status FROM inbox WHERE agent_id = ? ORDER BY id", agentId);

/** On the backend, which keeps no answers. */
const onBackend = async (path: string, body: object) => {
  const response = await fixture.app.backend.handle(
    new Request(`http://localhost/api/agents/${agentId}${path}`, {
      method: "POST",
      headers: {
        ...headers,
        cookie: ada.cookie,
        "content-type": "application/json",
        origin: "https://berth.example",
      },
      body: JSON.stringify(body),
    }),
  );
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe("a repeated request", () => {
  test("gets the reply to the message that was stored", async () => {
    const first = await ask();
    await forgetAnswers();
    expect(await ask()).toEqual(first);
    expect(fixture.upstream.chats).toHaveLength(1);
  });

  test("is tried again after the turn has failed, as often as it comes", async () => {
    fixture.upstream.script({ status: 400 });
    for (let tries = 0; tries < 3; tries++) expect((await ask()).status).toBe(502);
    fixture.upstream.reset();
    const done = await ask();
    await forgetAnswers();
    expect(await ask()).toEqual(done);
    expect((await stored()).map(({ status }) => status)).toEqual(["failed", "failed", "failed", "done"]);
  });

  test("finds the last try, also if the clock was set back meanwhile", async () => {
    fixture.upstream.script({ status: 400 });
    await ask();
    // A later message has a smaller id then.
    const later =
      "UPDATE inbox SET id = 'ffffffff' || substr(id, 9), received_at = received_at + 3600000 WHERE agent_id = ?";
    await fixture.kernel.database.write([{ sql: later, args: [agentId] }]);
    await ask();
    fixture.upstream.reset();
    const done = await ask();
    await forgetAnswers();
    expect(await ask()).toEqual(done);
    expect(await stored()).toHaveLength(3);
  });

  test("is refused while its agent is stopped, and its message waits", async () => {
    const first = await ask();
    await forgetAnswers();
    const pending = "UPDATE inbox SET status = 'pending', reply = NULL, settled_at = NULL WHERE agent_id = ?";
    await fixture.kernel.database.write([{ sql: pending, args: [agentId] }]);
    const again = ask();
    await fixture.agents.setStatus(agentId, "stopped");
    expect((await again).status).toBe(409);
    expect((await stored()).map(({ id }) => id)).toEqual([first.id]);
  });

  test("is another message with another content", async () => {
    const first = await ask();
    await forgetAnswers();
    expect((await ask("Something else")).id).not.toBe(first.id);
  });

  test("is a new message after a day, once", async () => {
    const first = await ask();
    await forgetAnswers();
    const age = "UPDATE inbox SET received_at = received_at - ? WHERE agent_id = ?";
    await fixture.kernel.database.write([{ sql: age, args: [DAY + 1_000, agentId] }]);
    const next = await ask();
    expect(next.id).not.toBe(first.id);
    await forgetAnswers();
    expect(await ask()).toEqual(next);
  });

  test("gets the question of a turn that waits for its owner's approval, which goes on waiting", async () => {
    await using page = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("Remind them.") });
    fixture.upstream.script(({ toolResults }) => {
      const url = page.url.href;
      if (toolResults.length === 0) return { toolCalls: [{ name: "web_fetch", arguments: { url } }] };
      return { toolCalls: [{ name: "remind_me", arguments: { text: "Now", inMinutes: 5 } }] };
    });
    const first = await ask();
    expect(first.reply).toContain("/approve");
    await forgetAnswers();
    expect(await ask()).toEqual(first);
    expect((await stored()).map(({ status }) => status)).toEqual(["pending"]);
  });
});

describe("requests that come at once on the backend", () => {
  test("are one message, with one reply", async () => {
    const body = { message: "Pay", platform: "api", topic: "bills" };
    const [one, other] = await Promise.all([onBackend("/turns", body), onBackend("/turns", body)]);
    expect([one.status, one.body]).toEqual([200, other.body]);
    expect(await stored()).toHaveLength(1);
  });

  test("begin one conversation", async () => {
    const body = { message: "Pay" };
    const [one, other] = await Promise.all([onBackend("/conversations", body), onBackend("/conversations", body)]);
    expect([one.status, one.body]).toEqual([202, other.body]);
    expect(await fixture.rows("SELECT 1 FROM sessions WHERE agent_id = ?", agentId)).toHaveLength(1);
    expect(await stored()).toHaveLength(1);
  });
});
