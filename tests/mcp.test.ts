// MCP servers on the compiled binary: an agent uses one, also after a kill, without a connection at the start.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ServerItem } from "../plugins/mcp/model.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { startMcpServer, type TestMcpServer } from "./support/mcp-server.ts";
import { member } from "./support/members.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
let server: TestMcpServer;
let berth: Berth;
let ada: Client;

beforeAll(async () => {
  upstream = await startUpstream({ key: "sk-test" });
  server = startMcpServer({
    add: {
      schema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
      run: ({ a, b }) => ({ content: [{ type: "text", text: `Sum: ${Number(a) + Number(b)}` }] }),
    },
  });
  berth = await startBerth({
    env: {
      OUTBOUND_ALLOW: "127.0.0.1/32",
      PROVIDER_5_BASE_URL: upstream.url,
      PROVIDER_5_API_KEY: "sk-test",
      MODEL_A: "provider_5:fake-small",
      MCP_COMMANDS: "echo=/bin/cat",
    },
  });
  ada = await member(berth);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await server?.stop();
  await upstream?.stop();
});

test("a tool is called over connections that are opened when they are needed, before and after a kill", async () => {
  const mcpServers = { sums: { url: server.url, reads: ["add"] }, broken: { command: "echo" } };
  const made = await ada.post<{ agent: { id: string } }>("/api/agents/provision", {
    name: "Sums",
    config: { mcpServers },
  });
  const { id } = made.body.agent;
  const stateOf = async (name: string) => {
    const { servers } = (await ada.get<{ servers: ServerItem[] }>(`/api/agents/${id}/mcp`)).body;
    return servers.find((one) => one.name === name)?.state;
  };
  await eventually(async () => (await stateOf("sums")) === "connected");
  // It repeats what it gets, and so is no server.
  await eventually(async () => (await stateOf("broken")) === "failed", { timeoutMs: 30_000 });

  upstream.script(({ toolResults }) =>
    toolResults.length > 0
      ? String(toolResults[0]?.content)
      : { toolCalls: [{ name: "sums__add", arguments: { a: 2, b: 3 } }] },
  );
  const ask = async () => (await ada.post<{ reply: string }>("/api/chat", { agentId: id, message: "Add." })).body.reply;
  expect(await ask()).toContain("Sum: 5");

  await berth.kill();
  const before = server.requests.length;
  await berth.restart({ keepPorts: true });
  expect(await stateOf("sums")).toBe("connected");
  expect(server.requests).toHaveLength(before);
  expect(await ask()).toContain("Sum: 5");
  expect(server.requests.length).toBeGreaterThan(before);
});
