// Tests MCP servers over the whole application, with real servers: tools in turns, approvals, limits, and what is stored.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { type McpTool, startMcpServer } from "../../tests/support/mcp-server.ts";
import { openInteractionFixture } from "../interaction/support.test.ts";
import type { ServerItem } from "./model.ts";
import { type McpFixture, openMcpFixture, toolOf } from "./support.test.ts";

let it: McpFixture;
beforeAll(async () => {
  it = await openMcpFixture();
});
beforeEach(() => it.nextAgent());
afterAll(() => it?.[Symbol.asyncDispose]());

const echo: McpTool = {
  description: "Repeats a text.",
  schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  annotations: { readOnlyHint: true },
  run: ({ text }) => ({ content: [{ type: "text", text: `You said ${String(text)}` }] }),
};

describe("a server of the configuration", () => {
  test("is looked at when it is saved, and its tools are listed with their classes", async () => {
    await using server = startMcpServer({ echo, remove: { annotations: { destructiveHint: true } } });
    await it.configure({ docs: { url: server.url } });
    const found = await it.looked("docs");
    expect(found).toMatchObject({ state: "connected", lastError: null, authorizeUrl: null, signedIn: false });
    expect(found.tools).toEqual([
      {
        ...{ name: "echo", toolName: "docs__echo", description: "Repeats a text.", class: "outside" },
        ...{ readOnly: true, destructive: false, changed: false, offered: true, reason: null },
      },
      expect.objectContaining({ name: "remove", class: "outside", destructive: true }),
    ]);
  });

  test("that lacks a tool which the configuration names is told of in the agent's log, with those that it has", async () => {
    await using server = startMcpServer({ echo });
    await it.configure({ docs: { url: server.url, tools: ["ecko", "echo"], reads: ["ecko"] } });
    await it.looked("docs");
    expect((await it.logLines()).filter((line) => line.includes("no tool"))).toEqual([
      'The MCP server docs has no tool "ecko", which the configuration names. It has: echo.',
    ]);
  });

  test("has its tools called in turns, from the stored list, also while it is gone", async () => {
    const server = startMcpServer({ echo });
    await it.configure({ docs: { url: server.url, reads: ["echo"] } });
    expect(toolOf(await it.looked("docs"), "echo").class).toBe("read");
    it.callOnce("docs__echo", { text: "ahoy" });
    expect(await it.say("Call it.")).toContain('<untrusted source="docs__echo">\nYou said ahoy\n</untrusted>');
    expect(server.calls).toEqual([{ name: "echo", input: { text: "ahoy" } }]);

    await server.stop();
    expect(await it.say("Call it.")).toContain("The MCP server docs can't be reached right now.");
    // The second attempt fails at once, without a connection.
    expect(await it.say("Call it.")).toContain("The MCP server docs does not work. It is tried again in");
    expect(it.offered()).toContain("docs__echo");
    expect(await it.looked("docs")).toMatchObject({ state: "failed", lastError: "The address can't be reached." });
  });

  test("asks for approval of every call but those of which the owner says that they read", async () => {
    await using server = startMcpServer({ echo });
    await it.configure({ docs: { url: server.url } });
    await it.looked("docs");
    it.callOnce("docs__echo", { text: "ahoy" });
    expect(await it.say("Call it.")).toContain("May I do this?");
    expect(server.calls).toEqual([]);
    const { approvals } = (
      await it.ada.get<{ approvals: Record<string, unknown>[] }>(`/api/agents/${it.agentId}/approvals`)
    ).body;
    expect(approvals).toEqual([
      expect.objectContaining({
        ...{ tool: "docs__echo", class: "outside", status: "pending" },
        summary: 'Use echo of the MCP server docs with {"text":"ahoy"}',
      }),
    ]);
  });
});

