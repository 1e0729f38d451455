// Serves the JSON Schema of a file that people write, at an address that their editors keep.
import { Elysia } from "elysia";
import { once } from "../../util/cache.ts";
import { openRoutes } from "../route-guards.ts";

interface SchemaFile {
  /** Of the route, such as `/schemas/agent.json`. */
  path: string;
  tag: string;
  summary: string;
  operationId: string;
  /** Makes the schema when it is first asked for. */
  schema(): Promise<object>;
}

export function schemaFileRoute({ path, tag, summary, operationId, schema }: SchemaFile) {
  const text = once(async () => JSON.stringify(await schema()));
  return new Elysia({ name: `schema-file.${path}` }).use(openRoutes).get(
    path,
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
        tags: [tag],
        summary,
        description: "An editor that finds this address in the file's `$schema` completes and checks the file.",
        operationId,
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
