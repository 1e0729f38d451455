// The routes to which platforms post what bots receive: on the web, and on the backend for a web surface in another process.
import { Elysia } from "elysia";
import { documentErrors, documentGuard } from "../../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { auth } from "../../auth/index.ts";
import { appWebhookRoutes } from "./app-webhook-routes.ts";
import { type IncomingWebhooks, RECEIVE_ACTION } from "./incoming-webhooks.ts";

interface Deps {
  identities: Pick<ServiceOf<typeof auth>["identities"], "authorize">;
  incomingWebhooks: IncomingWebhooks;
}

/** Describes the route for posts, whose form each platform defines. */
const postDetail = {
  tags: ["Channels"],
  ...documentGuard([]),
  ...documentErrors({ 401: "UNAUTHORIZED", 404: "NOT_FOUND", 409: "AGENT_STOPPED" }),
  requestBody: { description: "The platform's own form", content: { "application/json": { schema: {} } } },
  responses: { 200: { description: "Received; the platform reads only the status" } },
};

/** Describes the route by which platforms verify an address. */
const verificationDetail = {
  tags: ["Channels"],
  ...documentGuard([]),
  ...documentErrors({ 401: "UNAUTHORIZED", 404: "NOT_FOUND", 409: "AGENT_STOPPED" }),
  responses: { 200: { description: "The platform's challenge, as text" } },
};

export function webhookRoutes({ identities, incomingWebhooks }: Deps) {
  const web = new Elysia({ name: "channels.webhooks" })
    .use(appWebhookRoutes())
    // No guard and no schema: the address and the headers prove the sender, and the adapter parses the body.
    .post(
      "/hooks/:channel/:callbackId",
      ({ request, params }) => incomingWebhooks.receiveOrForward(request, params.channel, params.callbackId),
      {
        parse: "none",
        detail: {
          ...postDetail,
          summary: "Receive a platform's post for a bot",
          description:
            "Each bot has its own address. The post's signature is checked against the secret of the bot; what it holds becomes a message for the agent.",
          operationId: "receiveBotPost",
        },
      },
    )
    .get(
      "/hooks/:channel/:callbackId",
      ({ request, params }) => incomingWebhooks.receiveOrForward(request, params.channel, params.callbackId),
      {
        detail: {
          ...verificationDetail,
          summary: "Answer a platform's verification of an address",
          description: "Returns the platform's challenge if the token that it sends is that of the bot.",
          operationId: "verifyBotAddress",
        },
      },
    );

  const backend = new Elysia({ name: "channels.webhooks.backend" })
    .post(
      "/api/hooks/:channel/:callbackId",
      async ({ request, params }) => {
        await identities.authorize(request, RECEIVE_ACTION);
        return incomingWebhooks.receive(request, params.channel, params.callbackId);
      },
      {
        parse: "none",
        detail: {
          ...postDetail,
          security: [{ serviceToken: [] }],
          summary: "Receive a platform's post that the web surface forwards",
          description: "With two roles, the web surface passes on here what platforms post to it.",
          operationId: "receiveBotPost",
        },
      },
    )
    .get(
      "/api/hooks/:channel/:callbackId",
      async ({ request, params }) => {
        await identities.authorize(request, RECEIVE_ACTION);
        return incomingWebhooks.receive(request, params.channel, params.callbackId);
      },
      {
        detail: {
          ...verificationDetail,
          security: [{ serviceToken: [] }],
          summary: "Answer a platform's verification of an address that the web surface forwards",
          description: "With two roles, the web surface passes on here what platforms ask of it.",
          operationId: "verifyBotAddress",
        },
      },
    );

  return { web, backend };
}
