// The web routes at fixed addresses: `/mcp` itself, the documents by which clients find it, and the page that asks for consent.
import { Elysia } from "elysia";
import { documentReplyOrStream, eventSchema } from "../../src/kernel/http/openapi/event-streams.ts";
import { documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { guarded, openRoutes } from "../../src/kernel/http/route-guards.ts";
import { createAccountPage } from "../auth/index.ts";
import type { Access } from "./access.ts";
import { type Addresses, MCP_PATH, RESOURCE_METADATA_PATH } from "./addresses.ts";
import consent from "./consent.htm" with { type: "text" };
import { message, protocolErrors, resourceMetadata, serverMetadata } from "./model.ts";
import type { McpEndpoint } from "./tools/endpoint.ts";

interface Deps {
  access: Access;
  addresses: Addresses;
  /** Made at the first request with a valid credential, since the library takes memory. */
  endpoint: () => Promise<McpEndpoint>;
}

const tags = ["MCP server"];
const AUTHORIZATION_SERVER = "/.well-known/oauth-authorization-server";

export function webRoutes({ access, addresses, endpoint }: Deps) {
  const guards = new Elysia({ name: "mcp-server.guards" }).macro({
    mcpCaller: (_: true) => ({
      ...guarded(async ({ request }) => void (await access.authenticate(request))),
      detail: documentGuard(["apiKey"], { 403: "FOREIGN_ORIGIN" }),
      resolve: async ({ request }: { request: Request }) => ({ caller: await access.authenticate(request) }),
    }),
  });
  const metadata = {
    open: true,
    response: { 200: resourceMetadata },
    detail: {
      tags,
      summary: "How clients of the MCP server sign in (RFC 9728)",
      description: "MCP clients read this after a 401 from `/mcp`, to find the authorization server and its scopes.",
      operationId: "getMcpResourceMetadata",
    },
  } as const;
  const server = {
    open: true,
    response: { 200: serverMetadata },
    detail: {
      tags,
      summary: "The endpoints of OAuth (RFC 8414)",
      description:
        "Addresses and abilities of this service as an authorization server, for the apps that accounts connect.",
      operationId: "getAuthorizationServerMetadata",
    },
  } as const;
  const hidden = { open: true, detail: { hide: true } } as const;

  return (
    new Elysia({ name: "mcp-server.web" })
      .use(openRoutes)
      .use(guards)
      .post(MCP_PATH, async ({ request, body, caller }) => (await endpoint()).respond(request, body, caller), {
        mcpCaller: true,
        body: message,
        detail: {
          tags,
          summary: "Talk to your agents from another assistant: a server of the Model Context Protocol",
          operationId: "callMcpServer",
          description:
            "Streamable HTTP, without sessions. `Authorization: Bearer` holds an API key, or an access token of OAuth for an app " +
            "that you have connected. Its tools follow the scopes: `chat`, `read`, `write`.",
          responses: {
            ...documentReplyOrStream(
              message,
              eventSchema("McpEvent", "One message of the protocol.", () => ({ message })),
              "The response",
            ).responses,
            ...protocolErrors,
          },
        },
      })
      .get(MCP_PATH, async ({ request, caller }) => (await endpoint()).respond(request, undefined, caller), {
        mcpCaller: true,
        detail: { hide: true },
      })
      .delete(MCP_PATH, async ({ request, caller }) => (await endpoint()).respond(request, undefined, caller), {
        mcpCaller: true,
        detail: { hide: true },
      })
      .get(RESOURCE_METADATA_PATH, ({ request }) => addresses.resourceMetadata(request), metadata)
      .get("/.well-known/oauth-protected-resource", ({ request }) => addresses.resourceMetadata(request), hidden)
      .get(AUTHORIZATION_SERVER, ({ request }) => addresses.serverMetadata(request), server)
      // Where some clients look, though the issuer has no path.
      .get(`${AUTHORIZATION_SERVER}${MCP_PATH}`, ({ request }) => addresses.serverMetadata(request), hidden)
      .get("/oauth/authorize", createAccountPage(consent, "Connect an app"), hidden)
  );
}
