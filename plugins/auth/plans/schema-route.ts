// Serves the JSON Schema of plans.json, at an address that editors keep.
import { Elysia } from "elysia";
import type { Config } from "../../../src/kernel/config/config.ts";
import { openRoutes } from "../../../src/kernel/http/route-guards.ts";
import { once } from "../../../src/kernel/util/cache.ts";

export function plansSchemaRoute({ baseUrl }: Pick<Config, "baseUrl">) {
  const text = once(async () => {
    const { plansSchema } = await import("./plans-schema.ts");
    return JSON.stringify(plansSchema(new URL(baseUrl).origin));
  });
  return new Elysia({ name: "auth.plans-schema" }).use(openRoutes).get(
    "/schemas/plans.json",
    async () =>
      new Response(await text(), {
        headers: {
          "content-type": "application/schema+json",
          "cache-control": "public, max-age=3600",
          // Editors in a browser read it from their own origin.
          "access-control-allow-origin": "*",
        },
      }),
    {
      open: true,
      detail: {
        tags: ["Accounts"],
        summary: "The JSON Schema of plans.json, the operator's table of plans",
        description: "An editor that finds this address in the file's `$schema` completes and checks the file.",
        operationId: "getPlansFileSchema",
        responses: {
          200: {
            description: "The schema",
            content: { "application/schema+json": { schema: { type: "object" as const } } },
          },
        },
      },
    },
  );
}
