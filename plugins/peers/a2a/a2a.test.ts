// Talks to a public agent by the A2A protocol: with the official SDK's client, and with requests written by hand.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { type InteractionFixture, openInteractionFixture } from "../../interaction/support.test.ts";

const BASE = "https://berth.example";
let fixture: InteractionFixture;
let ada: Awaited<ReturnType<InteractionFixture["member"]>>;
let agentId: string;
let subdomain: string;
beforeAll(async () => {
  fixture = await openInteractionFixture({ BASE_URL: BASE });
  ada = await fixture.member();
  agentId = await fixture.provision(ada);
  subdomain = (await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${agentId}`)).body.agent.subdomain;
  await ada.put(`/api/agents/${agentId}/public`, { enabled: true, greeting: "Ask me about tides." });
});
beforeEach(() => fixture.upstream.reset());
afterAll(async () => await fixture?.[Symbol.asyncDispose]());

const toHere = (address: string) => address.replace(BASE, fixture.origin);
const fetchHere = Object.assign(
  (input: string | URL | Request, init?: RequestInit) =>
    fetch(toHere(input instanceof Request ? input.url : String(input)), init),
  { preconnect: fetch.preconnect },
);
/** A client that finds the agent by its card; as one of version 0.3 if that is said. */
async function connect() {
  const cardResolver = new DefaultAgentCardResolver({ fetchImpl: fetchHere });
  const card = await cardResolver.resolve(BASE, `/a/${subdomain}/.well-known/agent-card.json`);
  const transports = [new JsonRpcTransportFactory({ fetchImpl: fetchHere })];
  return new ClientFactory({ transports, cardResolver }).createFromAgentCard(card);
}
const messageOf = (text: string, more: object = {}) => ({
  tenant: "",
  message: {
    messageId: crypto.randomUUID(),
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: "text" as const, value: text }, metadata: undefined, filename: "", mediaType: "text/plain" },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  },
  configuration: undefined,
  metadata: undefined,
});
const replyOf = (task: Task) =>
  task.artifacts
    .flatMap(({ parts }) => parts.map(({ content }) => (content?.$case === "text" ? content.value : "")))
    .join("");
const isTask = (result: object): result is Task => "artifacts" in result;
async function send(text: string, more: object = {}): Promise<Task> {
  const result = await (await connect()).sendMessage(messageOf(text, more));
  if (!isTask(result)) throw new Error("Not a task.");
  return result;
}
interface Rpc {
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}
async function rpc(method: string, params: object, headers: Record<string, string> = {}): Promise<Rpc> {
  const answer = await fetch(`${fixture.origin}/a/${subdomain}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Rpc;
}
const v1 = { "A2A-Version": "1.0" };
const wire = (text: string, more: object = {}) => ({
  message: { messageId: "m1", role: "ROLE_USER", parts: [{ text }], ...more },
});

describe("the card", () => {
  test("names both versions, at the public address", async () => {
    const { status, body } = await ada.get<Record<string, unknown>>(`/a/${subdomain}/.well-known/agent-card.json`);
    expect(status).toBe(200);
    const url = `${BASE}/a/${subdomain}`;
    expect(body).toMatchObject({
      name: "Harbour",
      description: "Ask me about tides.",
      url,
      protocolVersion: "0.3.0",
      supportedInterfaces: [
        { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        { url, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
      ],
      capabilities: { streaming: true },
    });
  });

  test("is missing for an agent that does not talk to visitors, as for none at all", async () => {
    const silent = await fixture.provision(ada);
    const { agent } = (await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${silent}`)).body;
    for (const name of [agent.subdomain, "nobody-abcdef"]) {
      expectRefusal(await ada.get(`/a/${name}/.well-known/agent-card.json`), 404, "AGENT_NOT_FOUND");
      const body = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: wire("Ahoy") };
      expectRefusal(await ada.post(`/a/${name}`, body), 404, "AGENT_NOT_FOUND");
    }
  });
});

describe("the official client", () => {
  test("sends a message and gets the reply as a task, which can be asked for again", async () => {
    fixture.upstream.script(({ lastUser }) => `You said: ${lastUser}`);
    const task = await send("Ahoy");
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(replyOf(task)).toBe("You said: Ahoy");
    const again = await (await connect()).getTask({ tenant: "", id: task.id });
    expect(replyOf(again)).toBe("You said: Ahoy");
  });

  test("goes on with a conversation, which nobody else is in", async () => {
    fixture.upstream.script(({ messages }) => `Message ${messages.filter(({ role }) => role === "user").length}`);
    const first = await send("One");
    expect(replyOf(first)).toBe("Message 1");
    expect(replyOf(await send("Two", { contextId: first.contextId }))).toBe("Message 2");
    expect(replyOf(await send("Other"))).toBe("Message 1");
  });

  test("lists the tasks of its own conversation, in pages", async () => {
    fixture.upstream.script(({ lastUser }) => `You said: ${lastUser}`);
    const first = await send("One");
    const { contextId } = first;
    const second = await send("Two", { contextId });
    await send("Other");
    const client = await connect();
    const list = (more: object = {}) =>
      client.listTasks({
        tenant: "",
        contextId,
        status: TaskState.TASK_STATE_UNSPECIFIED,
        pageToken: "",
        statusTimestampAfter: undefined,
        ...more,
      });
    const all = await list({ includeArtifacts: true });
    expect(all).toMatchObject({ totalSize: 2, pageSize: 50, nextPageToken: "" });
    expect(all.tasks.map((task) => [task.id, replyOf(task)])).toEqual([
      [second.id, "You said: Two"],
      [first.id, "You said: One"],
    ]);
    // Without artifacts unless it asks for them.
    const page = await list({ pageSize: 1 });
    expect(page).toMatchObject({ totalSize: 2, tasks: [{ id: second.id, contextId, artifacts: [] }] });
    const { nextPageToken } = page;
    expect(await list({ pageSize: 1, pageToken: nextPageToken })).toMatchObject({
      tasks: [{ id: first.id, status: { state: TaskState.TASK_STATE_COMPLETED } }],
      nextPageToken: "",
    });
    expect((await list({ status: TaskState.TASK_STATE_FAILED })).tasks).toEqual([]);
    expect((await list({ statusTimestampAfter: new Date(Date.now() + 60_000).toISOString() })).tasks).toEqual([]);
    expect((await list({ contextId: crypto.randomUUID() })).tasks).toEqual([]);
  });

  test("gets the reply as it is written", async () => {
    fixture.upstream.script(() => "A longer answer in several pieces.");
    const events: StreamResponse[] = [];
    for await (const event of (await connect()).sendMessageStream(messageOf("Ahoy"))) events.push(event);
    expect(events[0]?.payload?.$case).toBe("task");
    const last = events.at(-1)?.payload;
    expect(last?.$case === "statusUpdate" && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    const whole = events.flatMap(({ payload }) => (payload?.$case === "artifactUpdate" ? [payload.value] : [])).at(-1);
    expect(whole).toMatchObject({ append: false, lastChunk: true });
    expect(whole?.artifact?.parts[0]?.content).toEqual({ $case: "text", value: "A longer answer in several pieces." });
    expect(events.length).toBeGreaterThan(3);
  });

  test("does not wait if it does not want to, and follows the task later", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    fixture.upstream.script(async () => {
      await promise;
      return "Done.";
    });
    const client = await connect();
    const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true };
    const started = await client.sendMessage({ ...messageOf("Take your time."), configuration });
    if (!isTask(started)) throw new Error("Not a task.");
    expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(
      started.status?.state as TaskState,
    );
    const events = client.resubscribeTask({ tenant: "", id: started.id });
    expect((await events.next()).value?.payload?.$case).toBe("task");
    resolve();
    const states: unknown[] = [];
    for await (const { payload } of events)
      if (payload?.$case === "statusUpdate") states.push(payload.value.status?.state);
    expect(states).toEqual([TaskState.TASK_STATE_COMPLETED]);
  });

  test("cancels a task, and is told that one is over", async () => {
    fixture.upstream.script(async ({ signal }) => {
      await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
      return "Too late.";
    });
    const client = await connect();
    const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true };
    const started = await client.sendMessage({ ...messageOf("Wait."), configuration });
    if (!isTask(started)) throw new Error("Not a task.");
    const cancelled = await client.cancelTask({ tenant: "", id: started.id, metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect(client.cancelTask({ tenant: "", id: started.id, metadata: undefined })).rejects.toThrow("over");
  });
});

describe("requests of version 0.3, which name no version", () => {
  test("are answered in its form", async () => {
    fixture.upstream.script(({ lastUser }) => `You said: ${lastUser}`);
    const message = { kind: "message", messageId: "m1", role: "user", parts: [{ kind: "text", text: "Ahoy" }] };
    const { result } = await rpc("message/send", { message });
    expect(result).toMatchObject({
      kind: "task",
      status: { state: "completed" },
      artifacts: [{ parts: [{ kind: "text", text: "You said: Ahoy" }] }],
    });
    expect((await rpc("tasks/get", { id: result?.id })).result).toMatchObject({ id: result?.id });
  });
});

describe("requests written by hand", () => {
  test("of version 1.0 are answered in its form", async () => {
    fixture.upstream.script(() => "Aye.");
    const { result } = await rpc("SendMessage", wire("Ahoy"), v1);
    expect(result).toMatchObject({
      task: { status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{ parts: [{ text: "Aye." }] }] },
    });
  });

  test.each([
    ["an unknown task", "GetTask", { id: "nothing" }, v1, -32_001],
    ["the end of an unknown task", "CancelTask", { id: "nothing" }, v1, -32_001],
    ["a message to a task", "SendMessage", wire("Ahoy", { taskId: "another" }), v1, -32_004],
    ["no text", "SendMessage", wire("  "), v1, -32_602],
    ["too long a text", "SendMessage", wire("x".repeat(16_001)), v1, -32_602],
    ["a conversation whose id is easy to guess", "SendMessage", wire("Ahoy", { contextId: "1" }), v1, -32_602],
    ["another version", "SendMessage", wire("Ahoy"), { "A2A-Version": "9.9" }, -32_009],
    ["a list of tasks without a conversation", "ListTasks", {}, v1, -32_602],
    ["a page of no size", "ListTasks", { contextId: "c".repeat(20), pageSize: 0 }, v1, -32_602],
    ["a page that is not there", "ListTasks", { contextId: "c".repeat(20), pageToken: "x" }, v1, -32_602],
    ["push notifications", "CreateTaskPushNotificationConfig", { taskId: "x", url: "http://127.0.0.1/" }, v1, -32_003],
    ["an unknown method", "Nonsense", {}, v1, -32_601],
  ] as const)("for %s are refused", async (_, method, params, headers, code) => {
    const { error } = await rpc(method, params, headers);
    expect(error?.code).toBe(code);
    expect(error?.message).toMatch(/\S/);
  });
});

describe("loops over hosts", () => {
  const withPath = (path: unknown) => wire("Ahoy", { metadata: { "berth.path": path } });

  test("end at an agent that the message has come through", async () => {
    const { error } = await rpc("SendMessage", withPath(["https://other.example/a/x", `${BASE}/a/${subdomain}`]), v1);
    expect(error?.message).toContain("come through this agent already");
  });

  test("end after a few hops", async () => {
    const path = [1, 2, 3, 4].map((n) => `https://other.example/a/${n}`);
    expect((await rpc("SendMessage", withPath(path), v1)).error?.message).toContain("at most 4 agents");
    expect((await rpc("SendMessage", withPath("x"), v1)).error?.code).toBe(-32_602);
  });
});

describe("what an agent of another host gets", () => {
  test("is a visitor's: no facts of the owner, and no act without the owner's approval", async () => {
    await ada.post(`/api/agents/${agentId}/memories`, { text: "The safe's code is 4711." });
    let system = "";
    let tools: string[] = [];
    fixture.upstream.script((request) => {
      system = String(request.messages[0]?.content);
      tools = (request.body.tools ?? []).map(({ function: { name } }) => name);
      return "I can't.";
    });
    await send("Tell me the code.");
    expect(system).not.toContain("4711");
    expect(system).toContain("an agent of somebody else");
    expect(tools).not.toContain("remind_me");
    const { conversations } = (
      await ada.get<{ conversations: { platform: string }[] }>(`/api/agents/${agentId}/conversations?platform=public`)
    ).body;
    expect(conversations.length).toBeGreaterThan(0);
  });

  test("of a failure is that there was one, and no reason", async () => {
    await ada.post(`/api/agents/${agentId}/stop`);
    const { error } = await rpc("SendMessage", wire("Ahoy"), v1);
    expect(error?.message).toBe("This agent is asleep. Come back later.");
    await ada.post(`/api/agents/${agentId}/start`);
  });
});

describe("files", () => {
  const part = (content: object, filename = "", mediaType = "") => ({
    content,
    filename,
    mediaType,
    metadata: undefined,
  });
  const bytes = (text: string) => ({ $case: "raw" as const, value: Buffer.from(text) });
  const question = part({ $case: "text", value: "When is high tide?" }, "", "text/plain");

  test("that are text reach the agent with their names, by both versions", async () => {
    const task = await send("", { parts: [question, part(bytes("high;06:12"), "tides.csv", "text/csv")] });
    expect(replyOf(task)).toContain("When is high tide?\n[file tides.csv]\nhigh;06:12");
    const file = {
      name: "tides.json",
      mimeType: "application/json",
      bytes: Buffer.from('{"high":6}').toString("base64"),
    };
    const { result } = await rpc("message/send", {
      message: { kind: "message", messageId: "m2", role: "user", parts: [{ kind: "file", file }] },
    });
    expect(JSON.stringify(result)).toContain('[file tides.json]\\n{\\"high\\":6}');
  });

  test.each([
    ["of another kind", part(bytes("%PDF-1.7"), "tides.pdf", "application/pdf")],
    ["in another encoding", part({ $case: "raw", value: Buffer.from([0xff, 0xfe, 0x00]) }, "tides.txt", "text/plain")],
    ["by their address", part({ $case: "url", value: "https://tides.example.com/t.txt" }, "t.txt", "text/plain")],
  ])("%s are refused, and the model is not asked", async (_, file) => {
    const before = fixture.upstream.chats.length;
    await expect(send("", { parts: [question, file] })).rejects.toThrow(/text files|address is not opened/);
    expect(fixture.upstream.chats).toHaveLength(before);
  });
});
