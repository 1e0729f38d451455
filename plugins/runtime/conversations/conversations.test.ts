// Tests over HTTP what an agent's owner reads of conversations and turns.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { type InteractionFixture, openInteractionFixture } from "../../interaction/support.test.ts";
import type { ConversationPage, ConversationView } from "./conversation-list.ts";
import type { MessagePage } from "./conversation-messages.ts";
import type { TurnPage, TurnView } from "./turn-list.ts";
import type { TurnStep } from "./turn-steps.ts";

let fixture: InteractionFixture;
let ada: Awaited<ReturnType<InteractionFixture["member"]>>;
let agentId: string;
beforeAll(async () => {
  fixture = await openInteractionFixture();
  ada = await fixture.member();
});
beforeEach(async () => {
  fixture.upstream.reset();
  agentId = await fixture.provision(ada);
});
afterAll(async () => await fixture?.[Symbol.asyncDispose]());

const path = (rest: string) => `/api/agents/${agentId}${rest}`;
const list = async (query = "") => (await ada.get<ConversationPage>(path(`/conversations${query}`))).body;
const messagesOf = async (id: string, query = "") =>
  (await ada.get<MessagePage>(path(`/conversations/${id}/messages${query}`))).body;

interface Told {
  platform: string;
  peer?: string;
  name?: string;
  messages: readonly string[];
  at: number;
}

