// Reads and writes configurations in bodies byte for byte: a JSON serializer would change key order, `__proto__` and
// numbers.
import { invalidInput } from "../../../src/kernel/errors.ts";
import { rawJsonMember } from "../../../src/kernel/util/json-text.ts";

/** The response `{ config, status }` with the text unchanged. The text must be valid JSON. */
export const configResponse = (text: string, status: "ok" | "updated"): Response =>
  new Response(`{"config":${text},"status":"${status}"}`, {
    headers: { "content-type": "application/json;charset=utf-8" },
  });

const anyObject = { type: "object" as const, additionalProperties: true };

/** The request body in the OpenAPI document; written by hand, since a schema on the route would also parse the body. */
export const configRequestDocs = {
  required: true,
  description: "Any JSON object of up to 64 KiB, without secrets. It is stored and returned byte for byte.",
  content: { "application/json": { schema: anyObject } },
};
/** The error codes of a configuration by status, for the API document. */
export const configErrors = {
  400: ["INVALID_CONFIG", "CONFIG_TOO_LARGE", "SECRET_IN_CONFIG"],
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
          properties: { config: anyObject, status: { type: "string" as const, enum: [status] } },
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
