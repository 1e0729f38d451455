// Uses agents from another assistant, with the official client of MCP and an API key.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Client as McpClient } from "@modelcontextprotocol/client";
import { eventually } from "../../tests/support/eventually.ts";
import type { InteractionFixture } from "../interaction/support.test.ts";
import { call, connect, keyOf, openFixture, type Person } from "./support.test.ts";
import { toolNameOf } from "./tools/names.ts";

let fixture: InteractionFixture;
let ada: Person;
let agentId: string;
let subdomain: string;
let client: McpClient;

beforeAll(async () => {
  fixture = await openFixture();
  ada = await fixture.member();
  client = await connect(fixture.origin, await keyOf(ada));
});
beforeEach(async () => {
  fixture.upstream.reset();
  agentId = await fixture.provision(ada);
  subdomain = (await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${agentId}`)).body.agent.subdomain;
});
afterAll(async () => {
  await client?.close();
  await fixture?.[Symbol.asyncDispose]();
});

const names = async (of = client) => (await of.listTools()).tools.map(({ name }) => name);
const post = (headers: Record<string, string>, body: unknown = { jsonrpc: "2.0", id: 1, method: "ping" }) =>
  fetch(`${fixture.origin}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify(body),
  });

describe("the tools", () => {
  test("are one for each agent, and those that list, wait, read and write", async () => {
    const listed = await names();
    expect(listed).toContain(toolNameOf(subdomain));
    expect(listed).toEqual(
      expect.arrayContaining(["get_reply", "list_agents", "list_conversations", "read_conversation"]),
    );
    expect(listed).toEqual(expect.arrayContaining(["remember", "schedule"]));
    expect(new Set(listed).size).toBe(listed.length);
  });

  test("say truly what they do", async () => {
    const { tools } = await client.listTools();
    const hintsOf = (name: string) => tools.find((tool) => tool.name === name)?.annotations;
    for (const name of ["list_agents", "list_conversations", "read_conversation", "get_reply"]) {
      expect(hintsOf(name)).toMatchObject({ readOnlyHint: true });
    }
    expect(hintsOf(toolNameOf(subdomain))).toMatchObject({ readOnlyHint: false, openWorldHint: true });
    expect(hintsOf("remember")).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  });

  test.each([
    [["chat"], ["get_reply"], ["list_agents", "remember"]],
    [["read"], ["list_agents", "list_conversations", "read_conversation"], ["get_reply", "remember"]],
    [["write"], ["remember", "schedule"], ["get_reply", "list_agents"]],
  ])("of a key with the scope %p are no others", async (scopes, offered, missing) => {
    const limited = await connect(fixture.origin, await keyOf(ada, scopes));
    const listed = await names(limited);
    expect(listed).toEqual(expect.arrayContaining(offered));
    for (const name of missing) expect(listed).not.toContain(name);
    expect(listed.includes(toolNameOf(subdomain))).toBe(scopes.includes("chat"));
    await limited.close();
  });

  test("work for clients of the older revisions, too", async () => {
    const old = await connect(fixture.origin, await keyOf(ada), "legacy");
    fixture.upstream.script(() => "Aye.");
    expect((await call(old, toolNameOf(subdomain), { message: "Ahoy" })).text).toBe("Aye.");
    await old.close();
  });

  test("refuse input that does not fit", async () => {
    expect((await call(client, toolNameOf(subdomain), { message: 7 })).isError).toBe(true);
    expect((await call(client, toolNameOf(subdomain), { message: "x", more: 1 })).isError).toBe(true);
  });
});

describe("asking an agent", () => {
  test("returns its reply, in a conversation that can go on", async () => {
    fixture.upstream.script(({ messages }) => `Said ${messages.filter(({ role }) => role === "user").length} times.`);
    const first = await call(client, toolNameOf(subdomain), { message: "Ahoy" });
    expect(first.text).toBe("Said 1 times.");
    const [, conversation] = /Conversation: (\S+)\./.exec(first.texts[1] ?? "") ?? [];
    const second = await call(client, toolNameOf(subdomain), { message: "Again", conversation });
    expect(second.text).toBe("Said 2 times.");

    const { text } = await call(client, "list_conversations", { agent: subdomain });
    expect(JSON.parse(text).conversations).toMatchObject([{ id: conversation, platform: "web", messages: 4 }]);
    const read = JSON.parse((await call(client, "read_conversation", { agent: agentId, conversation })).text);
    expect(read.messages.map(({ from, text }: { from: string; text: string }) => [from, text])).toEqual([
      ["agent", "Said 2 times."],
      ["owner", "Again"],
      ["agent", "Said 1 times."],
      ["owner", "Ahoy"],
    ]);
  });

  test("tells how it goes on while the agent writes", async () => {
    fixture.upstream.script(() => "A long answer in many pieces.");
    const said: string[] = [];
    const onprogress = ({ message = "" }) => void said.push(message);
    await call(client, toolNameOf(subdomain), { message: "Ahoy" }, { onprogress });
    expect(said.join()).toContain("characters so far");
  });

  test("gives no commands: what a program writes can't approve what it wants", async () => {
    fixture.upstream.script(({ lastUser, toolResults }) =>
      lastUser === "Tell Bob." && toolResults.length === 0
        ? { toolCalls: [{ name: "web_fetch", arguments: { url: "https://example.com/" } }] }
        : `You said: ${lastUser}`,
    );
    await ada.put(`/api/agents/${agentId}/config`, { approvals: { web_fetch: "ask" } });
    const asked = await call(client, toolNameOf(subdomain), { message: "Tell Bob." });
    expect(asked.texts.join()).toContain("waits for its owner's approval");
    // Asked for again, it says so at once, too.
    const [, turn] = /(?:turn|Turn)\W+([0-9a-f-]{36})/.exec(asked.texts.join(" ")) ?? [];
    const again = await call(client, "get_reply", { agent: agentId, turn });
    expect(again.texts.join()).toContain("waits for its owner's approval");
    const { approvals } = (
      await ada.get<{ approvals: { id: string; status: string }[] }>(`/api/agents/${agentId}/approvals`)
    ).body;
    const [, conversation] = /Conversation: (\S+)\./.exec(asked.texts.at(-1) ?? "") ?? [];
    const read = await call(client, "read_conversation", { agent: agentId, conversation });
    expect(read.text).toContain("May I do this?");
    expect(read.text).not.toContain("/approve");
    const { rows } = await fixture.kernel.database.read("SELECT code FROM approvals WHERE agent_id = ?", [agentId]);
    const command = `/approve ${rows[0]?.code}`;
    expect((await call(client, toolNameOf(subdomain), { message: command })).text).toBe(`You said: ${command}`);
    const after = await ada.get<{ approvals: { status: string }[] }>(`/api/agents/${agentId}/approvals`);
    expect(after.body.approvals.map(({ status }) => status)).toEqual(approvals.map(() => "pending"));
  });

  test("says why there is no reply", async () => {
    expect((await ada.post(`/api/agents/${agentId}/stop`)).status).toBe(200);
    const { text, isError } = await call(client, toolNameOf(subdomain), { message: "Ahoy" });
    expect({ text, isError }).toEqual({ text: expect.stringContaining("stopped"), isError: true });
  });

  test("cancels the turn when the client gives up", async () => {
    const asked = Promise.withResolvers<void>();
    fixture.upstream.script(async ({ signal }) => {
      asked.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      return "Too late.";
    });
    const abort = new AbortController();
    const result = call(client, toolNameOf(subdomain), { message: "Ahoy" }, { signal: abort.signal });
    result.catch(() => undefined);
    await asked.promise;
    abort.abort();
    expect(result).rejects.toThrow();
    await eventually(async () => {
      const { turns } = (await ada.get<{ turns: { status: string }[] }>(`/api/agents/${agentId}/turns`)).body;
      return turns[0]?.status === "cancelled";
    });
  });
});

describe("writing", () => {
  test("remembers as the owner, since the key is theirs", async () => {
    expect((await call(client, "remember", { agent: subdomain, text: "The crane is red." })).text).toContain(
      "remembered",
    );
    const { memories } = (await ada.get<{ memories: object[] }>(`/api/agents/${agentId}/memories`)).body;
    expect(memories).toMatchObject([{ text: "The crane is red.", untrusted: false }]);
  });

  test("plans work", async () => {
    const { text } = await call(client, "schedule", { agent: subdomain, prompt: "Report.", cron: "0 9 * * 1-5" });
    expect(text).toContain("Next time: 2");
    const { schedules } = (await ada.get<{ schedules: object[] }>(`/api/agents/${agentId}/schedules`)).body;
    expect(schedules).toMatchObject([{ prompt: "Report.", untrusted: false }]);
    const wrong = await call(client, "schedule", { agent: subdomain, prompt: "Report.", cron: "nonsense" });
    expect(wrong.isError).toBe(true);
  });
});

test("agents of others don't exist", async () => {
  const bob = await fixture.member();
  const other = await connect(fixture.origin, await keyOf(bob));
  for (const [tool, input] of [
    ["list_conversations", { agent: agentId }],
    ["remember", { agent: subdomain, text: "x" }],
    ["get_reply", { agent: subdomain, turn: "x" }],
  ] as const) {
    const { text, isError } = await call(other, tool, input);
    expect({ tool, text, isError }).toEqual({
      tool,
      text: expect.stringContaining("You have no agent"),
      isError: true,
    });
  }
  expect(await names(other)).not.toContain(toolNameOf(subdomain));
  await other.close();
});

describe("a request", () => {
  test("without a valid credential learns how to get one", async () => {
    const metadata = `${fixture.origin}/.well-known/oauth-protected-resource/mcp`;
    for (const headers of [{}, { cookie: ada.cookie }]) {
      const answer = await post(headers);
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe(
        `Bearer resource_metadata="${metadata}", scope="read chat write"`,
      );
    }
    for (const token of ["bk_nothing", "bat_nothing", "st.a.b"]) {
      const answer = await post({ authorization: `Bearer ${token}` });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toContain('error="invalid_token"');
    }
    const document = (await (await fetch(metadata)).json()) as { resource: string; authorization_servers: string[] };
    expect(document).toMatchObject({ resource: `${fixture.origin}/mcp`, authorization_servers: [fixture.origin] });
  });

  test("of another site, or under a stranger's name for this machine, is refused", async () => {
    const authorization = `Bearer ${await keyOf(ada)}`;
    expect((await post({ authorization })).status).toBe(200);
    for (const headers of [{ origin: "https://evil.example" }, { host: "evil.example" }] as Record<string, string>[]) {
      expect((await post({ authorization, ...headers })).status).toBe(403);
    }
  });

  test("of a key that was revoked is refused at once", async () => {
    const { id, key } = (await ada.post<{ id: string; key: string }>("/api/keys", { name: "Short" })).body;
    const authorization = `Bearer ${key}`;
    expect((await post({ authorization })).status).toBe(200);
    await ada.delete(`/api/keys/${id}`);
    expect((await post({ authorization })).status).toBe(401);
  });

  test("that is too large is refused", async () => {
    const authorization = `Bearer ${await keyOf(ada)}`;
    expect((await post({ authorization }, { padding: "x".repeat(1024 * 1024) })).status).toBe(413);
  });
});

test("a name of a tool fits into every client's limit, and keeps its unique end", () => {
  expect(toolNameOf("harbour-k7m2pq")).toBe("ask_harbour_k7m2pq");
  const long = toolNameOf("the-very-long-name-of-an-agent-in-the-harb-k7m2pq");
  expect(long.length).toBeLessThanOrEqual(44);
  expect(long).toEndWith("_k7m2pq");
});
