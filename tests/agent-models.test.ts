// Agents as models under /v1, with the public clients as they are: memory, tools, conversations, rights, errors, a kill and a retry.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, streamText } from "ai";
import OpenAI, { APIError } from "openai";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
let berth: Berth;
let ada: Client;
let key: string;
let agent: AgentItem;
let model: string;
beforeAll(async () => {
  upstream = await startUpstream();
  berth = await startBerth({
    env: {
      PROVIDER_5_BASE_URL: upstream.url,
      PROVIDER_5_API_KEY: "sk-operator",
      MODEL_A: "provider_5:fake-small",
      // The price of its model is not known, so it counts as a dear one.
      AI_PLAN_BUDGETS_USD_PER_MONTH: "enterprise:500",
      RATE_LIMITS: "off",
    },
  });
  ada = await member(berth, "enterprise");
  key = await newKey(ada, "chat");
});
beforeEach(async () => {
  upstream.reset();
  agent = await provision(ada, "Harbour", { approvals: { remind_me: "ask" } });
  model = `agent:${agent.id}`;
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});

async function newKey(owner: Client, ...scopes: string[]): Promise<string> {
  const { body } = await owner.post<{ key: string }>("/api/keys", { name: "front-end", scopes });
  return body.key;
}

const openai = (apiKey = key) => new OpenAI({ apiKey, baseURL: `${berth.web}/v1`, maxRetries: 0 });
const user = (content: string) => ({ role: "user" as const, content });
const assistant = (content: string) => ({ role: "assistant" as const, content });

async function ask(
  messages: OpenAI.ChatCompletionMessageParam[],
  more: object = {},
  headers: Record<string, string> = {},
) {
  const answer = await openai().chat.completions.create({ model, messages, ...more, stream: false }, { headers });
  return answer.choices[0]?.message.content ?? "";
}
const errorOf = (pending: Promise<unknown>): Promise<unknown> =>
  pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
/** What the model of the agent got last. */
const seen = () => JSON.stringify(upstream.chats.at(-1)?.messages ?? []);
const conversations = async () =>
  (await ada.get<{ conversations: { id: string; title: string }[] }>(`/api/agents/${agent.id}/conversations`)).body
    .conversations;

describe("the models of an account", () => {
  test("include its agents by their addresses, and those of others are not found", async () => {
    const listed = (await openai().models.list()).data.map(({ id }) => id);
    const own = listed.find((id) => id.startsWith("agent:")) ?? "";
    expect((await openai().models.retrieve(own)).id).toBe(own);
    expect((await openai().chat.completions.create({ model: own, messages: [user("Ahoy")] })).choices).toHaveLength(1);

    const eve = await member(berth);
    const foreign = openai(await newKey(eve, "chat"));
    expect((await foreign.models.list()).data.some(({ id }) => listed.includes(id) && id.startsWith("agent:"))).toBe(
      false,
    );
    for (const name of [own, model, "agent:nobody"]) {
      const error = await errorOf(foreign.chat.completions.create({ model: name, messages: [user("Ahoy")] }));
      expect(error).toMatchObject({ status: 404, code: "MODEL_NOT_FOUND", type: "not_found_error" });
    }
    const unscoped = openai(await newKey(ada, "read"));
    expect(await errorOf(unscoped.chat.completions.create({ model, messages: [user("Hi")] }))).toMatchObject({
      status: 403,
    });
  });
});

