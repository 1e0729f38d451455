// Defines the addresses of the script, of the page for frames, and of the console's preview. Their code is loaded when one of them is asked for.
import { Elysia } from "elysia";
import type { Config } from "../../src/kernel/config/config.ts";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import { once } from "../../src/kernel/util/cache.ts";
import type { Embeddings } from "./embeddings.ts";

interface Deps {
  config: Pick<Config, "baseUrl" | "backend">;
  embeddings: Embeddings;
}

export function pageRoutes({ config, embeddings }: Deps) {
  const pages = once(async () => (await import("./frame-page.ts")).createFramePages(config));
  const hidden = { open: true, detail: { hide: true } } as const;
  return new Elysia({ name: "embed.pages" })
    .use(openRoutes)
    .get("/embed.js", async ({ request }) => (await import("./script.ts")).scriptResponse(request), hidden)
    .get("/embed/~preview", async ({ request }) => (await pages()).preview(request), hidden)
    .get(
      "/embed/:agent",
      async ({ params: { agent }, request }) => (await pages()).framePage(await embeddings.find(agent), request),
      hidden,
    );
}