describe("results of tools", () => {
  const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

  test("reach a model with their pictures if it takes some, else with a note", async () => {
    const picture: McpTool = { run: () => ({ content: [{ type: "image", mimeType: "image/png", data: PNG }] }) };
    await using server = startMcpServer({ picture });
    await it.configure({ cam: { url: server.url, reads: ["picture"] } });
    await it.looked("cam");
    it.callOnce("cam__picture");
    await it.say("Take one.");
    const last = it.upstream.chats.at(-1)?.body.messages.at(-1);
    const note = "[A file of cam__picture, which you can't see.]";
    expect(JSON.stringify(last)).toContain(note);

    const sighted = await openInteractionFixture({ OUTBOUND_ALLOW: "127.0.0.1/32", MODEL_A: "provider_5:gpt-4o" });
    try {
      const bob = await sighted.member();
      const id = await sighted.provision(bob, { mcpServers: { cam: { url: server.url, reads: ["picture"] } } });
      await eventually(async () => {
        const { servers } = (await bob.get<{ servers: ServerItem[] }>(`/api/agents/${id}/mcp`)).body;
        return servers[0]?.state === "connected";
      });
      sighted.upstream.script(({ toolResults }) =>
        toolResults.length > 0 ? "Seen." : { toolCalls: [{ name: "cam__picture", arguments: {} }] },
      );
      await bob.post("/api/chat", { agentId: id, message: "Take one." });
      const shown = JSON.stringify(sighted.upstream.chats.at(-1)?.body.messages.at(-1));
      expect(shown).toContain(PNG);
      expect(shown).not.toContain(note);
    } finally {
      await sighted[Symbol.asyncDispose]();
    }
  });

  test("that are failures are told as such, marked as words from outside", async () => {
    const failing: McpTool = {
      run: () => ({ isError: true, content: [{ type: "text", text: "Obey: no such file" }] }),
    };
    await using server = startMcpServer({ failing });
    await it.configure({ docs: { url: server.url, reads: ["failing"] } });
    await it.looked("docs");
    it.callOnce("docs__failing");
    expect(await it.say("Call it.")).toMatch(
      /error.*<untrusted source=.*docs failing.*>.*Obey: no such file.*<\/untrusted>/,
    );
    expect(await it.looked("docs")).toMatchObject({ state: "connected" });
  });

  test("are cut, and one that is larger than any should be is not read, while the server goes on", async () => {
    const long: McpTool = { run: () => ({ content: [{ type: "text", text: "x".repeat(300_000) }] }) };
    const huge: McpTool = { run: () => ({ content: [{ type: "text", text: "x".repeat(5_000_000) }] }) };
    await using server = startMcpServer({ long, huge });
    await it.configure({ docs: { url: server.url, reads: ["long", "huge"] } });
    await it.looked("docs");
    it.callOnce("docs__long");
    expect(await it.say("Call it.")).toContain("[Cut: the first 16000 of 200000 characters.]");
    it.callOnce("docs__huge");
    expect(await it.say("Call it.")).toContain(
      "its answer is larger than 4 MB, so it was not read. Ask for less of it.",
    );
    expect(await it.looked("docs")).toMatchObject({ state: "connected", lastError: null });
    it.callOnce("docs__long");
    expect(await it.say("Call it.")).toContain("[Cut: the first 16000 of 200000 characters.]");
  });
});

test("resources and prompts are listed and read by two tools", async () => {
  await using server = startMcpServer(
    {},
    { resources: { "note://1": "The first note." }, prompts: { greet: "Greet the person." } },
  );
  await it.configure({ notes: { url: server.url } });
  const { tools } = await it.looked("notes");
  expect(tools.map(({ toolName, class: kind }) => [toolName, kind])).toEqual([
    ["notes__read_resource", "read"],
    ["notes__get_prompt", "read"],
  ]);
  for (const [tool, input, expected] of [
    ["read_resource", {}, "note://1"],
    ["read_resource", { uri: "note://1" }, "[note://1]\nThe first note."],
    ["get_prompt", {}, "greet"],
    ["get_prompt", { name: "greet" }, "Greet the person."],
  ] as const) {
    it.callOnce(`notes__${tool}`, input);
    expect(await it.say("Read.")).toContain(expected);
  }
});

test("tools are offered in the owner's conversations alone, unless the configuration says otherwise", async () => {
  await using server = startMcpServer({ echo });
  await it.configure({ own: { url: server.url }, shared: { url: server.url, access: "everyone" } });
  await it.looked("shared");
  const names = async (byOwner: boolean) =>
    (await it.app.skills.toolsFor(it.agentId, byOwner))
      .map(({ name }) => name)
      .filter((name) => name.endsWith("__echo"));
  expect(await names(true)).toEqual(["own__echo", "shared__echo"]);
  expect(await names(false)).toEqual(["shared__echo"]);
});

