// The WebSocket endpoints, in words: OpenAPI knows only the request that opens them.
import type { OpenApiDocument } from "./document.ts";
import { mayAnswer } from "./told.ts";

const GATEWAY = `A WebSocket (RFC 6455). Ask for the subprotocol \`berth.v1\`; each frame is one JSON object with a \`type\`.

The client sends:

- \`{ "type": "chat", "id", "message", "sessionId"? }\`: a message; \`id\` is yours and comes back with every frame of the reply. At most 16 are answered at once.
- \`{ "type": "cancel", "id" }\`: stop the reply to this message.
- \`{ "type": "ping" }\`

The server sends:

- \`{ "type": "status", "status", "agentId", "name" }\`: first of all
- \`{ "type": "delta", "id", … }\`: the reply as it grows
- \`{ "type": "tool", "id", … }\`: a skill at work
- \`{ "type": "reply", "id", "sessionId", "reply", … }\`: the reply, whole; it is settled
- \`{ "type": "error", "id", "error", "message", "code" }\`
- \`{ "type": "pong" }\`

A socket that may not be here, or no longer (signed out, agent removed), is closed with 4401; at shutdown with 1001.`;

/** Paths that are not among the routes of the web surface. */
export const sockets = {
  "/agent/{id}": {
    get: {
      operationId: "getAgentGateway",
      tags: ["Interaction"],
      summary: "The gateway: talk to an agent over a WebSocket",
      description: GATEWAY,
      security: [{ session: [] as string[] }],
      parameters: [
        {
          name: "id",
          in: "path",
          required: true,
          description: "An agent of yours, or your user id for the current one",
          schema: { type: "string" as const },
        },
        {
          name: "sec-websocket-protocol",
          in: "header",
          description: "`berth.v1`",
          schema: { type: "string" as const },
        },
      ],
      ...mayAnswer({ 400: "UPGRADE_FAILED", 404: "NOT_FOUND" }),
      responses: { 101: { description: "The socket is open; a refused one is closed at once with 4401." } },
    },
  },
} satisfies OpenApiDocument["paths"];
