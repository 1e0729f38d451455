// An MCP server over streamable HTTP, made with the official package, with an authorization server of its own on request.

import { type CallToolResult, createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { createMcpAuthorization, type McpAuthorization } from "./mcp-authorization.ts";

export interface McpTool {
  description?: string;
  schema?: Record<string, unknown>;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean };
  run?(input: Record<string, unknown>): CallToolResult | Promise<CallToolResult>;
}

export interface TestMcpServer extends AsyncDisposable {
  readonly url: string;
  /** Change it, and call `toolsChanged`. */
  tools: Record<string, McpTool>;
  /** Calls of tools, in order. */
  readonly calls: { name: string; input: Record<string, unknown> }[];
  /** The headers of each request, in order. */
  readonly requests: Headers[];
  readonly authorization: McpAuthorization | undefined;
  /** Answers each request in its place. */
  trouble: ((request: Request) => Response | Promise<Response> | undefined) | undefined;
  toolsChanged(): void;
  stop(): Promise<void>;
}

const ANY = { type: "object" as const, properties: {} };
const said = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

export function startMcpServer(
  tools: Record<string, McpTool>,
  options: {
    oauth?: boolean;
    resources?: Record<string, string>;
    prompts?: Record<string, string>;
    port?: number;
  } = {},
): TestMcpServer {
  const { oauth = false, resources = {}, prompts = {}, port = 0 } = options;
  const calls: TestMcpServer["calls"] = [];
  const requests: Headers[] = [];
  const handler = createMcpHandler(() => {
    const server = new McpServer(
      { name: "test", version: "1.2.3" },
      { capabilities: { tools: { listChanged: true } } },
    );
    for (const [name, { description = name, schema = ANY, annotations, run }] of Object.entries(it.tools)) {
      server.registerTool(
        name,
        {
          description,
          inputSchema: fromJsonSchema<Record<string, unknown>>(schema),
          ...(annotations && { annotations }),
        },
        async (input) => {
          calls.push({ name, input });
          return run ? run(input) : said(`${name} was called`);
        },
      );
    }
    for (const [uri, text] of Object.entries(resources)) {
      server.registerResource(uri, uri, {}, () => ({ contents: [{ uri, text }] }));
    }
    for (const [name, text] of Object.entries(prompts)) {
      server.registerPrompt(name, { description: name }, () => ({
        messages: [{ role: "user", content: { type: "text", text } }],
      }));
    }
    return server;
  });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const answer = it.authorization?.answer(request);
      if (answer) return answer;
      if (pathname !== "/mcp") return new Response("not found", { status: 404 });
      requests.push(request.headers);
      const refusal = it.authorization?.refusal(request);
      if (refusal) return refusal;
      return (await it.trouble?.(request)) ?? handler.fetch(request);
    },
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const it: TestMcpServer = {
    url: `${origin}/mcp`,
    tools,
    calls,
    requests,
    authorization: oauth ? createMcpAuthorization(origin) : undefined,
    trouble: undefined,
    toolsChanged: () => handler.notify.toolsChanged(),
    async stop() {
      await handler.close();
      await server.stop(true);
    },
    [Symbol.asyncDispose]: () => it.stop(),
  };
  return it;
}