test("approvals name all tools of a server, and one of them more narrowly", async () => {
  await using server = startMcpServer({ echo, other: {} });
  const servers = { docs: { url: server.url, reads: ["echo", "other"] } };
  await it.configure(servers, { approvals: { "docs:*": "deny", docs__echo: "allow", "doc:*": "ask" } });
  it.callOnce("docs__other");
  expect(await it.say("Call it.")).toContain("The owner of this agent has forbidden docs__other.");
  it.callOnce("docs__echo", { text: "ahoy" });
  expect(await it.say("Call it.")).toContain("You said ahoy");
  const { body } = await it.putConfig(servers, { approvals: { "docs:*": "deny", "doc:*": "ask" } });
  expect(body.warnings).toEqual([
    { path: "approvals.doc:*", message: "This agent has no such tool, or class of tools. Did you mean docs:*?" },
  ]);
});

test("a server that is started anew, and has forgotten its sessions, is connected again", async () => {
  const sessions = { next: 1, open: new Set<string>() };
  const answer = (id: unknown, result: object, headers = {}) =>
    Response.json({ jsonrpc: "2.0", id, result }, { headers });
  // A server of the revision 2025-06-18, which has sessions.
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method } = (await request.json()) as { id?: number; method: string };
      if (method === "initialize") {
        const session = `s${sessions.next++}`;
        sessions.open.add(session);
        const serverInfo = { name: "old", version: "1" };
        const initialized = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
        return answer(id, initialized, { "mcp-session-id": session });
      }
      if (!sessions.open.has(request.headers.get("mcp-session-id") ?? "")) return new Response("gone", { status: 404 });
      if (method === "tools/list") return answer(id, { tools: [{ name: "ask", inputSchema: { type: "object" } }] });
      if (method === "tools/call") return answer(id, { content: [{ type: "text", text: `by ${sessions.next}` }] });
      return new Response(null, { status: 202 });
    },
  });
  await it.configure({ old: { url: server.url.href, reads: ["ask"] } });
  it.callOnce("old__ask");
  const first = await it.say("Ask.");
  sessions.open.clear();
  expect(await it.say("Ask.")).not.toBe(first);
  expect((await it.looked("old")).state).toBe("connected");
});

describe("credentials in headers", () => {
  test("are sent to the server alone, counted at once when they change, and never shown", async () => {
    await using server = startMcpServer({ echo });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: The configuration names credentials like this.
    const headers = { Authorization: "Bearer ${credential:DOCS_KEY}" };
    await it.configure({ docs: { url: server.url, headers } });
    expect(await it.looked("docs")).toMatchObject({
      state: "failed",
      lastError: "A header names the credential DOCS_KEY, which is not set.",
    });
    expect(server.requests).toEqual([]);

    const set = (value: string) =>
      it.ada.post("/api/agent", { action: "set-credential", agentId: it.agentId, key: "DOCS_KEY", value });
    expect((await set("canary-one")).status).toBe(200);
    const tested = await it.ada.post<ServerItem>(`${it.path()}/docs/test`);
    expect(tested).toMatchObject({ status: 200, body: { state: "connected" } });
    await set("canary-two");
    await it.ada.post(`${it.path()}/docs/test`);
    const sent = server.requests.map((sent) => sent.get("authorization"));
    expect([sent[0], sent.at(-1)]).toEqual(["Bearer canary-one", "Bearer canary-two"]);

    server.trouble = (request) => new Response(`Bad key: ${request.headers.get("authorization")}`, { status: 400 });
    expect(await it.ada.post(`${it.path()}/docs/test`)).toMatchObject({
      status: 502,
      body: { code: "MCP_UNREACHABLE" },
    });
    const everything = JSON.stringify([await it.list(), await it.rows("SELECT * FROM mcp_servers")]);
    expect(everything).toContain("[redacted]");
    expect(everything).not.toContain("canary");
  });

  test("can't be keys of providers or tokens of bots", async () => {
    await using server = startMcpServer({ echo });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: As above.
    await it.configure({ docs: { url: server.url, headers: { "x-key": "${credential:provider_5}" } } });
    await it.ada.post("/api/agent", {
      action: "set-credential",
      agentId: it.agentId,
      key: "provider_5",
      value: "sk-canary",
    });
    expect((await it.looked("docs")).lastError).toContain("Only names in capitals");
    expect(server.requests).toEqual([]);
  });
});

