// Opens the application with one agent for tests of MCP servers, and the steps that they share.
import { eventually } from "../../tests/support/eventually.ts";
import { type InteractionFixture, openInteractionFixture } from "../interaction/support.test.ts";
import type { ServerItem, ToolItem } from "./model.ts";

export type McpFixture = Awaited<ReturnType<typeof openMcpFixture>>;

export async function openMcpFixture(env: Record<string, string> = {}) {
  const fixture = await openInteractionFixture({ OUTBOUND_ALLOW: "127.0.0.1/32", ...env });
  const ada: Awaited<ReturnType<InteractionFixture["member"]>> = await fixture.member();
  let agentId = "";
  const path = () => `/api/agents/${agentId}/mcp`;
  const list = async () => (await ada.get<{ servers: ServerItem[] }>(path())).body.servers;
  return {
    app: fixture,
    upstream: fixture.upstream,
    kernel: fixture.kernel,
    origin: fixture.origin,
    rows: fixture.rows,
    member: fixture.member,
    ada,
    path,
    list,
    get agentId() {
      return agentId;
    },
    async nextAgent(): Promise<void> {
      fixture.upstream.reset();
      agentId = await fixture.provision(ada);
    },
    putConfig: (mcpServers: object, rest: object = {}) =>
      ada.put<{ warnings?: { path: string; message: string }[]; issues?: { path: string }[] }>(
        `/api/agents/${agentId}/config`,
        { mcpServers, ...rest },
      ),
    /** Saves the servers, and waits until one was looked at. */
    async configure(mcpServers: Record<string, object>, rest: object = {}): Promise<ServerItem> {
      const answer = await this.putConfig(mcpServers, rest);
      if (answer.status !== 200) throw new Error(`config: ${answer.status} ${answer.text}`);
      return this.looked(Object.keys(mcpServers)[0] ?? "");
    },
    async logLines(): Promise<string[]> {
      const { body } = await ada.get<{ logs: { message: string }[] }>(`/api/agents/${agentId}/logs`);
      return body.logs.map(({ message }) => message);
    },
    /** The server, once it was looked at. */
    looked: (name: string) =>
      eventually(async () => (await list()).find((server) => server.name === name && server.state !== "connecting"), {
        timeoutMs: 20_000,
      }),
    /** The names of the tools that the model was offered last. */
    offered: () => fixture.upstream.chats.at(-1)?.body.tools?.map((tool) => tool.function.name) ?? [],
    async say(message: string): Promise<string> {
      const { status, body, text } = await ada.post<{ reply: string }>("/api/chat", { agentId, message });
      if (status !== 200) throw new Error(`chat: ${status} ${text}`);
      return body.reply;
    },
    /** The model calls this tool once, and repeats its result. */
    callOnce(name: string, input: object = {}): void {
      fixture.upstream.script(({ toolResults }) =>
        toolResults.length > 0
          ? `Result: ${toolResults.map(({ content }) => content).join(" ")}`
          : { toolCalls: [{ name, arguments: input }] },
      );
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

export function toolOf(server: ServerItem, name: string): ToolItem {
  const found = server.tools.find((tool) => tool.name === name);
  if (!found) throw new Error(`There is no tool ${name}.`);
  return found;
}