describe("an answer", () => {
  test("comes whole and streamed, with usage, to each of the clients", async () => {
    expect(await ask([user("Ahoy")])).toBe("echo: Ahoy");
    const stream = await openai().chat.completions.create({
      model,
      messages: [user("Ahoy")],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let tokens = 0;
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? "";
      tokens += usage?.total_tokens ?? 0;
    }
    expect(text).toBe("echo: Ahoy");
    expect(tokens).toBeGreaterThan(0);
    const options = { apiKey: key, baseURL: `${berth.web}/v1` };
    for (const own of [
      createOpenAI(options)(model),
      createOpenAI(options).chat(model),
      createOpenAICompatible({ ...options, name: "berth" })(model),
      createAnthropic(options)(model),
    ]) {
      expect((await generateText({ model: own, prompt: "Ahoy" })).text).toBe("echo: Ahoy");
      expect(await streamText({ model: own, prompt: "Ahoy" }).text).toBe("echo: Ahoy");
    }
    const claude = new Anthropic({ apiKey: key, baseURL: berth.web });
    const said = await claude.messages.create({ model, max_tokens: 100, messages: [user("Ahoy")] });
    expect(said.content).toMatchObject([{ type: "text", text: "echo: Ahoy" }]);
  });

  test("uses the agent's own tools, which are shown in each protocol's own way", async () => {
    upstream.script(({ toolResults }) =>
      toolResults.length > 0 ? "It is late." : { toolCalls: [{ id: "c1", name: "clock", arguments: {} }] },
    );
    const whole = await openai().chat.completions.create({ model, messages: [user("What time is it?")] });
    expect(whole.choices[0]?.message).toMatchObject({
      content: "It is late.",
      reasoning_content: expect.stringContaining("clock"),
    });
    const response = await openai().responses.create({ model, input: "What time is it?" });
    expect(response.output_text).toBe("It is late.");
    expect(response.output.map(({ type }) => type)).toContain("mcp_call");
  });

  test("takes files", async () => {
    const file = { file_data: "data:text/plain;base64,QmVydGggNw==", filename: "note.txt" };
    await ask([
      {
        role: "user",
        content: [
          { type: "text", text: "Read it" },
          { type: "file", file },
        ],
      },
    ]);
    expect(seen()).toContain("Berth 7");
  });

  test("says what waits for the owner's approval, and where it is given", async () => {
    upstream.script(({ toolResults }) =>
      toolResults.length > 0
        ? "Done."
        : { toolCalls: [{ id: "c1", name: "remind_me", arguments: { text: "Tea", inMinutes: 5 } }] },
    );
    const idempotency = { "idempotency-key": "remind" };
    const text = await ask([user("Remind me")], { user: "ada" }, idempotency);
    // The same request gets the same answer while the call waits.
    expect(await ask([user("Remind me")], { user: "ada" }, idempotency)).toBe(text);
    expect(upstream.chats).toHaveLength(1);
    expect(text).toContain("This waits for your approval: Set a reminder in 5 minutes: Tea");
    expect(text).toContain("/console/approvals");
    expect(text).not.toContain("/approve");
    // A client can't approve by what it writes.
    const { body } = await ada.get<{ approvals: { id: string; status: string }[] }>(
      `/api/agents/${agent.id}/approvals`,
    );
    expect(body.approvals).toMatchObject([{ status: "pending" }]);
    await ada.post(`/api/agents/${agent.id}/approvals/${body.approvals[0]?.id}`, { decision: "approve" });
    await eventually(() => upstream.chats.length === 2);
  });
});

describe("the conversation", () => {
  /** Ends the answer with what was said before. */
  const remembers = () =>
    upstream.script(
      ({ messages, lastUser }) => `${lastUser} after ${messages.filter(({ role }) => role === "user").length - 1}`,
    );

  test("is named by user, metadata, a header or the response before; of a history only the new message counts", async () => {
    remembers();
    expect(await ask([user("A")], { user: "ada" })).toBe("A after 0");
    expect(await ask([user("B")], { user: "ada" })).toBe("B after 1");
    expect(await ask([user("A"), assistant("A after 0"), user("C")], { user: "ada" })).toBe("C after 2");
    expect(await ask([user("A")], { user: "bob" })).toBe("A after 0");
    expect(await ask([user("A")], { user: "ada", metadata: { conversation_id: "x" } })).toBe("A after 0");
    expect(await ask([user("B")], { metadata: { conversation_id: "x" } })).toBe("B after 1");
    expect(await ask([user("C")], { user: "eve" }, { "x-openwebui-chat-id": "x" })).toBe("C after 2");
    const first = await openai().responses.create({ model, input: "A" });
    expect(first.output_text).toBe("A after 0");
    const second = await openai().responses.create({ model, input: "B", previous_response_id: first.id });
    expect(second.output_text).toBe("B after 1");
    expect(upstream.chats).toHaveLength(9);
  });

  test("is recognized by what was said in it, where nothing names it", async () => {
    remembers();
    const [one, two] = [await ask([user("Hi")]), await ask([user("Hi")])];
    expect([one, two]).toEqual(["Hi after 0", "Hi after 0"]);
    expect(await conversations()).toHaveLength(2);
    upstream.script(({ messages }) => `Nice ${messages.length > 2 ? "again" : "day"}`);
    const long = [user("Hello"), assistant(await ask([user("Hello")]))];
    remembers();
    expect(await ask([...long, user("B")])).toBe("B after 1");
    expect(await ask([...long, user("B"), assistant("B after 1"), user("C")])).toBe("C after 2");
    // Asked anew, and after an edit, it is still the same one.
    expect(await ask([...long, user("B")])).toBe("B after 3");
    expect(await conversations()).toHaveLength(3);
  });

  test("of the web goes on by its id", async () => {
    remembers();
    const { body } = await ada.post<{ sessionId: string }>("/api/agent", { agentId: agent.id, message: "A" });
    expect(await ask([user("B")], { metadata: { conversation_id: body.sessionId } })).toBe("B after 1");
  });

  test("gets what the app says once, with the message; and is not disturbed by the app's own tasks", async () => {
    const system = { role: "system" as const, content: "Answer in French." };
    await ask([system, user("A")], { user: "ada" });
    expect(seen()).toContain("Answer in French.");
    const before = seen().match(/"role":"system"[^}]*/)?.[0] ?? "";
    expect(before).not.toContain("French");
    await ask([system, user("B")], { user: "ada" });
    expect(seen().split("Answer in French.")).toHaveLength(2 + 1);
    const task = "### Task:\nGenerate a title.\n### Chat History:\n<chat_history>\nUSER: A\n</chat_history>";
    await ask([user(task)], { user: "ada" });
    expect(await ask([user("C")], { user: "ada" })).toBe("echo: C");
    expect(seen()).not.toContain("chat_history");
  });
});

