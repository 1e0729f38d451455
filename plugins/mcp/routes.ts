// Routes on both surfaces that list and test an agent's MCP servers, and sign in to them.
import { Elysia, t } from "elysia";
import { AppError, notFound } from "../../src/kernel/errors.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { clientMetadata, type OAuthAddresses } from "./connections/oauth-provider.ts";
import type { SignInStore } from "./connections/sign-in-store.ts";
import type { McpService } from "./mcp-service.ts";
import { callbackBody, clientDocument, removedResponse, serverItem, serverList } from "./model.ts";
import type { ServerViews } from "./server-views.ts";
import type { McpCommand } from "./settings.ts";
import type { Targets } from "./targets.ts";

type Agents = ServiceOf<typeof agentsPlugin>;

interface Deps {
  guards: Agents["guards"];
  views: ServerViews;
  commands: readonly Pick<McpCommand, "name" | "args">[];
}

interface WebDeps extends Deps {
  agents: Pick<Agents, "find">;
  backend: BackendTransport;
  identities: Pick<ServiceOf<typeof auth>["identities"], "authenticateSession" | "createGrant">;
  signIns: Pick<SignInStore, "findByState">;
  addresses: OAuthAddresses;
}

interface BackendDeps extends Deps {
  service: McpService;
  targets: Pick<Targets, "require">;
}

const ACTION = "agent.mcp";
const LIST = "/api/agents/:id/mcp";
const ONE = `${LIST}/:name`;
const TEST = `${ONE}/test`;
const SIGN_IN = `${ONE}/sign-in`;
const TOOL = `${ONE}/tools/:tool/accept`;
const tags = ["MCP servers"];

const notThere = { 404: ["AGENT_NOT_FOUND", "MCP_SERVER_NOT_FOUND"] };
const test = {
  response: { 200: serverItem },
  summary: "Connect to an MCP server now, and list its tools",
  operationId: "testMcpServer",
  description:
    "A server that wants a sign-in is `unauthorized`, with the `authorizeUrl` to which the owner's browser goes.",
  errors: { ...notThere, 502: "MCP_UNREACHABLE" },
};
const forget = {
  response: { 200: removedResponse },
  summary: "Forget the sign-in at an MCP server",
  description: "The stored tokens are deleted; the server asks for a sign-in again.",
  operationId: "deleteMcpSignIn",
  errors: notThere,
};
const accept = {
  response: { 200: serverItem },
  summary: "Accept what a server has changed of a tool",
  operationId: "acceptMcpTool",
  description: "A tool in `reads` whose server has changed it asks for approval until then.",
  errors: { 404: ["AGENT_NOT_FOUND", "MCP_SERVER_NOT_FOUND", "MCP_TOOL_NOT_FOUND"] },
};
type Route = { summary: string; description?: string; errors: Record<number, string | string[]> };
const detailOf = ({ summary, description, errors }: Route, more: Record<number, string | string[]> = {}) => ({
  tags,
  summary,
  ...(description !== undefined && { description }),
  ...documentErrors({ ...errors, ...more }),
});
const listDetail = {
  tags,
  summary: "An agent's MCP servers, with their state and tools",
  description:
    "For each server of the configuration: its connection, its tools, those that were left out and why, and the address of a sign-in if it needs one.",
  operationId: "listAgentMcpServers",
};

const createList = ({ views, commands }: Deps, service?: McpService) => {
  const allowed = commands.map(({ name, args }) => ({ name, args: args === undefined }));
  return async ({ agent }: { agent: Agent }) => {
    const servers = await views.list(agent.id, service);
    return { servers, count: servers.length, commands: allowed };
  };
};

