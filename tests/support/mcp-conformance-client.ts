// A client for the official conformance suite of MCP, made of the connection that agents use: it connects to the address in its
// last argument, signs in if it must, and lists and calls the tools.

import { openConnection } from "../../plugins/mcp/connections/connection.ts";
import { describeFailure } from "../../plugins/mcp/connections/failures.ts";
import { createGuardedFetch } from "../../plugins/mcp/connections/guarded-fetch.ts";
import { createOAuthProvider } from "../../plugins/mcp/connections/oauth-provider.ts";
import type { SignIn } from "../../plugins/mcp/connections/sign-in-store.ts";
import { askForScope } from "../../plugins/mcp/connections/step-up.ts";
import { createOutbound } from "../../src/kernel/security/outbound.ts";

const url = new URL(process.argv.at(-1) ?? "");
const outbound = createOutbound({ allow: ["127.0.0.1/32", "::1/128"] });
const signIn: SignIn = {};
const addresses = {
  redirect: "http://localhost:3999/callback",
  clientMetadata: "https://conformance-test.local/client-metadata.json",
};
const oauth = createOAuthProvider(addresses, signIn, async () => undefined);
const headers = async () => new Map<string, string>();

const connect = () =>
  openConnection({
    server: { url, headers, oauth },
    era: null,
    outbound,
    onToolsChanged: () => undefined,
    onClose: () => undefined,
  });

/** Follows the browser to the authorization server, which sends it back at once, and ends the sign-in. */
async function finishSignIn(): Promise<void> {
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const back = (await fetch(signIn.authorizeUrl ?? "", { redirect: "manual" })).headers.get("location") ?? "";
  const transport = new StreamableHTTPClientTransport(url, {
    authProvider: oauth,
    fetch: createGuardedFetch(outbound, url, headers),
  });
  await transport.finishAuth(new URL(back).searchParams);
}

async function connectSignedIn() {
  try {
    return await connect();
  } catch (error) {
    if (signIn.authorizeUrl === undefined) throw error;
    await finishSignIn();
    return connect();
  }
}

async function useTools(): Promise<void> {
  const connection = await connectSignedIn();
  const { tools } = await connection.client.listTools();
  for (const { name } of tools) {
    await connection.client.callTool({ name, arguments: name === "add_numbers" ? { a: 5, b: 3 } : {} });
  }
  await connection.close();
}

try {
  await useTools();
} catch (error) {
  const { missing } = await describeFailure(error);
  if (!missing) throw error;
  await askForScope({ url, headers, oauth }, outbound, missing);
  await finishSignIn();
  await useTools();
}
