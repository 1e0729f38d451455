// The JSON Schema of configurations, made of the rows that validate them.
import type { Schema } from "../../../src/kernel/http/openapi/document.ts";
import { SETTINGS } from "./settings.ts";
import { schemasOf } from "./value-readers.ts";

/** The schema of a whole configuration, with an example of each known key. */
export function configSchema(): Schema {
  const properties = schemasOf(SETTINGS);
  return {
    title: "AgentConfig",
    type: "object",
    description:
      "Any JSON object of up to 64 KiB, without secrets. These are the keys that Berth reads; others are stored.",
    properties,
    additionalProperties: true,
    examples: [Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, exampleOf(schema)]))],
  };
}

/** The first example in a setting's description. */
export const exampleOf = ({ examples }: Schema): unknown => (Array.isArray(examples) ? examples[0] : undefined);
