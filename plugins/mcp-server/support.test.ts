// Starts Berth with a scripted model, and connects the official client of MCP to it.
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type InteractionFixture, openInteractionFixture } from "../interaction/support.test.ts";

export type Person = Awaited<ReturnType<InteractionFixture["member"]>>;

/** On this machine, so that the client may use any of its names. */
export const openFixture = (env: Record<string, string> = {}) =>
  openInteractionFixture({ BASE_URL: "http://localhost:3000", ...env });

export async function keyOf(person: Person, scopes: string[] = ["read", "chat", "write"]): Promise<string> {
  return (await person.post<{ key: string }>("/api/keys", { name: "Desk", scopes })).body.key;
}

export async function connect(origin: string, token: string, mode: "legacy" | "auto" = "auto"): Promise<McpClient> {
  const client = new McpClient({ name: "desk", version: "1.0.0" }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit: { headers } }));
  return client;
}

type CallOptions = Parameters<McpClient["callTool"]>[1];

/** Calls a tool; the texts of its result. */
export async function call(client: McpClient, name: string, input: object = {}, options?: CallOptions) {
  const { content, isError = false } = await client.callTool({ name, arguments: { ...input } }, options);
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { texts, text: texts[0] ?? "", isError };
}