export function webRoutes(deps: WebDeps) {
  const { guards, identities, backend, agents, signIns, addresses } = deps;
  const grantOf = (call: { agent: Agent; identity: Identity; request: Request }) =>
    identities.createGrant(call.identity, call.request, ACTION, call.agent.id);
  const forward = (call: { agent: Agent; identity: Identity; request: Request }, path: string) =>
    forwardToBackend(backend, grantOf(call), call.request, `/api/agents/${call.agent.id}/mcp${path}`);
  const one = (name: string) => `/${encodeURIComponent(name)}`;
  const sessionOf = (request: Request) =>
    identities.authenticateSession(request).catch((error: unknown) => {
      if (error instanceof AppError && error.status === 401) return undefined;
      throw error;
    });
  const unavailable = { 502: ["BACKEND_UNAVAILABLE"] };
  const writing = { ownAgent: { scope: "write", kind: "data" } } as const;

  return new Elysia({ name: "mcp.web" })
    .use(guards)
    .use(openRoutes)
    .get(LIST, (call) => forward(call, ""), {
      ownAgent: { scope: "read", kind: "data" },
      response: { 200: serverList },
      detail: { ...listDetail, ...documentErrors(unavailable) },
    })
    .post(TEST, ({ params, ...call }) => forward(call, `${one(params.name)}/test`), {
      ...writing,
      response: test.response,
      detail: detailOf(test, { 502: ["MCP_UNREACHABLE", "BACKEND_UNAVAILABLE"] }),
    })
    .delete(SIGN_IN, ({ params, ...call }) => forward(call, `${one(params.name)}/sign-in`), {
      ...writing,
      response: forget.response,
      detail: detailOf(forget, unavailable),
    })
    .post(
      TOOL,
      ({ params, ...call }) => forward(call, `${one(params.name)}/tools/${encodeURIComponent(params.tool)}/accept`),
      { ...writing, response: accept.response, detail: detailOf(accept, unavailable) },
    )
    .get(
      "/api/mcp/callback",
      async ({ request, query }) => {
        const { pathname, search } = new URL(request.url);
        const identity = await sessionOf(request);
        if (!identity) return redirect(`/login?next=${encodeURIComponent(pathname + search)}`);
        const found = query.state === undefined ? undefined : await signIns.findByState(query.state);
        const agent = found && (await agents.find(found.agentId));
        // The sign-in must end with the person who began it: else somebody could lend an agent another's account.
        if (!found || agent?.userId !== identity.user.id) throw notFound("This sign-in has ended. Begin it again.");
        const grant = grantOf({ agent, identity, request });
        const { ok } = await backend.fetch(grant, `/api/agents/${agent.id}/mcp${one(found.name)}/callback`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ search }),
        });
        return redirect(
          `/agents/${agent.id}/skills?${ok ? "signed-in" : "sign-in-failed"}=${encodeURIComponent(found.name)}`,
        );
      },
      {
        open: true,
        query: t.Object(
          { state: t.Optional(t.String({ maxLength: 200, description: "Names the sign-in that Berth began" })) },
          { additionalProperties: true },
        ),
        detail: {
          tags,
          summary: "Return from a sign-in at an MCP server",
          operationId: "finishMcpSignIn",
          description: "Where the authorization server sends the owner's browser.",
          responses: { 302: { description: "To the agent's page, or to the sign-in page of this service" } },
          ...documentErrors({ 403: "SESSION_REQUIRED", 404: "NOT_FOUND", 502: "BACKEND_UNAVAILABLE" }),
        },
      },
    )
    .get("/api/mcp/client.json", () => ({ client_id: addresses.clientMetadata, ...clientMetadata(addresses) }), {
      open: true,
      response: { 200: clientDocument },
      detail: {
        tags,
        summary: "This service as an OAuth client, for authorization servers that read its description",
        description: "A client id metadata document: its own address is the client id.",
        operationId: "getMcpClientMetadata",
      },
    });
}

export function backendRoutes(deps: BackendDeps) {
  const { guards, service, targets, views } = deps;
  const item = async (agentId: string, name: string) => {
    const found = (await views.list(agentId)).find((server) => server.name === name);
    if (!found) throw notFound("This agent has no such MCP server, or it is switched off.", "MCP_SERVER_NOT_FOUND");
    return found;
  };
  const changing = { agentCall: { action: ACTION, scope: "write" } } as const;

  return new Elysia({ name: "mcp.backend" })
    .use(guards)
    .get(LIST, createList(deps, service), {
      agentCall: { action: ACTION, scope: "read" },
      response: { 200: serverList },
      detail: listDetail,
    })
    .post(
      TEST,
      async ({ agent, params }) => {
        const record = await service.check(await targets.require(agent.id, params.name), true);
        if (record.state === "failed") {
          const reason = record.lastError ?? "It can't be reached.";
          throw new AppError(502, "MCP_UNREACHABLE", `The MCP server ${params.name} does not work. ${reason}`);
        }
        return item(agent.id, params.name);
      },
      { ...changing, response: test.response, detail: detailOf(test) },
    )
    .post(
      `${ONE}/callback`,
      async ({ agent, params, body }) => {
        await service.finishSignIn(agent.id, params.name, new URLSearchParams(body.search));
        return item(agent.id, params.name);
      },
      {
        ...changing,
        body: callbackBody,
        response: { 200: serverItem },
        detail: {
          tags,
          summary: "End a sign-in",
          description:
            "`search` is the query string with which the authorization server sent the owner's browser back to the web surface.",
          operationId: "finishMcpSignIn",
          ...documentErrors({ 400: "MCP_SIGN_IN_FAILED", ...notThere }),
        },
      },
    )
    .delete(
      SIGN_IN,
      async ({ agent, params: { name } }) => {
        await service.forgetSignIn(agent.id, name);
        return { success: true, name };
      },
      { ...changing, response: forget.response, detail: detailOf(forget) },
    )
    .post(
      TOOL,
      async ({ agent, params: { name, tool } }) => {
        await service.acceptChange(agent.id, name, tool);
        return item(agent.id, name);
      },
      { ...changing, response: accept.response, detail: detailOf(accept) },
    );
}

const redirect = (location: string) => new Response(null, { status: 302, headers: { location } });
