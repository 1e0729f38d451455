// A configuration on the wire, byte for byte both ways: no serializer keeps key order, `__proto__` and numbers as they came.
import { invalidInput } from "../../../src/kernel/errors.ts";
import { rawJsonMember } from "../../../src/kernel/util/json-text.ts";

/** `{ config, status }` with the text as it is. The text must be valid JSON. */
export const configResponse = (text: string, status: "ok" | "updated"): Response =>
  new Response(`{"config":${text},"status":"${status}"}`, {
    headers: { "content-type": "application/json;charset=utf-8" },
  });

const anyObject = { type: "object" as const, additionalProperties: true };

/** What can't be said by a schema that would also read the body: the routes' part of the OpenAPI document. */
export const configRequestDocs = {
  required: true,
  description: "Any JSON object of up to 64 KiB, without secrets. It is kept and given back byte for byte.",
  content: { "application/json": { schema: anyObject } },
};
/** What a configuration is refused with. */
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

/** The configuration in the `config` of a body; null counts as left out. 400 `INVALID_CONFIG` for what is no object. */
export function extractConfigText(bodyText = "{}"): string | undefined {
  const text = rawJsonMember(bodyText, "config");
  if (text === undefined || text === "null") return undefined;
  if (!text.startsWith("{")) {
    throw invalidInput({ path: "config", message: "A configuration is a JSON object." }, "INVALID_CONFIG");
  }
  return text;
}
