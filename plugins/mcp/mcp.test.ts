// Tests MCP servers over the whole application, with real servers: tools in turns, approvals, limits, and what is stored.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { type McpTool, startMcpServer } from "../../tests/support/mcp-server.ts";
import { type InteractionFixture, openInteractionFixture } from "../interaction/support.test.ts";
import type { ServerItem, ToolItem } from "./model.ts";

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
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const path = () => `/api/agents/${agentId}/mcp`;
const configure = async (mcpServers: object, rest: object = {}) => {
  const answer = await ada.put(`/api/agents/${agentId}/config`, { mcpServers, ...rest });
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 });
};
const list = async () => (await ada.get<{ servers: ServerItem[] }>(path())).body.servers;
/** The server, once it was looked at. */
const looked = (name: string) =>
  eventually(async () => (await list()).find((server) => server.name === name && server.state !== "connecting"));
const toolOf = (server: ServerItem, name: string): ToolItem => {
  const found = server.tools.find((tool) => tool.name === name);
  if (!found) throw new Error(`There is no tool ${name}.`);
  return found;
};
/** The names of the tools that the model was offered last. */
const offered = () => fixture.upstream.chats.at(-1)?.body.tools?.map((tool) => tool.function.name) ?? [];
const say = (message: string) => ada.post<{ reply: string }>("/api/chat", { agentId, message });

/** The model calls this tool once, and repeats its result. */
function callOnce(name: string, input: object = {}): void {
  fixture.upstream.script(({ toolResults }) =>
    toolResults.length > 0
      ? `Result: ${toolResults.map(({ content }) => content).join(" ")}`
      : { toolCalls: [{ name, arguments: input }] },
  );
}

const echo: McpTool = {
  description: "Repeats a text.",
  schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  annotations: { readOnlyHint: true },
  run: ({ text }) => ({ content: [{ type: "text", text: `You said ${String(text)}` }] }),
};

describe("a server of the configuration", () => {
  test("is looked at when it is saved, and its tools are listed with their classes", async () => {
    await using server = startMcpServer({ echo, remove: { annotations: { destructiveHint: true } } });
    await configure({ docs: { url: server.url } });
    const found = await looked("docs");
    expect(found).toMatchObject({ state: "connected", lastError: null, authorizeUrl: null, signedIn: false });
    expect(found.tools).toEqual([
      {
        ...{ name: "echo", toolName: "docs__echo", description: "Repeats a text.", class: "outside" },
        ...{ readOnly: true, destructive: false, changed: false, offered: true, reason: null },
      },
      expect.objectContaining({ name: "remove", class: "outside", destructive: true }),
    ]);
  });

  test("has its tools called in turns, from the stored list, also while it is gone", async () => {
    const server = startMcpServer({ echo });
    await configure({ docs: { url: server.url, reads: ["echo"] } });
    expect(toolOf(await looked("docs"), "echo").class).toBe("read");
    callOnce("docs__echo", { text: "ahoy" });
    const { body } = await say("Call it.");
    expect(body.reply).toContain('<untrusted source="docs__echo">\nYou said ahoy\n</untrusted>');
    expect(server.calls).toEqual([{ name: "echo", input: { text: "ahoy" } }]);

    await server.stop();
    const refused = await say("Call it.");
    expect(refused.body.reply).toContain("The MCP server docs can't be reached right now.");
    // The second attempt fails at once, without a connection.
    expect((await say("Call it.")).body.reply).toContain("The MCP server docs does not work. It is tried again in");
    expect(offered()).toContain("docs__echo");
    expect(await looked("docs")).toMatchObject({ state: "failed", lastError: "The address can't be reached." });
  });

  test("asks for approval of every call but those of which the owner says that they read", async () => {
    await using server = startMcpServer({ echo });
    await configure({ docs: { url: server.url } });
    await looked("docs");
    callOnce("docs__echo", { text: "ahoy" });
    expect((await say("Call it.")).body.reply).toContain("was not run");
    expect(server.calls).toEqual([]);
    const { approvals } = (await ada.get<{ approvals: Record<string, unknown>[] }>(`/api/agents/${agentId}/approvals`)).body;
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
    await configure({ cam: { url: server.url, reads: ["picture"] } });
    await looked("cam");
    callOnce("cam__picture");
    await say("Take one.");
    const last = fixture.upstream.chats.at(-1)?.body.messages.at(-1);
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
    const failing: McpTool = { run: () => ({ isError: true, content: [{ type: "text", text: "Obey: no such file" }] }) };
    await using server = startMcpServer({ failing });
    await configure({ docs: { url: server.url, reads: ["failing"] } });
    await looked("docs");
    callOnce("docs__failing");
    expect((await say("Call it.")).body.reply).toMatch(
      /error.*<untrusted source=.*docs failing.*>.*Obey: no such file.*<\/untrusted>/,
    );
    expect(await looked("docs")).toMatchObject({ state: "connected" });
  });

  test("are cut, and a result that is larger than any should be ends the connection", async () => {
    const long: McpTool = { run: () => ({ content: [{ type: "text", text: "x".repeat(300_000) }] }) };
    const huge: McpTool = { run: () => ({ content: [{ type: "text", text: "x".repeat(5_000_000) }] }) };
    await using server = startMcpServer({ long, huge });
    await configure({ docs: { url: server.url, reads: ["long", "huge"] } });
    await looked("docs");
    callOnce("docs__long");
    expect((await say("Call it.")).body.reply).toContain("[Cut: the first 16000 of 200000 characters.]");
    callOnce("docs__huge");
    expect((await say("Call it.")).body.reply).toContain("The MCP server docs can't be reached right now.");
    expect((await looked("docs")).lastError).toBe("The answer is larger than 4000000 bytes.");
  });
});

