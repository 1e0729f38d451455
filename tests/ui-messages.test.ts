// The AI SDK's own clients, `Chat` and `useChat`, talk to an agent of the binary: text, tools, files, approvals, a cut and its resume, stop.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  type AbstractChat,
  type ChatInit,
  type DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "ai";
import { testedBlocks } from "../site/tested-blocks.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { changed, withProgram } from "./support/program.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

type ReactChat = AbstractChat<UIMessage>;
type Options = ChatInit<UIMessage> & { resume?: boolean };
interface Rendered {
  current(): Pick<ReactChat, "messages" | "status" | "error" | "sendMessage">;
  shown(): string;
  unmount(): Promise<void>;
}
type Transport = new (
  options: ConstructorParameters<typeof DefaultChatTransport>[0],
) => DefaultChatTransport<UIMessage>;
const { SDKS, renderHook, renderUseChat } = (await import(join(import.meta.dir, "support/react-chat.mjs"))) as {
  SDKS: Record<6 | 7, { Chat: new (options: Options) => ReactChat; Transport: Transport }>;
  renderHook(useHook: () => Pick<ReactChat, "status">): Promise<Rendered>;
  renderUseChat(options: Options): Promise<Rendered>;
};

let upstream: Upstream;
let berth: Berth;
let ada: Client;
let agentId: string;
beforeAll(async () => {
  upstream = await startUpstream();
  berth = await startBerth({
    env: { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" },
  });
  ada = await member(berth, "enterprise");
});
beforeEach(async () => {
  upstream.reset();
  ({ id: agentId } = await provision(ada, "Harbour", { approvals: { remind_me: "ask" } }));
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});

const path = (rest = "") => `/api/agents/${agentId}/chat${rest}`;

/** As a page with Ada's session; `wire` may look at requests and their answers. */
const transport = (wire: typeof fetch = fetch, version: 6 | 7 = 7) =>
  new SDKS[version].Transport({
    api: `${berth.web}${path()}`,
    headers: { cookie: ada.cookie, origin: berth.web },
    fetch: wire,
  });

interface Page {
  id?: string;
  messages?: UIMessage[];
  wire?: typeof fetch;
  /** Of the AI SDK. */
  version?: 6 | 7;
  transport?: DefaultChatTransport<UIMessage>;
}
function openChat({ wire, version = 7, ...options }: Page = {}) {
  const errors: Error[] = [];
  const chat = new SDKS[version].Chat({
    transport: transport(wire, version),
    ...options,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onError: (error) => void errors.push(error),
  });
  return { chat, errors };
}

/** What a page loads before it shows a chat. */
const historyOf = async (chatId: string) =>
  (await ada.get<{ messages: UIMessage[] }>(path(`/${encodeURIComponent(chatId)}`))).body.messages;

const textOf = (message: UIMessage | undefined) =>
  (message?.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("|");
const partsOf = (message: UIMessage | undefined) => (message?.parts ?? []).filter(({ type }) => type !== "step-start");

describe("a chat", () => {
  test("is answered with a stream, and remembers though only the last message counts", async () => {
    const { chat, errors } = openChat();
    await chat.sendMessage({ text: "Ahoy" });
    expect(errors).toEqual([]);
    expect(chat.status).toBe("ready");
    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(textOf(chat.lastMessage)).toBe("echo: Ahoy");
    await chat.sendMessage({ text: "And again" });
    expect(textOf(chat.lastMessage)).toBe("echo: And again");
    // The agent's own memory, and each message once.
    const said = upstream.chats.at(-1)?.messages.map(({ content }) => JSON.stringify(content)) ?? [];
    expect(said.filter((text) => text.includes("Ahoy") && !text.includes("echo"))).toHaveLength(1);
    expect(said.filter((text) => text.includes("echo: Ahoy"))).toHaveLength(1);
  });

  test("shows the calls of tools with input and result, each answer as a step of its own", async () => {
    upstream.script(({ toolResults }) =>
      toolResults.length > 0
        ? "It is late."
        : { text: "Let me look.", toolCalls: [{ id: "c1", name: "clock", arguments: {} }] },
    );
    const { chat, errors } = openChat();
    await chat.sendMessage({ text: "What time is it?" });
    expect(errors).toEqual([]);
    expect(chat.lastMessage?.parts).toMatchObject([
      { type: "step-start" },
      { type: "text", text: "Let me look.", state: "done" },
      {
        type: "dynamic-tool",
        toolName: "clock",
        toolCallId: expect.stringMatching(/\.0$/),
        input: {},
        state: "output-available",
      },
      { type: "step-start" },
      { type: "text", text: "It is late.", state: "done" },
    ]);
  });

  test("its messages can be loaded again, under the same ids", async () => {
    const { chat } = openChat({ id: "loaded again" });
    await chat.sendMessage({ text: "Ahoy" });
    const { status, body } = await ada.get<{ messages: UIMessage[] }>(path("/loaded%20again"));
    expect(status).toBe(200);
    expect(body.messages.map(textOf)).toEqual(["Ahoy", "echo: Ahoy"]);
    expect(body.messages.at(-1)?.id).toBe(chat.lastMessage?.id ?? "");
  });

  test("looks the same loaded again: calls have their ids, their results are values, and each answer is a step", async () => {
    upstream.script(({ toolResults }) => {
      const call = (id: string, fact: string) => ({ id, name: "remember", arguments: { fact } });
      if (toolResults.length === 0) return { text: "One.", toolCalls: [call("a", "Deep."), call("b", "Cold.")] };
      return toolResults.length === 2 ? { text: "Two.", toolCalls: [call("a", "Wet.")] } : "Noted.";
    });
    for (const version of [6, 7] as const) {
      const { chat, errors } = openChat({ id: `shape ${version}`, version });
      await chat.sendMessage({ text: "Remember" });
      expect(errors).toEqual([]);
      const [, stored] = await historyOf(`shape ${version}`);
      expect(partsOf(stored).filter(({ type }) => type === "dynamic-tool")).toHaveLength(3);
      const plain = ({ parts }: UIMessage) =>
        parts.map((part) => (part.type === "dynamic-tool" ? { ...part, output: typeof part.output } : part));
      if (!stored || !chat.lastMessage) throw new Error("There is no answer.");
      // The versions differ in fields that are undefined.
      expect(JSON.parse(JSON.stringify(plain(stored)))).toEqual(JSON.parse(JSON.stringify(plain(chat.lastMessage))));
      expect(stored.parts).toEqual(JSON.parse(JSON.stringify(chat.lastMessage.parts)));
    }
  });

  test("takes files, and refuses addresses of others", async () => {
    const { chat, errors } = openChat();
    const file = {
      type: "file" as const,
      mediaType: "text/plain",
      filename: "note.txt",
      url: "data:text/plain;base64,QmVydGggNw==",
    };
    await chat.sendMessage({ text: "Read it", files: [file] });
    expect(errors).toEqual([]);
    expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("Berth 7");
    await chat.sendMessage({ text: "Read it", files: [{ ...file, url: `${berth.web}/healthz` }] });
    expect(errors.at(-1)?.message).toContain("data: address");
    expect(chat.status).toBe("error");
  });

  test("a message that comes twice is answered once; regenerate asks anew", async () => {
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Once" }] };
    const body = { id: "twice", messages: [message], trigger: "submit-message" };
    const answers = await Promise.all([ada.post(path(), body), ada.post(path(), body)]);
    for (const { text } of answers) expect(text).toContain('"delta":" Once"');
    expect(upstream.chats).toHaveLength(1);
    const again = await ada.post(path(), { ...body, trigger: "regenerate-message", messageId: "a1" });
    expect(again.text).toContain('"type":"finish","finishReason":"stop"');
    expect(upstream.chats).toHaveLength(2);
  });

  test("an answer that was made anew is in the place of the first one when the page is loaded again", async () => {
    let n = 0;
    upstream.script(() => `Answer ${++n}.`);
    const { chat } = openChat({ id: "anew" });
    const shown = () => chat.messages.map(textOf);
    await chat.sendMessage({ text: "Ahoy" });
    await chat.regenerate();
    const stored = async () => (await historyOf("anew")).map(textOf);
    expect(await stored()).toEqual(["Ahoy", "Answer 2."]);
    await chat.sendMessage({ text: "Ahoy" });
    expect(await stored()).toEqual(["Ahoy", "Answer 2.", "Ahoy", "Answer 3."]);
    await chat.sendMessage({ text: "More" });
    await chat.regenerate();
    expect(await stored()).toEqual(["Ahoy", "Answer 2.", "Ahoy", "Answer 3.", "More", "Answer 5."]);
    expect(shown()).toEqual(await stored());
    // Asked from a page that was loaded again, too, and about an earlier answer.
    const again = openChat({ id: "anew", messages: await historyOf("anew") }).chat;
    await again.regenerate({ messageId: again.messages[3]?.id ?? "" });
    expect(again.messages.map(textOf)).toEqual(["Ahoy", "Answer 2.", "Ahoy", "Answer 6."]);
    expect(await stored()).toEqual(["Ahoy", "Answer 2.", "Ahoy", "Answer 6."]);
  });

  test("errors come as the chat's error, and as JSON before the stream", async () => {
    upstream.script({ status: 400, message: "no" });
    const { chat, errors } = openChat();
    await chat.sendMessage({ text: "Ahoy" });
    expect(chat.status).toBe("error");
    expect(errors).toHaveLength(1);
    expectRefusal(await ada.post(path(), { messages: [] }), 400, "INVALID_INPUT");
    expectRefusal(await ada.post(path(), { id: "x", messages: [{ role: "system", parts: [] }] }), 400, "INVALID_INPUT");
    expectRefusal(await (await member(berth)).post(path(), { messages: [] }), 404, "AGENT_NOT_FOUND");
    expectRefusal(await ada.get(path("/sess_0123456789abcdef/stream")), 404, "CONVERSATION_NOT_FOUND");
  });
});

describe("a stream that broke off", () => {
  /** Cuts the first answer after some bytes, as a network does. */
  function cuttingFetch(after: RegExp): typeof fetch {
    let isCut = false;
    const cut = async (input: string | URL | Request, init?: RequestInit) => {
      const abort = new AbortController();
      const response = await fetch(input, { ...init, ...(!isCut && { signal: abort.signal }) });
      if (isCut) return response;
      isCut = true;
      const reader = response.body?.getReader();
      let text = "";
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
          text += new TextDecoder().decode(value);
          if (value) controller.enqueue(value);
          if (done || after.test(text)) {
            abort.abort();
            controller.error(new TypeError("network error"));
          }
        },
      });
      return new Response(body, { headers: response.headers });
    };
    return Object.assign(cut, { preconnect: fetch.preconnect });
  }

  test("is resumed by the id of its chat while the turn goes on, with everything once", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    upstream.script(async ({ toolResults }) => {
      if (toolResults.length === 0) {
        return { text: "Let me look.", toolCalls: [{ id: "c1", name: "clock", arguments: {} }] };
      }
      await gate;
      return { pieces: ["It is ", "late."] };
    });
    const { chat, errors } = openChat({ wire: cuttingFetch(/tool-output-available/) });
    await chat.sendMessage({ text: "What time is it?" });
    expect(errors.map(({ message }) => message)).toEqual(["network error"]);
    const { id } = chat.lastMessage ?? {};
    open();
    await chat.resumeStream();
    expect(chat.status).toBe("ready");
    expect(chat.messages).toHaveLength(2);
    expect(chat.lastMessage?.id).toBe(id ?? "");
    expect(partsOf(chat.lastMessage)).toMatchObject([
      { type: "text", text: "Let me look." },
      { type: "dynamic-tool", state: "output-available" },
      { type: "text", text: "It is late." },
    ]);
    expect(upstream.chats).toHaveLength(2);
  });

  test("after a kill of the service the turn is answered, and the chat resumed", async () => {
    upstream.script(() => ({ pieces: ["Half ", "of it"], hangAfter: 3 }));
    const { chat, errors } = openChat({ id: "killed" });
    const sent = chat.sendMessage({ text: "Are you there?" });
    await eventually(() => textOf(chat.lastMessage).includes("of it"));
    await berth.kill();
    await sent;
    expect(errors).toHaveLength(1);
    upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
    await berth.restart({ keepPorts: true });
    await chat.resumeStream();
    expect(chat.messages).toHaveLength(2);
    expect(textOf(chat.lastMessage)).toBe("echo: Are you there?");
  });

  test("is resumed after the end of its turn, until a page has loaded the messages of the chat", async () => {
    upstream.script({ pieces: ["Half ", "of it"] });
    const cut = openChat({ id: "cut", wire: cuttingFetch(/text-delta/) });
    await cut.chat.sendMessage({ text: "Are you there?" });
    expect(cut.errors).toHaveLength(1);
    const turn = `/api/agents/${agentId}/turns/${cut.chat.lastMessage?.id}`;
    await eventually(async () => (await ada.get<{ turn: { status: string } }>(turn)).body.turn.status === "done");
    await cut.chat.resumeStream();
    expect(cut.chat.messages.map(textOf)).toEqual(["Are you there?", "Half of it"]);
    await openChat({ id: "whole" }).chat.sendMessage({ text: "Ahoy" });
    upstream.script({ status: 400, message: "no" });
    await openChat({ id: "failed" }).chat.sendMessage({ text: "Ahoy" });
    for (const id of ["cut", "whole", "failed"]) {
      const page = openChat({ id, messages: await historyOf(id) });
      await page.chat.resumeStream();
      expect((await ada.get(path(`/${id}/stream`))).status).toBe(204);
      expect([page.chat.status, page.errors]).toEqual(["ready", []]);
    }
  });

  test("there is nothing to resume in a chat without messages", async () => {
    const { chat, errors } = openChat({ id: "empty" });
    await chat.resumeStream();
    expect([chat.status, errors.length]).toEqual(["ready", 0]);
    expect((await ada.get(path("/empty/stream"))).status).toBe(204);
  });
});

