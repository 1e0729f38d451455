// Brave Search API: https://api-dashboard.search.brave.com/app/documentation/web-search/query (parameters), .../responses (answer).
import { listIn, type SearchProvider, textIn } from "./provider.ts";

/** Of a query; more are refused with 422. */
const MAX_WORDS = 50;
const FRESHNESS = { day: "pd", week: "pw", month: "pm", year: "py" } as const;

export const brave: SearchProvider = {
  id: "brave",
  label: "Brave Search",
  variable: "BRAVE_API_KEY",
  credential: "BRAVE_API_KEY",
  needs: "key",
  address: "https://api.search.brave.com",
  howToGet: "Sign up at brave.com/search/api and create a key.",
  request({ text, count, period }, address, key) {
    const url = new URL("/res/v1/web/search", address);
    url.searchParams.set("q", text.trim().split(/\s+/).slice(0, MAX_WORDS).join(" "));
    url.searchParams.set("count", String(count));
    url.searchParams.set("text_decorations", "false");
    if (period) url.searchParams.set("freshness", FRESHNESS[period]);
    return { url: url.href, method: "GET", headers: { accept: "application/json", "x-subscription-token": key } };
  },
  results: (body) =>
    // Without a result, the answer has no `web`.
    (isWithoutResults(body) ? [] : listIn(body, "web", "results")).map(({ title, url, description, page_age }) => ({
      title: textIn(title),
      url: textIn(url),
      snippet: textIn(description),
      published: textIn(page_age) || undefined,
    })),
};

const isWithoutResults = (body: unknown) =>
  typeof body === "object" && body !== null && "type" in body && body.type === "search" && !("web" in body);
