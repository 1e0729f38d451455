// SearXNG, an instance that somebody runs: https://docs.searxng.org/dev/search_api.html
import { listIn, type SearchProvider, textIn } from "./provider.ts";

export const searxng: SearchProvider = {
  id: "searxng",
  label: "SearXNG",
  variable: "SEARXNG_URL",
  credential: "SEARXNG_URL",
  needs: "address",
  howToGet: "Run an instance of SearXNG with the format json switched on in its settings, and give its address.",
  request({ text, period }, address) {
    const url = new URL("search", address.endsWith("/") ? address : `${address}/`);
    url.searchParams.set("q", text);
    url.searchParams.set("format", "json");
    // It knows no week.
    if (period) url.searchParams.set("time_range", period === "week" ? "month" : period);
    return { url: url.href, method: "GET", headers: { accept: "application/json" } };
  },
  results: (body) =>
    listIn(body, "results").map(({ title, url, content, publishedDate }) => ({
      title: textIn(title),
      url: textIn(url),
      snippet: textIn(content),
      published: textIn(publishedDate) || undefined,
    })),
};
