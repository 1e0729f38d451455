// The backend route that stores messages of clients. Only the web surface calls it.
import { Elysia } from "elysia";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { ClientMessages } from "./client-messages.ts";
import { createLargeBodyGate } from "./large-bodies.ts";
import { acceptedMessage, clientMessageBody } from "./model.ts";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards">;
  messages: ClientMessages;
}

export function backendRoutes({ agents, messages }: Deps) {
  const gate = createLargeBodyGate();
  return new Elysia({ name: "client-chats.backend" })
    .use(agents.guards)
    .post(
      "/api/agents/:id/clients/messages",
      async ({ agent, body, status }) => status(202, await messages.accept(agent, body)),
      {
        agentCall: { action: "agent.chat", scope: "chat", large: gate.acquire },
        afterResponse: ({ request }) => gate.release(request),
        body: clientMessageBody,
        response: { 202: acceptedMessage },
        detail: {
          tags: ["Conversations"],
          summary: "Store a message of a client once, by a key of its own",
          description: "A repeated message gets the turn of the first one, unless that failed or was cancelled.",
          operationId: "storeClientMessage",
          ...documentErrors({
            400: ["SESSION_ELSEWHERE", "TOO_MANY_ATTACHMENTS"],
            404: ["CONVERSATION_NOT_FOUND", "UPLOAD_NOT_FOUND"],
            409: ["AGENT_STOPPED", "AGENT_FROZEN"],
            413: ["BODY_TOO_LARGE", "UPLOAD_TOO_LARGE", "UPLOAD_QUOTA_EXCEEDED"],
            429: ["TOO_MANY_WAITING", "TOO_MANY_UPLOADS"],
            500: "UPLOAD_NOT_STORED",
            503: "STOPPING",
          }),
        },
      },
    );
}