describe("a refusal in OpenAI's form", () => {
  test("comes from a stopped agent, an unusable request, and a model that fails", async () => {
    expect(await errorOf(ask([assistant("I said")]))).toMatchObject({ status: 400, code: "INVALID_INPUT" });
    upstream.script({ status: 400, message: "no" });
    const failed = await errorOf(ask([user("Ahoy")]));
    expect(failed).toBeInstanceOf(APIError);
    expect(failed).toMatchObject({ status: 502, code: "MODEL_UNAVAILABLE", type: "server_error" });
    upstream.reset();
    const poor = await provision(ada, "Poor", { budget: { usdPerDay: 0.000001 } });
    const broke = openai().chat.completions.create({ model: `agent:${poor.id}`, messages: [user("Ahoy")] });
    expect(await errorOf(broke)).toMatchObject({ status: 402, type: "insufficient_quota" });
    await ada.post(`/api/agents/${agent.id}/stop`);
    expect(await errorOf(ask([user("Ahoy")]))).toMatchObject({ status: 409, code: "AGENT_STOPPED" });
    expect(await errorOf(openai().responses.create({ model, input: "A", stream: true }))).toMatchObject({
      status: 409,
    });
  });
});

describe("a client that goes", () => {
  test("ends the turn, unless it has a key to come back with", async () => {
    upstream.script({ pieces: ["One ", "two"], hangAfter: 3 });
    for (const idempotencyKey of [undefined, "k1"]) {
      const gone = new AbortController();
      const headers: Record<string, string> = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
      const stream = await openai().chat.completions.create(
        { model, messages: [user("Count")], stream: true },
        { headers, signal: gone.signal },
      );
      for await (const { choices } of stream) if (choices[0]?.delta.content === "two") break;
      gone.abort();
      if (idempotencyKey === undefined) await eventually(() => upstream.open === 0);
    }
    expect(upstream.open).toBe(1);
    const turns = await ada.get<{ turns: { status: string }[] }>(`/api/agents/${agent.id}/turns`);
    expect(turns.body.turns.map(({ status }) => status)).toEqual(["running", "cancelled"]);
  });

  test("with a used key and another body is refused, by each of the protocols", async () => {
    const headers = (name: string) => ({ headers: { "idempotency-key": name } });
    const refusal = { status: 409, code: "IDEMPOTENCY_MISMATCH" };
    const chat = (content: string, more: object = {}) =>
      openai().chat.completions.create({ model, messages: [user(content)], ...more }, headers("chat-once"));
    await chat("One");
    expect(await errorOf(chat("Two"))).toMatchObject(refusal);
    expect(await errorOf(chat("One", { user: "eve" }))).toMatchObject(refusal);
    const respond = (input: string) => openai().responses.create({ model, input }, headers("respond-once"));
    await respond("One");
    expect(await errorOf(respond("Two"))).toMatchObject(refusal);
    const claude = new Anthropic({ apiKey: key, baseURL: berth.web, maxRetries: 0 });
    const message = (content: string) =>
      claude.messages.create({ model, max_tokens: 100, messages: [user(content)] }, headers("message-once"));
    await message("One");
    expect(await errorOf(message("Two"))).toMatchObject({
      status: 409,
      error: { error: { code: refusal.code } },
    });
    expect((await chat("One")).choices[0]?.message.content).toBe("echo: One");
    expect(upstream.chats).toHaveLength(3);
  });

  test("may use a key again that was refused", async () => {
    const headers = { "idempotency-key": "refused" };
    expect(await errorOf(ask([assistant("I said")], {}, headers))).toMatchObject({ status: 400 });
    expect(await ask([user("Ahoy")], {}, headers)).toBe("echo: Ahoy");
  });

  test("with the same key is answered once, also after a kill in the middle of the answer", async () => {
    upstream.script({ pieces: ["Half ", "of it"], hangAfter: 3 });
    const headers = { "idempotency-key": "pay-once" };
    const send = () =>
      openai().chat.completions.create({ model, messages: [user("Pay the bill")], stream: true }, { headers });
    let text = "";
    const cut = errorOf(
      (async () => {
        for await (const { choices } of await send()) text += choices[0]?.delta.content ?? "";
      })(),
    );
    await eventually(() => text === "Half of it");
    await berth.kill();
    expect(await cut).toBeDefined();
    upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: 200 }));
    await berth.restart({ keepPorts: true });
    const again = await Promise.all([send(), send()]);
    for (const stream of again) {
      let whole = "";
      for await (const { choices } of stream) whole += choices[0]?.delta.content ?? "";
      expect(whole).toBe("echo: Pay the bill");
    }
    expect(
      (await openai().chat.completions.create({ model, messages: [user("Pay the bill")] }, { headers })).choices[0]
        ?.message.content,
    ).toBe("echo: Pay the bill");
    const [conversation, ...others] = await conversations();
    expect(others).toEqual([]);
    const path = `/api/agents/${agent.id}/conversations/${conversation?.id}/messages`;
    const { body } = await ada.get<{ messages: { text: string }[] }>(path);
    expect(body.messages.map(({ text: said }) => said)).toEqual(["echo: Pay the bill", "Pay the bill"]);
  });
});
