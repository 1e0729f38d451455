// Receives the posts of platforms: finds the bot by the callback id, limits posts per bot, and lets the adapter read
// them.
import { timingSafeEqual } from "node:crypto";
import type { ChannelId } from "../../../channels/port.ts";
import { channelDefinition, isChannelId } from "../../../channels/registry.ts";
import { AppError, notFound } from "../../../src/kernel/errors.ts";
import type { Grant } from "../../../src/kernel/http/backend/service-tokens.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { AgentStatsService } from "../../agent-stats/index.ts";
import { type agents as agentsPlugin, takesMessages } from "../../agents/index.ts";
import type { MessageIntake } from "../access/message-intake.ts";
import type { OpenConnections } from "../connections/open-connections.ts";
import { urlKeyOf } from "./webhook-urls.ts";

/** The action in the service token of a forwarded post. */
export const RECEIVE_ACTION = "channel.receive";
/** A callback's id, followed by a key if the address proves the sender. */
const CALLBACK_PATTERN = /^([\w-]{32}(?:~[\w-]{2})?)([\w-]{32})?$/;
/** Headers that the backend does not need or must not get. */
const UNFORWARDED_HEADERS = ["authorization", "cookie", "host", "connection", "content-length", "transfer-encoding"];

export interface IncomingWebhooks {
  /** Handles a request of a platform in the process of the backend. */
  receive(request: Request, channel: string, callbackId: string): Promise<Response>;
  /** Handles a request on the web surface: here if the backend runs in this process, else by forwarding it. */
  receiveOrForward(request: Request, channel: string, callbackId: string): Promise<Response>;
}

interface Deps extends Pick<Kernel, "config" | "limits" | "backend"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  openConnections: OpenConnections;
  intake: MessageIntake;
  traffic: AgentStatsService["recordTraffic"];
}

export function createIncomingWebhooks({
  agents,
  openConnections,
  intake,
  traffic,
  config,
  limits,
  backend,
}: Deps): IncomingWebhooks {
  /** Applies the default limit to posts with an unknown address or a wrong secret. */
  function limitUnknownSender(request: Request): void {
    const decision = limits.take("default", contextOf(request).address);
    if (!decision.allowed) throw limits.tooManyRequests(decision);
  }

  function requireAddress(request: Request, channel: string, callbackId: string): ChannelId {
    if (isChannelId(channel) && CALLBACK_PATTERN.test(callbackId)) return channel;
    limitUnknownSender(request);
    throw webhookNotFound();
  }

  async function receive(request: Request, channel: string, callbackId: string): Promise<Response> {
    const { capabilities } = channelDefinition(requireAddress(request, channel, callbackId));
    const [, id = "", key = ""] = CALLBACK_PATTERN.exec(callbackId) ?? [];
    const openConnection = await openConnections.findByCallback(id);
    const webhook = openConnection?.mode === "webhook" ? openConnection.adapter.webhook : undefined;
    const isKnown =
      openConnection?.connection.channel === channel &&
      isEqualKey(key, capabilities.isAuthenticatedByUrl ? urlKeyOf(openConnection.secret) : "");
    if (!openConnection || !webhook || !isKnown) {
      limitUnknownSender(request);
      throw webhookNotFound();
    }
    const wait = config.rateLimits.enabled ? openConnection.rateLimiter.take() : 0;
    if (wait > 0) {
      const headers = { "retry-after": String(Math.ceil(wait / 1000)) };
      throw new AppError(429, "RATE_LIMITED", "Too many posts for this bot. Send it again later.", {}, { headers });
    }
    const agent = await agents.find(openConnection.connection.agentId);
    if (!agent || !takesMessages(agent)) {
      throw new AppError(409, "AGENT_STOPPED", "This agent is stopped. Send it again later.");
    }
    traffic(agent.id, 0, Number(request.headers.get("content-length") ?? 0) || 0);
    const response = await webhook.receive(
      openConnection.binding,
      openConnection.secret,
      request,
      intake.createSink(openConnection),
    );
    if (response.status === 401) limitUnknownSender(request);
    return response;
  }

  return {
    receive,

    async receiveOrForward(request, channel, callbackId) {
      if (config.role !== "web") return receive(request, channel, callbackId);
      requireAddress(request, channel, callbackId);
      const { address } = contextOf(request);
      const grant: Grant = { userId: "", isAdmin: false, action: RECEIVE_ACTION, address };
      const headers = new Headers(request.headers);
      for (const name of UNFORWARDED_HEADERS) headers.delete(name);
      const { method, body, signal } = request;
      const path = `/api/hooks/${channel}/${callbackId}${new URL(request.url).search}`;
      const answer = await backend.fetch(grant, path, { method, headers, body, signal });
      const type = answer.headers.get("content-type");
      return new Response(answer.body, {
        status: answer.status,
        headers: type === null ? {} : { "content-type": type },
      });
    },
  };
}

/** Compares in a time that does not depend on the content. */
const isEqualKey = (given: string, known: string) =>
  given.length === known.length && timingSafeEqual(Buffer.from(given), Buffer.from(known));

const webhookNotFound = () => notFound("No bot receives posts at this address.", "NOT_FOUND");