describe.each([6, 7] as const)("with version %p of the AI SDK", (version) => {
  test("stop() leaves the stream, and the chat's stop ends the turn; loaded again, the chat has no error", async () => {
    const id = `long ${version}`;
    upstream.script({ pieces: ["One ", "two"], hangAfter: 3 });
    const { chat } = openChat({ id, version });
    const sent = chat.sendMessage({ text: "Count" });
    await eventually(() => textOf(chat.lastMessage).includes("two"));
    await chat.stop();
    await sent;
    expect(chat.status).toBe("ready");
    expect(upstream.open).toBe(1);
    const stop = path(`/${encodeURIComponent(id)}/stop`);
    const { body } = await ada.post<{ turnId: string }>(stop);
    expect<object>(body).toEqual({ success: true, turnId: chat.lastMessage?.id ?? "" });
    await eventually(() => upstream.open === 0);
    await eventually(async () => (await ada.post<{ turnId: null }>(stop)).body.turnId === null);
    await chat.resumeStream();
    expect(chat.messages).toHaveLength(2);
    const again = openChat({ id, version, messages: await historyOf(id) });
    await again.chat.resumeStream();
    expect([again.chat.status, again.errors]).toEqual(["ready", []]);
    expect(again.chat.messages.map(textOf)).toEqual(["Count", "One two"]);
  });

  test("a turn that is stopped elsewhere is no error of a page that reads it", async () => {
    upstream.script({ pieces: ["One ", "two"], hangAfter: 3 });
    const { chat, errors } = openChat({ id: `stopped ${version}`, version });
    const sent = chat.sendMessage({ text: "Count" });
    await eventually(() => textOf(chat.lastMessage).includes("two"));
    await ada.post(`/api/agents/${agentId}/turns/${chat.lastMessage?.id}/cancel`);
    await sent;
    expect([chat.status, errors]).toEqual(["ready", []]);
    expect(textOf(chat.lastMessage)).toBe("One two");
  });

  test("a model that breaks off and answers anew is none either", async () => {
    upstream.failNext(1, { text: "Half of", cutAfter: 1 } as never);
    upstream.script("All of it.");
    const { chat, errors } = openChat({ version });
    await chat.sendMessage({ text: "Tell me" });
    expect([chat.status, errors]).toEqual(["ready", []]);
    expect(textOf(chat.lastMessage)).toEndWith("All of it.");
  });
});

