// Defines the schemas of the MCP server's routes.
import { t } from "elysia";

/** A message of JSON-RPC 2.0; the library checks it. */
export const message = t.Any({
  description: "A message of JSON-RPC 2.0",
  examples: [{ jsonrpc: "2.0", id: 1, method: "tools/list" }],
});

/** A refusal by the library, which knows no other form. */
const protocolError = t.Object(
  {
    jsonrpc: t.Literal("2.0"),
    id: t.Union([t.String(), t.Number(), t.Null()]),
    error: t.Object({ code: t.Integer(), message: t.String(), data: t.Optional(t.Unknown()) }),
  },
  { title: "McpError", description: "An error of JSON-RPC 2.0" },
);
const json = (schema: object) => ({ "application/json": { schema } });
const NOT_ACCEPTABLE =
  "The protocol's answers are not accepted: `accept` has to name application/json and text/event-stream.";

/** For the API document: the errors in the form of the protocol. 400 is in Berth's form if the body is no JSON. */
export const protocolErrors = {
  400: {
    description:
      "The body is no JSON (`INVALID_JSON`, `INVALID_TEXT`, `JSON_TOO_DEEP`), or no message of the protocol.",
    "x-error-codes": ["INVALID_JSON", "INVALID_TEXT", "JSON_TOO_DEEP"],
    content: json({ anyOf: [{ $ref: "#/components/schemas/Error" }, protocolError] }),
  },
  406: { description: NOT_ACCEPTABLE, content: json(protocolError) },
};

const list = t.Array(t.String());
export const resourceMetadata = t.Object({
  resource: t.String(),
  authorization_servers: list,
  scopes_supported: list,
  bearer_methods_supported: list,
  resource_name: t.String(),
});
export const serverMetadata = t.Object({
  issuer: t.String(),
  authorization_endpoint: t.String(),
  token_endpoint: t.String(),
  registration_endpoint: t.String(),
  revocation_endpoint: t.String(),
  response_types_supported: list,
  response_modes_supported: list,
  grant_types_supported: list,
  code_challenge_methods_supported: list,
  token_endpoint_auth_methods_supported: list,
  revocation_endpoint_auth_methods_supported: list,
  scopes_supported: list,
  client_id_metadata_document_supported: t.Boolean(),
  authorization_response_iss_parameter_supported: t.Boolean(),
});

export const assistantMessageBody = t.Object({
  message: t.String({
    minLength: 1,
    maxLength: 100_000,
    error: "Give a message of 1 to 100000 characters.",
    examples: ["What is on for today?"],
  }),
  conversation: t.Optional(t.String({ maxLength: 64, description: "Goes on with this conversation" })),
  trusted: t.Boolean({ description: "The owner's own words" }),
});
export const assistantTurn = t.Object({ turnId: t.String(), conversationId: t.String() });
export const assistantFactBody = t.Object({
  text: t.String({ minLength: 1, maxLength: 2_000, error: "Give a fact of 1 to 2000 characters." }),
  trusted: t.Boolean({ description: "The owner's own words" }),
});
export const assistantFact = t.Object({ id: t.String(), known: t.Boolean() });
export const assistantScheduleBody = t.Object({
  prompt: t.String({ minLength: 1, maxLength: 16_384, error: "Say what the agent does." }),
  cron: t.Optional(t.String({ maxLength: 200 })),
  at: t.Optional(t.String({ maxLength: 64 })),
  timezone: t.Optional(t.String({ maxLength: 64 })),
  trusted: t.Boolean({ description: "The owner's own words" }),
});
export const assistantSchedule = t.Object({
  id: t.String(),
  words: t.String(),
  nextRunAt: t.Union([t.String(), t.Null()]),
});
