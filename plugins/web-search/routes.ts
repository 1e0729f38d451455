// The web route that says which search providers are set up for an agent.
import { Elysia, t } from "elysia";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { SearchService } from "./search-service.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  search: Pick<SearchService, "stateOf">;
}

const searchState = t.Object(
  {
    searchesToday: t.Integer({ description: "In the present day, UTC" }),
    searchesPerDay: t.Integer({ description: "The limit" }),
    providers: t.Array(
      t.Object({
        id: t.String(),
        label: t.String(),
        credential: t.String({
          description: "The name under which `set-credential` stores a key or address of the agent",
        }),
        needs: t.Union([t.Literal("key"), t.Literal("address")], { description: "What is stored there" }),
        howToGet: t.String(),
        from: t.Union([t.Literal("agent"), t.Literal("operator"), t.Null()], {
          description: "Whose key is used: that of the agent or its account, the operator's, or null if there is none",
        }),
      }),
      { description: "In the order in which they are used; those of the agent come first" },
    ),
  },
  {
    examples: [
      {
        searchesToday: 3,
        searchesPerDay: 100,
        providers: [
          {
            id: "brave",
            label: "Brave Search",
            credential: "BRAVE_API_KEY",
            needs: "key",
            howToGet: "Sign up at brave.com/search/api and create a key.",
            from: "operator",
          },
        ],
      },
    ],
  },
);

export const searchRoutes = ({ guards, search }: Deps) =>
  new Elysia({ name: "web-search.web" })
    .use(guards)
    .get("/api/agents/:id/web-search", ({ agent }) => search.stateOf(agent.id), {
      ownAgent: { scope: "read", kind: "data" },
      response: { 200: searchState },
      detail: {
        tags: ["Skills"],
        summary: "Which search providers an agent can use, and its searches of today",
        description: "`from` says whose key a provider uses: the operator's or the owner's.",
        operationId: "getAgentWebSearch",
      },
    });