describe("a call that waits for approval", () => {
  const remind = () =>
    upstream.script(({ toolResults }) =>
      toolResults.length > 0
        ? `Result: ${toolResults[0]?.content.slice(0, 40)}`
        : {
            text: "I'll do it.",
            toolCalls: [{ id: "c1", name: "remind_me", arguments: { text: "Tea", inMinutes: 5 } }],
          },
    );
  const approvalOf = (message: UIMessage | undefined) =>
    message?.parts.flatMap((part) =>
      part.type === "dynamic-tool" && part.state === "approval-requested" ? [part.approval.id] : [],
    )[0] ?? "";

  test.each([true, false])(
    "is decided in the chat (%p), and the turn goes on in the same message",
    async (approved) => {
      remind();
      const { chat, errors } = openChat();
      await chat.sendMessage({ text: "Remind me" });
      expect(textOf(chat.lastMessage)).toContain("waits for your approval: Set a reminder in 5 minutes: Tea");
      await chat.addToolApprovalResponse({ id: approvalOf(chat.lastMessage), approved });
      await eventually(() => chat.status === "ready" && textOf(chat.lastMessage).includes("Result:"));
      expect(errors).toEqual([]);
      expect(chat.messages).toHaveLength(2);
      const state = approved ? "output-available" : "output-error";
      expect(partsOf(chat.lastMessage)).toMatchObject([
        { type: "text", text: "I'll do it." },
        { type: "dynamic-tool", state },
        { type: "text", text: expect.stringContaining("approval") },
        { type: "text", text: expect.stringMatching(/^Result: /) },
      ]);
    },
  );

  test.each([6, 7] as const)("is there again when the page is loaded again (version %p)", async (version) => {
    remind();
    const id = `waits ${version}`;
    await openChat({ id, version }).chat.sendMessage({ text: "Remind me" });
    const shown = async () => {
      const { chat, errors } = openChat({ id, version, messages: await historyOf(id) });
      await chat.resumeStream();
      return { chat, errors };
    };
    const { chat, errors } = await shown();
    expect(chat.status).toBe("ready");
    expect(partsOf(chat.lastMessage)).toMatchObject([
      { type: "text", text: "I'll do it." },
      { type: "dynamic-tool", toolName: "remind_me", input: { text: "Tea" }, state: "approval-requested" },
      { type: "text", text: expect.stringContaining("waits for your approval") },
    ]);
    await chat.addToolApprovalResponse({ id: approvalOf(chat.lastMessage), approved: true });
    await eventually(() => chat.status === "ready" && textOf(chat.lastMessage).includes("Result:"));
    expect(errors).toEqual([]);
    const states = (message: UIMessage | undefined): string[] | undefined =>
      message?.parts.map((part) => (part.type === "dynamic-tool" ? part.state : part.type));
    const said = ["step-start", "text", "output-available", "step-start", "text"];
    expect(states(chat.lastMessage)?.filter((_, n) => n !== 3)).toEqual(said);
    expect(states((await shown()).chat.lastMessage)).toEqual(said);
  });

  test("needs the scope write of an API key, without which it is shown in words alone", async () => {
    remind();
    const { body } = await ada.post<{ key: string }>("/api/keys", { name: "chat only", scopes: ["chat"] });
    const headers = { authorization: `Bearer ${body.key}` };
    const byKey = new SDKS[7].Transport({ api: `${berth.web}${path()}`, headers });
    const { chat: withoutButton, errors } = openChat({ id: "by key", transport: byKey });
    await withoutButton.sendMessage({ text: "Remind me" });
    expect(errors).toEqual([]);
    expect(approvalOf(withoutButton.lastMessage)).toBe("");
    expect(textOf(withoutButton.lastMessage)).toMatch(/Decide in the console: http\S+\/console\/approvals/);
    const { chat } = openChat({ id: "by session" });
    await chat.sendMessage({ text: "Remind me" });
    const decided = {
      ...chat.lastMessage,
      parts: chat.lastMessage?.parts.map((part) =>
        part.type === "dynamic-tool" && part.state === "approval-requested"
          ? { ...part, state: "approval-responded", approval: { ...part.approval, approved: true } }
          : part,
      ),
    };
    const answer = await fetch(`${berth.web}${path()}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ id: "by session", messages: [decided] }),
    });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: "MISSING_SCOPE" });
  });
});

test("useChat in a React page sends, shows, and resumes when the page is loaded again", async () => {
  upstream.script({ pieces: ["Half ", "of it"], hangAfter: 3 });
  const first = await renderUseChat({ id: "page", transport: transport() });
  await eventually(() => first.current() !== undefined);
  void first.current().sendMessage({ text: "Are you there?" });
  await eventually(() => textOf(first.current().messages.at(-1)).includes("of it"));
  // The page renders the state after the text.
  await eventually(() => first.shown() === "streaming");
  await first.unmount();

  const { body } = await ada.get<{ messages: UIMessage[] }>(path("/page"));
  const page = await renderUseChat({ id: "page", messages: body.messages, transport: transport(), resume: true });
  await eventually(() => textOf(page.current()?.messages[1]) === "Half of it");
  expect(page.current().messages.map(textOf)).toEqual(["Are you there?", "Half of it"]);
  await ada.post(path("/page/stop"));
  await eventually(() => page.current().status === "ready");
  expect(page.current().error).toBeUndefined();
  await page.unmount();
});

describe("the programs of docs/agents-as-models.md", () => {
  const [hook, passing] = testedBlocks(import.meta.path, "docs/agents-as-models.md", 2);
  interface Hook {
    useAgent(agentId: string, chatId: string, messages: UIMessage[]): ReactChat;
    loadChat(agentId: string, chatId: string): Promise<UIMessage[]>;
    errorText(error: Error): string;
  }
  /** A page of Berth's own origin has address and session by itself. */
  const ownPage = (code: string) => {
    const headers = JSON.stringify({ cookie: ada.cookie, origin: berth.web });
    return changed(code, {
      "api: `/api/": `headers: ${headers}, api: \`${berth.web}/api/`,
      "fetch(`/api/": `fetch(\`${berth.web}/api/`,
      "encodeURIComponent(chatId)}`)": `encodeURIComponent(chatId)}\`, { headers: ${headers} })`,
    });
  };

  test(
    "a page loads its chat, talks to the agent, and reads both forms of errors",
    () =>
      withProgram<Hook>(ownPage(hook.code), async ({ useAgent, loadChat, errorText }) => {
        await openChat({ id: "of the page" }).chat.sendMessage({ text: "Before" });
        const messages = await loadChat(agentId, "of the page");
        const page = await renderHook(() => useAgent(agentId, "of the page", messages));
        const isReady = () => eventually(() => ["ready", "error"].includes(page.current()?.status));
        await isReady();
        void page.current().sendMessage({ text: "Ahoy" });
        await eventually(() => textOf(page.current().messages.at(-1)) === "echo: Ahoy");
        expect(page.current().messages.map(textOf)).toEqual(["Before", "echo: Before", "Ahoy", "echo: Ahoy"]);
        await isReady();
        const said = async () => {
          await eventually(() => page.current().error !== undefined);
          return errorText(page.current().error ?? new Error());
        };
        upstream.script({ status: 400, message: "no" });
        await page.current().sendMessage({ text: "Fail" });
        expect(await said()).toContain("model");
        await page.current().sendMessage({ text: " " });
        await eventually(() => page.current().error?.message.startsWith("{") === true);
        expect(await said()).toBe("messages: The last message has neither text nor a file.");
        await page.unmount();
      }),
    20_000,
  );

  test("a server passes requests on with the key, and breaks off with Berth", async () => {
    const { body } = await ada.post<{ key: string }>("/api/keys", { name: "server", scopes: ["chat", "read"] });
    const ownServer = changed(passing.code, {
      '"https://berth.example"': JSON.stringify(berth.web),
      "BERTH_KEY }": `BERTH_KEY = ${JSON.stringify(body.key)} }`,
    });
    await withProgram<{ passOn(request: Request): Promise<Response> }>(ownServer, async ({ passOn }) => {
      await using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: passOn });
      const transport = new SDKS[7].Transport({ api: new URL(path(), server.url).href });
      const { chat, errors } = openChat({ id: "passed on", transport });
      await chat.sendMessage({ text: "Ahoy" });
      expect([errors, textOf(chat.lastMessage)]).toEqual([[], "echo: Ahoy"]);
      const loaded = await fetch(new URL(path("/passed%20on"), server.url));
      expect(await loaded.json()).toMatchObject({ messages: [{}, {}] });
      expect((await fetch(new URL("/api/keys", server.url))).status).toBe(404);
      expect((await fetch(new URL(path("/none/stream"), server.url))).status).toBe(204);
      upstream.script(() => ({ pieces: ["Half ", "of it"], hangAfter: 3 }));
      const sent = chat.sendMessage({ text: "Are you there?" });
      await eventually(() => textOf(chat.lastMessage).includes("of it"));
      await berth.kill();
      await sent;
      expect(chat.status).toBe("error");
      upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}` }));
      await berth.restart({ keepPorts: true });
      await chat.resumeStream();
      expect(textOf(chat.lastMessage)).toBe("echo: Are you there?");
    });
  });
});

test("an origin whose page is refused is named in the log, since the page can't read why", async () => {
  const headers = { origin: "https://shop.example", "access-control-request-method": "POST" };
  expect((await fetch(`${berth.web}${path()}`, { method: "OPTIONS", headers })).status).toBe(403);
  const lines = () => berth.output().stderr.split("\n");
  await eventually(() =>
    lines().some((line) => line.includes("CORS_ORIGINS") && line.includes("https://shop.example")),
  );
});

describe("/api/chat, to which useChat points by default,", () => {
  const sent = (text: string) => ({
    id: "by default",
    messages: [{ id: text, role: "user", parts: [{ type: "text", text }] }],
  });

  test("answers for the newest agent or the named one, and resumes there", async () => {
    const { text, headers } = await ada.post("/api/chat", sent("Ahoy"));
    expect(headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    expect(text).toContain('"delta":" Ahoy"');
    expect(text).toEndWith("data: [DONE]\n\n");
    const again = await ada.get(`/api/chat/by%20default/stream?agentId=${agentId}`);
    expect(again.text).toContain("echo: Ahoy");
    expect((await ada.post("/api/agent", { agentId, action: "chat", ...sent("Again") })).text).toContain('" Again"');
    expectRefusal(await ada.post("/api/chat", { agentId }), 400, "INVALID_INPUT");
  });

  test("speaks the protocol for plain messages, too, when the header asks for it", async () => {
    const headers = { "x-vercel-ai-ui-message-stream": "v1" };
    const { text } = await ada.post("/api/chat", { message: "One", topic: "work", agentId }, { headers });
    expect(text).toContain('"delta":" One"');
    await ada.post("/api/chat", { message: "Two", topic: "work", agentId });
    expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("echo: One");
    const { body } = await ada.post<{ sessionId: string }>("/api/agent", { message: "Three", agentId });
    await ada.post("/api/agent", { message: "Four", agentId }, { headers });
    expect(JSON.stringify(upstream.chats.at(-1)?.messages)).toContain("echo: Three");
    const resumed = await ada.get(`/api/agents/${agentId}/chat/${body.sessionId}/stream`);
    expect(resumed.text).toContain("Four");
  });
});
