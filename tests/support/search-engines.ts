// Stand-ins for Brave Search, Tavily and SearXNG: each takes only what its API documents, with the right key. Compared on 2026-11-23
// with Brave's skill `web-search` (github.com/brave/brave-search-skills), Tavily's client (github.com/tavily-ai/tavily-python) and
// docs.searxng.org/dev/search_api.html.
import { serve } from "bun";

export interface SearchHit {
  title: string;
  url: string;
  text: string;
  date?: string;
}

export interface SearchEngines extends AsyncDisposable {
  url: string;
  /** The results of all engines. */
  hits: SearchHit[];
  /** The accepted requests: engine, words, and the number or period that was asked for. */
  searches: { engine: string; query: string; count?: number; period?: string }[];
  /** The next request gets this status. */
  failWith(status: number): void;
}

const KEYS = { brave: "BSA-key", tavily: "tvly-key" };
export const searchKeys = KEYS;

const BRAVE_PARAMETERS = new Set([
  "q",
  "count",
  "offset",
  "country",
  "search_lang",
  "safesearch",
  "freshness",
  "text_decorations",
  "spellcheck",
  "result_filter",
  "extra_snippets",
]);
const TAVILY_FIELDS = new Set(["query", "max_results", "search_depth", "topic", "time_range", "include_answer"]);
const SEARXNG_PARAMETERS = new Set([
  "q",
  "format",
  "time_range",
  "language",
  "categories",
  "pageno",
  "engines",
  "safesearch",
]);

export function startSearchEngines(): SearchEngines {
  const hits: SearchHit[] = [];
  const searches: SearchEngines["searches"] = [];
  let nextStatus: number | undefined;

  const refuse = (status: number, why: string) => Response.json({ error: why }, { status });
  const guarded = (handle: (request: Request) => Response | Promise<Response>) => (request: Request) => {
    const status = nextStatus;
    nextStatus = undefined;
    return status === undefined ? handle(request) : refuse(status, "as told");
  };
  const onlyKnown = (names: Iterable<string>, known: ReadonlySet<string>) =>
    [...names].find((name) => !known.has(name));

  const server = serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/res/v1/web/search": guarded((request) => {
        const { searchParams } = new URL(request.url);
        if (request.method !== "GET") return refuse(405, "GET");
        if (request.headers.get("x-subscription-token") !== KEYS.brave)
          return refuse(401, "SUBSCRIPTION_TOKEN_INVALID");
        const unknown = onlyKnown(searchParams.keys(), BRAVE_PARAMETERS);
        const count = Number(searchParams.get("count") ?? 20);
        const period = searchParams.get("freshness") ?? undefined;
        if (unknown || !(count >= 1 && count <= 20) || (period && !/^p[dwmy]$/.test(period)))
          return refuse(422, "VALIDATION");
        const query = searchParams.get("q") ?? "";
        if (query === "" || query.length > 400 || query.split(/\s+/).length > 50) return refuse(422, "VALIDATION");
        searches.push({ engine: "brave", query, count, ...(period && { period }) });
        const results = hits.slice(0, count).map(({ title, url, text, date }) => ({
          type: "search_result",
          title,
          url,
          description: text,
          ...(date && { page_age: date }),
        }));
        return Response.json({
          type: "search",
          query: { original: query },
          ...(results.length > 0 && { web: { type: "search", results } }),
        });
      }),
      "/search": guarded(async (request) => {
        if (request.method === "GET") return searxng(new URL(request.url).searchParams);
        if (request.headers.get("authorization") !== `Bearer ${KEYS.tavily}`) return refuse(401, "Unauthorized");
        if (!request.headers.get("content-type")?.startsWith("application/json")) return refuse(415, "json");
        const body: unknown = await request.json();
        if (typeof body !== "object" || body === null || !("query" in body) || typeof body.query !== "string") {
          return refuse(422, "query");
        }
        if (onlyKnown(Object.keys(body), TAVILY_FIELDS)) return refuse(422, "unknown field");
        const {
          query,
          max_results: count,
          time_range: period,
        } = body as { query: string; max_results?: number; time_range?: string };
        if (count !== undefined && !(count >= 0 && count <= 20)) return refuse(422, "max_results");
        if (period !== undefined && !/^(day|week|month|year|[dwmy])$/.test(period)) return refuse(422, "time_range");
        searches.push({ engine: "tavily", query, ...(count !== undefined && { count }), ...(period && { period }) });
        const results = hits
          .slice(0, count ?? 5)
          .map(({ title, url, text }) => ({ title, url, content: text, score: 0.9, raw_content: null }));
        return Response.json({ query, answer: null, images: [], results, response_time: 1.1 });
      }),
      "/*": () => refuse(404, "unknown path"),
    },
  });

  function searxng(parameters: URLSearchParams): Response {
    if (onlyKnown(parameters.keys(), SEARXNG_PARAMETERS)) return refuse(400, "unknown parameter");
    // A format that is not switched on in its settings is 403.
    if (parameters.get("format") !== "json")
      return new Response("<html>", { headers: { "content-type": "text/html" } });
    const query = parameters.get("q") ?? "";
    const period = parameters.get("time_range") ?? undefined;
    if (query === "" || (period && !["day", "month", "year"].includes(period))) return refuse(400, "invalid");
    searches.push({ engine: "searxng", query, ...(period && { period }) });
    const results = hits.map(({ title, url, text, date }) => ({
      title,
      url,
      content: text,
      engine: "test",
      publishedDate: date ?? null,
    }));
    return Response.json({ query, number_of_results: hits.length, results, answers: [], suggestions: [] });
  }

  return {
    url: server.url.origin,
    hits,
    searches,
    failWith(status) {
      nextStatus = status;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
