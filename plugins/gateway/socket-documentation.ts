// Documents the gateway's WebSocket protocol in the OpenAPI document, which itself describes only the opening request.
import type { OpenApiDocument } from "../../src/kernel/http/openapi/document.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { gatewayFrame } from "./socket-frames.ts";

const GATEWAY_DESCRIPTION = `A WebSocket (RFC 6455). Ask for the subprotocol \`berth.v1\`; each frame is one JSON object with a \`type\`, of at most 1 MiB.

Whoever holds the agent's token (\`GET /api/agents/:id/token\`) comes in with it, as \`Authorization: Bearer …\` or, where headers can't be sent, as one more subprotocol \`berth.token.<token>\`, which is never confirmed; from whatever origin. A page of Berth's own comes in with the session cookie of the agent's owner. A token decides alone, whatever cookie is beside it.

The client sends \`chat\`, \`cancel\` and \`ping\`. The server sends \`status\` first of all, then \`delta\`, \`tool\`, \`file\` and \`reply\` or \`error\` for each message, a \`log\` for each line of the agent's log, and \`pong\`. The schema \`GatewayFrame\` has the fields of all.

A socket that may not be here, or no longer (signed out, token replaced, agent removed), is closed with 4401, and that of somebody who comes or sends too much with 4429: try again later; at shutdown with 1001.`;

const AGENT = "01990000-0000-7000-8000-000000000001";
/** A message and what comes back. A test compares the members with those of a real socket. */
export const exampleFrames = {
  status: { type: "status", status: "running", reason: null, agentId: AGENT, name: "Harbour" },
  chat: { type: "chat", id: "1", message: "When does the ferry leave?" },
  delta: { type: "delta", id: "1", text: "At nine." },
  reply: {
    type: "reply",
    id: "1",
    inboxId: "01990000-0000-7000-8000-000000000002",
    agentId: AGENT,
    sessionId: "sess_0000000000000001",
    reply: "At nine.",
    timestamp: 1_768_471_200_000,
  },
};

export const socketDocumentation = {
  "/agent/{id}": {
    get: {
      operationId: "connectGateway",
      tags: ["Gateway"],
      summary: "The gateway: talk to an agent over a WebSocket",
      description: GATEWAY_DESCRIPTION,
      security: [{ session: [] as string[] }, { gatewayToken: [] as string[] }],
      parameters: [
        {
          name: "id",
          in: "path",
          required: true,
          description: "An agent of yours, or your user id for the current one; with a token, for the token's agent",
          schema: { type: "string" as const },
        },
        {
          name: "sec-websocket-protocol",
          in: "header",
          description: "`berth.v1`, and beside it `berth.token.<token>` where the token can't go as a header",
          schema: { type: "string" as const },
        },
      ],
      ...documentErrors({ 400: "UPGRADE_FAILED", 404: "NOT_FOUND" }),
      responses: {
        101: {
          description:
            "The socket is open; a refused one is closed at once with 4401. The content is that of one frame.",
          content: {
            "application/json": {
              schema: gatewayFrame,
              examples: Object.fromEntries(Object.entries(exampleFrames).map(([name, value]) => [name, { value }])),
            },
          },
        },
      },
    },
  },
} satisfies OpenApiDocument["paths"];
