// The routes for an app of a platform as a whole: its address is proven here, and what is posted to it is dropped.

import { Elysia, t } from "elysia";
import type { AppWebhook } from "../../../channels/definition.ts";
import { channelDefinition, isChannelId } from "../../../channels/registry.ts";
import { notFound, unauthorized } from "../../../src/kernel/errors.ts";
import { documentErrors, documentGuard } from "../../../src/kernel/http/openapi/route-documentation.ts";

const detail = { tags: ["Channels"], ...documentGuard([]) };

export const appWebhookRoutes = () =>
  new Elysia({ name: "channels.app-webhook" })
    .get(
      "/hooks/:channel",
      ({ params, query }) => {
        const answer = requireAppWebhook(params.channel).answer(new URLSearchParams(query));
        if (answer === undefined) throw unauthorized("This is not the verification that the platform sends.");
        return new Response(answer, { headers: { "content-type": "text/plain; charset=utf-8" } });
      },
      {
        query: t.Record(t.String(), t.String()),
        detail: {
          ...detail,
          ...documentErrors({ 401: "UNAUTHORIZED", 404: "NOT_FOUND" }),
          responses: { 200: { description: "The platform's challenge, as text" } },
          summary: "Answer a platform's verification of an app's address",
          operationId: "verifyAppAddress",
          description:
            "WhatsApp wants one address for an app before each account can have its own. `GET /api/channels` names it.",
        },
      },
    )
    .post(
      "/hooks/:channel",
      ({ params }) => {
        requireAppWebhook(params.channel);
        return new Response(null, { status: 200 });
      },
      {
        // Not even read: it belongs to no bot.
        parse: "none",
        detail: {
          ...detail,
          ...documentErrors({ 404: "NOT_FOUND" }),
          requestBody: { description: "The platform's own form", content: { "application/json": { schema: {} } } },
          responses: { 200: { description: "Dropped; the platform reads only the status" } },
          summary: "Drop what a platform posts for an app as a whole",
          description:
            "The platform is answered 200, so that it does not send the post again. Posts for a bot go to the address of the bot.",
          operationId: "ignoreAppPost",
        },
      },
    );

function requireAppWebhook(channel: string): AppWebhook {
  const webhook = isChannelId(channel) ? channelDefinition(channel).appWebhook : undefined;
  if (!webhook) throw notFound("There is no such address of a platform.");
  return webhook;
}
