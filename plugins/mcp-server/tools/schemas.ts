// Turns TypeBox schemas into the plain JSON schemas that the library takes.
import type { JsonSchemaType } from "@modelcontextprotocol/server";
import type { TObject } from "@sinclair/typebox";

export const schemaOf = (schema: TObject): JsonSchemaType => ({
  ...JSON.parse(JSON.stringify(schema)),
  additionalProperties: false,
});
