// Tavily Search: https://docs.tavily.com/documentation/api-reference/endpoint/search. A used-up plan is 432, a used-up pay-as-you-go
// limit 433.
import { listIn, type SearchProvider, textIn } from "./provider.ts";

export const tavily: SearchProvider = {
  id: "tavily",
  label: "Tavily",
  variable: "TAVILY_API_KEY",
  credential: "TAVILY_API_KEY",
  needs: "key",
  address: "https://api.tavily.com",
  howToGet: "Sign up at tavily.com and copy the key of your account.",
  request: ({ text, count, period }, address, key) => ({
    url: new URL("/search", address).href,
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      query: text,
      max_results: count,
      // One credit; `advanced` costs two.
      search_depth: "basic",
      ...(period && { time_range: period }),
    }),
  }),
  results: (body) =>
    listIn(body, "results").map(({ title, url, content, published_date }) => ({
      title: textIn(title),
      url: textIn(url),
      snippet: textIn(content),
      published: textIn(published_date) || undefined,
    })),
};