describe("a sign-in", () => {
  /** Follows the person's browser: to the authorization server, and back with the session. */
  async function signIn(
    authorizeUrl: string | null,
    client: McpFixture["ada"],
  ): Promise<{ status: number; location: string }> {
    const back = (await fetch(authorizeUrl ?? "", { redirect: "manual" })).headers.get("location") ?? "";
    expect(back).toStartWith("https://berth.example/api/mcp/callback?");
    const returned = await fetch(back.replace("https://berth.example", it.origin), {
      redirect: "manual",
      headers: { cookie: client.cookie },
    });
    return { status: returned.status, location: returned.headers.get("location") ?? "" };
  }

  test("registers the service, opens the server to the agent, survives expiry, and is forgotten", async () => {
    await using server = startMcpServer({ echo }, { oauth: true });
    await it.configure({ mail: { url: server.url, reads: ["echo"] } });
    const before = await it.looked("mail");
    expect(before).toMatchObject({ state: "unauthorized", tools: [], signedIn: false });
    expect(server.authorization?.registrations).toEqual([
      expect.objectContaining({ client_name: "Berth", redirect_uris: ["https://berth.example/api/mcp/callback"] }),
    ]);
    expect(await signIn(before.authorizeUrl, it.ada)).toEqual({
      status: 302,
      location: `/agents/${it.agentId}/skills?signed-in=mail`,
    });
    expect(await it.looked("mail")).toMatchObject({ state: "connected", signedIn: true, authorizeUrl: null });

    it.callOnce("mail__echo", { text: "ahoy" });
    expect(await it.say("Call it.")).toContain("You said ahoy");
    server.authorization?.expire();
    expect(await it.say("Call it.")).toContain("You said ahoy");
    expect(server.authorization?.refreshes).toBe(1);
    const stored = JSON.stringify(await it.rows("SELECT * FROM mcp_sign_ins"));
    expect(stored).toContain("v1.");
    expect(stored).not.toMatch(/"(?:at|rt)-|code_challenge/);

    expect((await it.ada.delete(`${it.path()}/mail/sign-in`)).status).toBe(200);
    expect(await it.looked("mail")).toMatchObject({ state: "unauthorized", signedIn: false });
    expect(await it.say("Call it.")).toContain("has to sign in to the MCP server mail first");
  });

  test("is refused to another account, with a foreign state, and a second time", async () => {
    await using server = startMcpServer({ echo }, { oauth: true });
    await it.configure({ mail: { url: server.url } });
    const { authorizeUrl } = await it.looked("mail");
    const nobody = await signIn(authorizeUrl, Object.assign({}, it.ada, { cookie: "" }));
    expect(nobody.location).toStartWith("/login?next=%2Fapi%2Fmcp%2Fcallback%3F");
    const bob = await it.member();
    expect(await signIn(authorizeUrl, bob)).toMatchObject({ status: 404 });
    const forged = new URL(authorizeUrl ?? "");
    forged.searchParams.set("state", "forged");
    expect(await signIn(forged.href, it.ada)).toMatchObject({ status: 404 });
    expect((await it.looked("mail")).state).toBe("unauthorized");

    expect((await signIn(authorizeUrl, it.ada)).location).toEndWith("?signed-in=mail");
    expect(await signIn(authorizeUrl, it.ada)).toMatchObject({ status: 404 });
  });

  test("is asked for again when a server wants more rights, with those that were granted before", async () => {
    await using server = startMcpServer({ echo }, { oauth: true });
    const { authorization } = server;
    if (!authorization) throw new Error("The server wants no sign-in.");
    const { authorizeUrl } = await it.configure({ mail: { url: server.url, reads: ["echo"] } });
    await signIn(authorizeUrl, it.ada);
    authorization.neededScope = "send";
    it.callOnce("mail__echo", { text: "ahoy" });
    expect(await it.say("Call it.")).toContain("has to sign in to the MCP server mail first");
    const asked = await it.looked("mail");
    expect(asked).toMatchObject({
      state: "unauthorized",
      lastError: "It wants more rights for this. Sign in once more.",
    });
    expect(new URL(asked.authorizeUrl ?? "").searchParams.get("scope")).toBe("basic send");
    expect((await signIn(asked.authorizeUrl, it.ada)).location).toEndWith("?signed-in=mail");
    expect(await it.say("Call it.")).toContain("You said ahoy");
  });

  test("is not used for the same name at another address", async () => {
    await using server = startMcpServer({ echo }, { oauth: true });
    await using thief = startMcpServer({ echo });
    await it.configure({ mail: { url: server.url } });
    await signIn((await it.looked("mail")).authorizeUrl, it.ada);
    await eventually(async () => (await it.looked("mail")).signedIn);
    await it.configure({ mail: { url: thief.url } });
    expect(await it.looked("mail")).toMatchObject({ state: "connected", signedIn: false });
    expect(thief.requests.map((sent) => sent.get("authorization"))).not.toContainEqual(expect.anything());
  });
});
