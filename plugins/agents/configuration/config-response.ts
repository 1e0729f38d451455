// Reads and writes configurations in bodies byte for byte: a JSON serializer would change key order, `__proto__` and
// numbers.
import { t } from "elysia";
import { type Issue, invalidInput } from "../../../src/kernel/errors.ts";
import { documentedAs } from "../../../src/kernel/http/openapi/schema-simplifier.ts";
import { rawJsonMember } from "../../../src/kernel/util/json-text.ts";
import { configSchema } from "./config-schema.ts";

const WARNINGS_DESCRIPTION =
  "What was accepted and has no effect: each with its path, which for a key of the configuration begins in the configuration. Left out if there is nothing to name";
/** What has no effect, in an answer. Left out if there is nothing to name. */
export const warningsField = t.Optional(
  t.Array(t.Object({ path: t.String(), message: t.String() }), {
    description: WARNINGS_DESCRIPTION,
  }),
);

/** The member `warnings` of an answer; none without warnings. */
export const warningsMember = (warnings: Issue[]) => (warnings.length > 0 ? { warnings } : {});

/** The response `{ config, status, warnings? }` with the text unchanged. The text must be valid JSON. */
export function configResponse(text: string, status: "ok" | "updated", warnings: Issue[] = []): Response {
  const named = warnings.length > 0 ? `,"warnings":${JSON.stringify(warnings)}` : "";
  return new Response(`{"config":${text},"status":"${status}"${named}}`, {
    headers: { "content-type": "application/json;charset=utf-8" },
  });
}

/** The same for the responses that are described by hand. */
const warningsDocs = {
  type: "array" as const,
  description: WARNINGS_DESCRIPTION,
  items: {
    type: "object" as const,
    required: ["path", "message"],
    properties: { path: { type: "string" as const }, message: { type: "string" as const } },
  },
};

/** A member that holds a configuration. The text of the body is what is validated and stored, not the parsed value. */
export const configField = () => t.Optional(t.Any(documentedAs(configSchema())));

/** The request body in the OpenAPI document; written by hand, since a schema on the route would also parse the body. */
export const configRequestDocs = () => ({
  required: true,
  description:
    "It is stored and returned byte for byte. A known key with a value that is not allowed is refused; unknown keys are " +
    "stored, and named in `warnings` of the answer.",
  content: { "application/json": { schema: configSchema() } },
});
/** The error codes of a configuration by status, for the API document. */
export const configErrors = {
  400: ["INVALID_CONFIG", "CONFIG_TOO_LARGE", "SECRET_IN_CONFIG", "INVALID_SCHEDULE"],
  409: "OPERATION_IN_PROGRESS",
};

export const configResponseDocs = (status: "ok" | "updated") => ({
  200: {
    description: "The configuration, exactly as it was given",
    content: {
      "application/json": {
        schema: {
          type: "object" as const,
          required: ["config", "status"],
          properties: {
            config: configSchema(),
            status: { type: "string" as const, enum: [status] },
            ...(status === "updated" && { warnings: warningsDocs }),
          },
        },
      },
    },
  },
});

/**
 * The text of the member `config` of a body; undefined if it is missing or null. 400 `INVALID_CONFIG` if it is no
 * object.
 */
export function extractConfigText(bodyText = "{}"): string | undefined {
  const text = rawJsonMember(bodyText, "config");
  if (text === undefined || text === "null") return undefined;
  if (!text.startsWith("{")) {
    throw invalidInput({ path: "config", message: "A configuration is a JSON object." }, "INVALID_CONFIG");
  }
  return text;
}
