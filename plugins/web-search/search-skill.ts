// The skill of web search. Its tool is offered only if a provider is set up; its results come from outside.
import { Type as t } from "@sinclair/typebox";
import { defineTool, type Skill } from "../skills/index.ts";
import type { SearchResult } from "./providers/provider.ts";
import type { SearchService } from "./search-service.ts";

const MAX_TITLE = 200;
const MAX_ADDRESS = 500;
const MAX_SNIPPET = 800;

export function createSearchSkill({ search, isReady }: Pick<SearchService, "search" | "isReady">): Skill {
  const tools = [
    defineTool({
      name: "web_search",
      class: "read",
      quotes: true,
      description:
        "Searches the web: titles, addresses and short texts. Read the pages that matter with web_fetch, and name your sources.",
      untrusted: true,
      timeoutMs: 15_000,
      input: t.Object({
        query: t.String({ minLength: 1, maxLength: 400, description: "A few words, as for a search engine." }),
        count: t.Optional(t.Integer({ minimum: 1, maximum: 10, description: "Results, by default 5." })),
        period: t.Optional(
          t.Union([t.Literal("day"), t.Literal("week"), t.Literal("month"), t.Literal("year")], {
            description: "Only what is not older.",
          }),
        ),
      }),
      summarize: ({ query }) => `Search the web for ${query}`,
      async execute({ query, count = 5, period }, { agentId, signal }) {
        const results = await search(agentId, { text: query, count, period }, signal);
        return results.length === 0 ? "Nothing was found." : results.map(inWords).join("\n\n");
      },
    }),
  ];
  return {
    id: "web-search",
    name: "Web search",
    description: "Searches the web with Brave Search, Tavily or a SearXNG.",
    category: "web",
    version: "1.0.0",
    enabledByDefault: false,
    tools: () => tools,
    isReady,
    needs: "Web search needs a key of Brave Search or Tavily, or the address of a SearXNG: see the page Skills.",
  };
}

const inWords = ({ title, url, snippet, published }: SearchResult, index: number) =>
  [
    `${index + 1}. ${oneLine(title, MAX_TITLE)}`,
    url.slice(0, MAX_ADDRESS),
    ...(published ? [`Published: ${oneLine(published, 40)}`] : []),
    oneLine(snippet, MAX_SNIPPET),
  ].join("\n");

const oneLine = (text: string, length: number) => text.replace(/\s+/g, " ").trim().slice(0, length).toWellFormed();
