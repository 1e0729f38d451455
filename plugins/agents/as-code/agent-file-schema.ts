// The JSON Schema of agent.json for editors, made of the rows that validate the file.
import type { Schema } from "../../../src/kernel/http/openapi/document.ts";
import { schemasOf } from "../configuration/value-readers.ts";
import { AGENT_FILE } from "./agent-file.ts";

/** Where every Berth serves the schema. */
export const SCHEMA_PATH = "/schemas/agent.json";

/** @param origin of the service, for the schema's own address */
export const agentFileSchema = (origin: string): Schema => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: `${origin}${SCHEMA_PATH}`,
  title: "Berth agent",
  description: "An agent as a file, for `berth deploy` and `berth pull`.",
  type: "object",
  properties: {
    $schema: { type: "string", description: "The address of this schema, for editors." },
    ...closed(schemasOf(AGENT_FILE)),
  },
  required: ["name"],
  additionalProperties: false,
});

/** Members of the file itself that are not listed are mistakes; a configuration may have others. */
function closed(properties: Record<string, Schema>): Record<string, Schema> {
  const { channels, ...others } = properties;
  if (!channels) return properties;
  const close = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(close);
    if (typeof schema !== "object" || schema === null) return schema;
    const inner = Object.fromEntries(
      Object.entries(schema).map(([key, of]) => [key, key === "examples" ? of : close(of)]),
    );
    return "properties" in schema ? { ...inner, additionalProperties: false } : inner;
  };
  return { ...others, channels: Object(close(channels)) };
}
