// The routes of the overview. The backend answers, since it holds the channels' connections; the web forwards to it.
import { Elysia, type Static } from "elysia";
import { invalidInput } from "../../src/kernel/errors.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors, documentResponse } from "../../src/kernel/http/openapi/route-documentation.ts";
import { readLimit, readOffset } from "../../src/kernel/http/paging.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { auth } from "../auth/index.ts";
import { overviewQuery, overviewResponse, SORTS, STATES } from "./model.ts";
import type { Overview, OverviewRequest } from "./overview.ts";

const PATH = "/api/agents/overview";
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 200;

interface Deps {
  backend: BackendTransport;
  identities: ServiceOf<typeof auth>["identities"];
  overview: Overview;
}

export function overviewRoutes({ backend, identities, overview }: Deps) {
  const route = {
    query: overviewQuery,
    detail: {
      tags: ["Agents"],
      summary: "Search, filter and sort the caller's agents, each with what it does and needs",
      description:
        "For each agent: status, channels, approvals that wait, cost of today and last activity. `counts` covers all agents of the account, whatever is searched.",
      operationId: "getAgentsOverview",
    },
  };
  return {
    web: new Elysia({ name: "overview.web" })
      .use(identities.guards)
      .get(
        PATH,
        ({ identity, request }) =>
          forwardToBackend(
            backend,
            identities.createGrant(identity, request, "agent.list"),
            request,
            `${PATH}${new URL(request.url).search}`,
            { signal: request.signal },
          ),
        {
          signedIn: "read",
          ...route,
          detail: {
            ...route.detail,
            // The backend checks its answer; here, making the check would only delay the first one.
            ...documentResponse(overviewResponse, "OK."),
            ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }),
          },
        },
      ),
    backend: new Elysia({ name: "overview.backend" })
      .use(identities.guards)
      .get(PATH, ({ caller, query }) => overview(caller.userId, readRequest(query)), {
        granted: "agent.list",
        ...route,
        response: { 200: overviewResponse },
      }),
  };
}

const readRequest = ({ query, state, sort, limit, offset }: Static<typeof overviewQuery>): OverviewRequest => ({
  query: query?.trim(),
  state: readName(state, STATES, "state"),
  sort: readName(sort, SORTS, "sort") ?? "newest",
  limit: readLimit(limit, DEFAULT_LIMIT, MAX_LIMIT),
  offset: readOffset(offset),
});

function readName<Name extends string>(
  given: string | undefined,
  known: readonly Name[],
  path: string,
): Name | undefined {
  const name = known.find((one) => one === given);
  if (given !== undefined && name === undefined) {
    throw invalidInput({ path, message: `This must be one of: ${known.join(", ")}.` });
  }
  return name;
}