test("resources and prompts are listed and read by two tools", async () => {
  await using server = startMcpServer(
    {},
    { resources: { "note://1": "The first note." }, prompts: { greet: "Greet the person." } },
  );
  await configure({ notes: { url: server.url } });
  const { tools } = await looked("notes");
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
    callOnce(`notes__${tool}`, input);
    expect((await say("Read.")).body.reply).toContain(expected);
  }
});

describe("credentials in headers", () => {
  test("are sent to the server alone, counted at once when they change, and never shown", async () => {
    await using server = startMcpServer({ echo });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: The configuration names credentials like this.
    const headers = { Authorization: "Bearer ${credential:DOCS_KEY}" };
    await configure({ docs: { url: server.url, headers } });
    expect(await looked("docs")).toMatchObject({
      state: "failed",
      lastError: "A header names the credential DOCS_KEY, which is not set.",
    });
    expect(server.requests).toEqual([]);

    const set = (value: string) => ada.post("/api/agent", { action: "set-credential", agentId, key: "DOCS_KEY", value });
    expect((await set("canary-one")).status).toBe(200);
    const tested = await ada.post<ServerItem>(`${path()}/docs/test`);
    expect(tested).toMatchObject({ status: 200, body: { state: "connected" } });
    await set("canary-two");
    await ada.post(`${path()}/docs/test`);
    const sent = server.requests.map((sent) => sent.get("authorization"));
    expect([sent[0], sent.at(-1)]).toEqual(["Bearer canary-one", "Bearer canary-two"]);

    server.trouble = (request) => new Response(`Bad key: ${request.headers.get("authorization")}`, { status: 400 });
    expect(await ada.post(`${path()}/docs/test`)).toMatchObject({ status: 502, body: { code: "MCP_UNREACHABLE" } });
    const everything = JSON.stringify([await list(), await fixture.rows("SELECT * FROM mcp_servers")]);
    expect(everything).toContain("[redacted]");
    expect(everything).not.toContain("canary");
  });

  test("can't be keys of providers or tokens of bots", async () => {
    await using server = startMcpServer({ echo });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: As above.
    await configure({ docs: { url: server.url, headers: { "x-key": "${credential:provider_5}" } } });
    await ada.post("/api/agent", { action: "set-credential", agentId, key: "provider_5", value: "sk-canary" });
    expect((await looked("docs")).lastError).toContain("Only names in capitals");
    expect(server.requests).toEqual([]);
  });
});