/** Stores a conversation as a channel would have left it: each message of the person with a reply. */
async function tell({ platform, peer, name = "", messages, at }: Told): Promise<string> {
  const session = `sess_${crypto.randomUUID().slice(0, 16)}`;
  const columns = "(id, agent_id, platform, peer, message_count, created_at, last_activity_at)";
  await fixture.kernel.database.write([
    {
      sql: `INSERT INTO sessions ${columns} VALUES (?, ?, ?, ?, ?, ?, ?)`,
      args: [session, agentId, platform, peer ?? null, messages.length * 2, at, at],
    },
    ...messages.flatMap((content, n) => {
      const entry = Bun.randomUUIDv7();
      const message = (role: string, text: string) => ({
        sql: `INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, created_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        args: [role === "user" ? entry : crypto.randomUUID(), session, agentId, entry, platform, role, text, at + n],
      });
      return [
        {
          sql: `INSERT INTO inbox (id, agent_id, session_id, platform, peer, sender_id, sender_name, by_owner, content,
            status, received_at, settled_at) VALUES (?, ?, ?, ?, ?, '7', ?, ?, ?, 'done', ?, ?)`,
          args: [entry, agentId, session, platform, peer ?? null, name, name === "" ? 1 : 0, content, at + n, at + n],
        },
        message("user", content),
        message("assistant", `Re: ${content}`),
      ];
    }),
  ]);
  return session;
}

describe("the list of conversations", () => {
  test("has those of all platforms, the most recently active first, with who, what and when", async () => {
    const web = await tell({ platform: "web", messages: ["How deep is the harbour?\nIn metres."], at: 1_000 });
    const telegram = await tell({
      platform: "channel_a",
      peer: "7",
      name: "Bob",
      messages: ["/start", "Ahoy"],
      at: 3_000,
    });
    await tell({ platform: "public", peer: "visitor:secret", name: "", messages: ["Is it open?"], at: 2_000 });
    const { conversations, nextCursor, complete } = await list();
    expect(conversations.map(({ platform }) => platform)).toEqual(["channel_a", "public", "web"]);
    expect(conversations[0]).toEqual({
      id: telegram,
      platform: "channel_a",
      name: "Bob",
      isGroup: false,
      topic: null,
      title: "Ahoy",
      preview: "Re: Ahoy",
      previewRole: "assistant",
      messageCount: 4,
      waiting: 0,
      status: "idle",
      createdAt: "1970-01-01T00:00:03.000Z",
      lastActivityAt: "1970-01-01T00:00:03.000Z",
      match: null,
    });
    expect(conversations[2]).toMatchObject({ id: web, name: "", title: "How deep is the harbour?" });
    expect([nextCursor, complete]).toEqual([null, true]);
    // The address of a visitor is the secret of their cookie.
    expect(JSON.stringify(conversations)).not.toContain("visitor:secret");
    expect((await ada.get<ConversationView>(path(`/conversations/${telegram}`))).body).toMatchObject({ name: "Bob" });
  });

  test("are named by the words of the first message, and by a file's name if it has none", async () => {
    const note = "[photo: boat.png]";
    const files = await tell({ platform: "web", messages: [`${note}\n[document: plan.txt]`], at: 1_000 });
    const words = await tell({ platform: "web", messages: [`${note}\n[document: plan.txt]\nSee these`], at: 2_000 });
    const { conversations } = await list();
    const titles = new Map(conversations.map(({ id, title }) => [id, title]));
    expect([titles.get(words), titles.get(files)]).toEqual(["See these", note]);
  });

  test("pages by a cursor without gap or duplicate, also where the times are equal", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) {
      ids.push(
        await tell({ platform: n % 3 === 0 ? "public" : "web", messages: [`m${n}`], at: n < 4 ? 5_000 : 9_000 }),
      );
    }
    const seen: string[] = [];
    let cursor: string | null = "";
    for (let pages = 0; cursor !== null && pages < 9; pages++) {
      const found: ConversationPage = await list(`?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...found.conversations.map(({ id }) => id));
      cursor = found.nextCursor;
    }
    expect(seen).toHaveLength(7);
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expectRefusal(await ada.get(path("/conversations?cursor=x")), 400, "INVALID_INPUT");
  });

  test("searches messages and names of people, ignoring case, and shows the place", async () => {
    const bob = await tell({
      platform: "channel_a",
      peer: "7",
      name: "Bob Müller",
      messages: ["Where is the LIGHTHOUSE?"],
      at: 2,
    });
    await tell({ platform: "web", messages: ["Nothing here", "100% sure"], at: 1 });
    const found = await list("?query=lighthouse");
    expect(found.conversations).toMatchObject([{ id: bob, match: { text: expect.stringContaining("LIGHTHOUSE") } }]);
    expect(found.complete).toBe(true);
    expect((await list(`?query=${encodeURIComponent("MÜLLER")}`)).conversations).toMatchObject([{ id: bob }]);
    expect((await list("?query=100%25")).conversations).toHaveLength(1);
    expect((await list("?query=1_0%25")).conversations).toEqual([]);
    expect((await list("?platform=channel_a")).conversations).toMatchObject([{ id: bob }]);
  });

  test("says when a search has stopped at its bound, and goes on with the next page", async () => {
    const old = await tell({ platform: "web", messages: ["needle"], at: 1 });
    for (const at of [2, 3]) {
      const id = await tell({ platform: "web", messages: ["hay"], at });
      // As if it were long: the bound counts messages.
      await fixture.kernel.database.write([
        { sql: "UPDATE sessions SET message_count = 15000 WHERE id = ?", args: [id] },
      ]);
    }
    const first = await list("?query=needle");
    expect(first).toMatchObject({ conversations: [], complete: false });
    const second = await list(`?query=needle&cursor=${first.nextCursor}`);
    const found = second.conversations[0] ?? (await list(`?query=needle&cursor=${second.nextCursor}`)).conversations[0];
    expect(found?.id).toBe(old);
  });
});

describe("the messages of a conversation", () => {
  test("are pages of the newest ones, which say who wrote", async () => {
    const messages = Array.from({ length: 60 }, (_, n) => `m${n}`);
    const id = await tell({ platform: "channel_a", peer: "7", name: "Bob", messages, at: 1_000 });
    const page = await messagesOf(id);
    expect(page.messages).toHaveLength(50);
    expect(page.messages.slice(0, 2)).toMatchObject([
      { role: "assistant", text: "Re: m59", senderName: "" },
      { role: "user", text: "m59", senderName: "Bob", byOwner: false, state: "done", error: null },
    ]);
    const older = await messagesOf(id, `?before=${page.before}&limit=100`);
    expect(older.messages).toHaveLength(70);
    expect(older.messages.at(-1)?.text).toBe("m0");
    expect(older.before).toBeNull();
  });

  test("a page of very long texts is shorter", async () => {
    const long = "x".repeat(400_000);
    const id = await tell({ platform: "web", messages: [long, long, long], at: 1 });
    const page = await messagesOf(id);
    expect(page.messages.length).toBeLessThan(6);
    expect(page.before).not.toBeNull();
  });

  test("another account's are not found, and neither are unknown ones", async () => {
    const id = await tell({ platform: "web", messages: ["hello"], at: 1 });
    const eve = await fixture.member();
    for (const address of ["/conversations", `/conversations/${id}`, `/conversations/${id}/messages`, "/turns"]) {
      expectRefusal(await eve.get(path(address)), 404, "AGENT_NOT_FOUND");
    }
    const other = await fixture.provision(ada);
    expectRefusal(await ada.get(`/api/agents/${other}/conversations/${id}/messages`), 404, "CONVERSATION_NOT_FOUND");
    expectRefusal(await ada.get(path("/conversations/sess_nope/messages")), 404, "CONVERSATION_NOT_FOUND");
  });
});

describe("turns", () => {
  test("have the model, tokens and cost of their calls, and their steps without secrets", async () => {
    fixture.upstream.script(({ toolResults }) =>
      toolResults.length > 0
        ? { text: "Noted.", usage: { prompt: 30, completion: 5 } }
        : {
            toolCalls: [
              { name: "remember", arguments: { fact: "The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB" } },
            ],
            usage: { prompt: 20, completion: 7 },
          },
    );
    const { body } = await ada.post<{ sessionId: string }>("/api/agent", { agentId, message: "Remember this" });
    const { turns } = (await ada.get<TurnPage>(path("/turns"))).body;
    expect(turns).toMatchObject([
      {
        sessionId: body.sessionId,
        platform: "web",
        status: "done",
        model: "provider_5:fake-small",
        steps: 3,
        inputTokens: 50,
        outputTokens: 12,
        endedAt: expect.any(String),
      },
    ]);
    expect(turns[0]?.costUsd).toBeGreaterThan(0);

    type Whole = { turn: TurnView; steps: TurnStep[] };
    const { steps } = (await ada.get<Whole>(path(`/turns/${turns[0]?.id}`))).body;
    expect(steps.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "model provider_5:fake-small",
      "tool remember",
      "model provider_5:fake-small",
    ]);
    expect(JSON.stringify(steps)).not.toContain("sk-proj-abcdef");

    const [reply, question] = (await messagesOf(body.sessionId)).messages;
    expect(reply).toMatchObject({ role: "assistant", usage: { inputTokens: 50, outputTokens: 12 } });
    expect(reply?.steps).toMatchObject([{ name: "remember", ok: true, ms: expect.any(Number) }]);
    expect(question).toMatchObject({ role: "user", byOwner: true, turnId: reply?.turnId ?? "" });
    expectRefusal(await ada.get(path(`/turns/${crypto.randomUUID()}`)), 404, "TURN_NOT_FOUND");
  });

  test("show what a delegated task has called below the call that delegated it", async () => {
    agentId = await fixture.provision(ada, { skills: { delegate: true } });
    const secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB";
    fixture.upstream.script(({ messages, toolResults, lastUser }) => {
      if (toolResults.length > 0) return "Done.";
      return String(messages[0]?.content).includes("one part of a larger task")
        ? { toolCalls: [{ name: "recall", arguments: { query: `${lastUser} ${secret}` } }] }
        : { toolCalls: [{ name: "delegate", arguments: { tasks: ["tea", "cups"] } }] };
    });
    const sent = await ada.post<{ turnId: string; conversationId: string }>(path("/conversations"), { message: "Go" });
    const turnId = sent.body.turnId;
    const events = await Array.fromAsync(ada.sse(path(`/turns/${turnId}/events`)));
    const live = events
      .filter(({ event }) => event === "tool")
      .map(({ data }) => JSON.parse(data) as { id: string; parent?: string; name: string; state: string });
    const delegated = live.find(({ name }) => name === "delegate")?.id ?? "";
    expect(live.filter(({ state }) => state === "done").map(({ name, parent }) => [name, parent])).toEqual([
      ["recall", delegated],
      ["recall", delegated],
      ["delegate", undefined],
    ]);

    const { steps } = (await ada.get<{ steps: TurnStep[] }>(path(`/turns/${turnId}`))).body;
    const model = "model provider_5:fake-small";
    const within = steps.filter(({ parent }) => parent === 2);
    expect(
      steps.filter(({ parent }) => parent === null).map(({ seq, kind, name }) => [seq, `${kind} ${name}`]),
    ).toEqual([
      [1, model],
      [2, "tool delegate"],
      [steps.length, model],
    ]);
    expect(within.map(({ kind, name }) => `${kind} ${name}`).toSorted()).toEqual(
      [...Array(4).fill(model), "tool recall", "tool recall"].toSorted(),
    );
    const tools = within.filter(({ kind }) => kind === "tool").toSorted((a, b) => (a.part ?? 0) - (b.part ?? 0));
    expect(tools).toMatchObject([
      { part: 1, ok: true, state: "done", input: { query: expect.stringContaining("tea") } },
      { part: 2, output: expect.stringContaining("Nothing is remembered") },
    ]);
    // Their numbers are those of one list, in which each follows its parent.
    expect(steps.map(({ seq }) => seq)).toEqual(steps.map((_, n) => n + 1));
    const { messages } = await messagesOf(sent.body.conversationId);
    expect(messages[0]?.steps).toMatchObject([{ name: "delegate", steps: [{ name: "recall" }, { name: "recall" }] }]);
    expect(JSON.stringify([live, steps, messages])).not.toContain("sk-proj-abcdef");
    const rows = await fixture.kernel.database.read("SELECT sub_steps FROM turn_steps WHERE turn_id = ?", [turnId]);
    expect(JSON.stringify(rows.rows)).not.toContain("sk-proj-abcdef");
  });

  test("are filtered by status and paged", async () => {
    for (const message of ["one", "two", "three"]) await ada.post("/api/agent", { agentId, message });
    fixture.upstream.failNext(1, 400);
    expect((await ada.post("/api/agent", { agentId, message: "four" })).status).toBe(502);
    const turns = async (query: string) => (await ada.get<TurnPage>(path(`/turns${query}`))).body;
    expect((await turns("?status=failed")).turns).toMatchObject([
      { status: "failed", error: { code: "MODEL_UNAVAILABLE", message: expect.any(String) } },
    ]);
    expect((await turns("?status=done")).turns).toHaveLength(3);
    const first = await turns("?limit=3");
    expect((await turns(`?limit=3&cursor=${first.nextCursor}`)).turns).toHaveLength(1);
    expect((await turns("?offset=2")).turns).toHaveLength(2);
    expectRefusal(await ada.get(path("/turns?status=x")), 400, "INVALID_INPUT");
    expectRefusal(await ada.get(path("/turns?cursor=x")), 400, "INVALID_INPUT");
  });
});
