// Serves the JSON Schema of agent.json, at an address that editors keep.
import { Elysia } from "elysia";
import type { Config } from "../../../src/kernel/config/config.ts";
import { openRoutes } from "../../../src/kernel/http/route-guards.ts";
import { once } from "../../../src/kernel/util/cache.ts";

export function agentFileSchemaRoute({ baseUrl }: Pick<Config, "baseUrl">) {
  const text = once(async () => {
    const { agentFileSchema } = await import("./agent-file-schema.ts");
    return JSON.stringify(agentFileSchema(new URL(baseUrl).origin));
  });
  return new Elysia({ name: "agents.file-schema" }).use(openRoutes).get(
    "/schemas/agent.json",
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
        tags: ["Agents"],
        summary: "The JSON Schema of agent.json, the file of `berth deploy`",
        description: "An editor that finds this address in the file's `$schema` completes and checks the file.",
        operationId: "getAgentFileSchema",
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