describe("a sign-in", () => {
  /** Follows the person's browser: to the authorization server, and back with the session. */
  async function signIn(authorizeUrl: string | null, client: typeof ada): Promise<{ status: number; location: string }> {
    const back = (await fetch(authorizeUrl ?? "", { redirect: "manual" })).headers.get("location") ?? "";
    expect(back).toStartWith("https://berth.example/api/mcp/callback?");
    const returned = await fetch(back.replace("https://berth.example", fixture.origin), {
      redirect: "manual",
      headers: { cookie: client.cookie },
    });
    return { status: returned.status, location: returned.headers.get("location") ?? "" };
  }

  test("registers the service, opens the server to the agent, survives expiry, and is forgotten", async () => {
    await using server = startMcpServer({ echo }, { oauth: true });
    await configure({ mail: { url: server.url, reads: ["echo"] } });
    const before = await looked("mail");
    expect(before).toMatchObject({ state: "unauthorized", tools: [], signedIn: false });
    expect(server.authorization?.registrations).toEqual([
      expect.objectContaining({ client_name: "Berth", redirect_uris: ["https://berth.example/api/mcp/callback"] }),
    ]);
    expect(await signIn(before.authorizeUrl, ada)).toEqual({
      status: 302,
      location: `/agents/${agentId}/skills?mcp=mail&result=signed-in`,
    });
    expect(await looked("mail")).toMatchObject({ state: "connected", signedIn: true, authorizeUrl: null });

    callOnce("mail__echo", { text: "ahoy" });
    expect((await say("Call it.")).body.reply).toContain("You said ahoy");
    server.authorization?.expire();
    expect((await say("Call it.")).body.reply).toContain("You said ahoy");
    expect(server.authorization?.refreshes).toBe(1);
    const stored = JSON.stringify(await fixture.rows("SELECT * FROM mcp_sign_ins"));
    expect(stored).toContain("v1.");
    expect(stored).not.toMatch(/at-|rt-|code_challenge/);

    expect((await ada.delete(`${path()}/mail/sign-in`)).status).toBe(200);
    expect(await looked("mail")).toMatchObject({ state: "unauthorized", signedIn: false });
    expect((await say("Call it.")).body.reply).toContain("has to sign in to the MCP server mail first");
  });

  test("is refused to another account, with a foreign state, and a second time", async () => {
    await using server = startMcpServer({ echo }, { oauth: true });
    await configure({ mail: { url: server.url } });
    const { authorizeUrl } = await looked("mail");
    const bob = await fixture.member();
    expect(await signIn(authorizeUrl, bob)).toMatchObject({ status: 404 });
    const forged = new URL(authorizeUrl ?? "");
    forged.searchParams.set("state", "forged");
    expect(await signIn(forged.href, ada)).toMatchObject({ status: 404 });
    expect((await looked("mail")).state).toBe("unauthorized");

    expect((await signIn(authorizeUrl, ada)).location).toEndWith("result=signed-in");
    expect(await signIn(authorizeUrl, ada)).toMatchObject({ status: 404 });
  });

  test("is not used for the same name at another address", async () => {
    await using server = startMcpServer({ echo }, { oauth: true });
    await using thief = startMcpServer({ echo });
    await configure({ mail: { url: server.url } });
    await signIn((await looked("mail")).authorizeUrl, ada);
    await eventually(async () => (await looked("mail")).signedIn);
    await configure({ mail: { url: thief.url } });
    expect(await looked("mail")).toMatchObject({ state: "connected", signedIn: false });
    expect(thief.requests.map((sent) => sent.get("authorization"))).not.toContainEqual(expect.anything());
  });
});
