// What platforms post: found by the secret part of its address, limited per bot, and handed to the adapter unread.
import { timingSafeEqual } from "node:crypto";
import type { ChannelId } from "../../channels/channel.ts";
import type { Grant } from "../../src/backend.ts";
import { AppError, notFound } from "../../src/errors.ts";
import { contextOf } from "../../src/http.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { Figures } from "../figures/index.ts";
import { isChannelId } from "./adapters.ts";
import { keyOf } from "./callbacks.ts";
import type { Intake } from "./intake.ts";
import type { Lines } from "./lines.ts";

/** What a service token for a post names. */
export const RECEIVE = "channel.receive";
/** A callback's id, and the key behind it where the address proves who posts. */
const CALLBACK = /^([\w-]{32})([\w-]{32})?$/;
/** Of no use to the backend, or not to be passed on. */
const OWN_HEADERS = ["authorization", "cookie", "host", "connection", "content-length", "transfer-encoding"];

export interface Hooks {
  /** One request of a platform, where the backend runs. */
  receive(request: Request, channel: string, callbackId: string): Promise<Response>;
  /** One request on the web surface: received here where that is possible, else passed on to the backend. */
  arrive(request: Request, channel: string, callbackId: string): Promise<Response>;
}

interface Deps extends Pick<Kernel, "config" | "limits" | "backend"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  lines: Lines;
  intake: Intake;
  traffic: Figures["traffic"];
}

export function createHooks({ agents, lines, intake, traffic, config, limits, backend }: Deps): Hooks {
  /** Whoever posts to an address that is nobody's, or without its secret, is limited as anybody else. */
  function stranger(request: Request): void {
    const decision = limits.take("default", contextOf(request).address);
    if (!decision.allowed) throw limits.refusal(decision);
  }

  function requireAddress(request: Request, channel: string, callbackId: string): ChannelId {
    if (isChannelId(channel) && CALLBACK.test(callbackId)) return channel;
    stranger(request);
    throw noSuchHook();
  }

  async function receive(request: Request, channel: string, callbackId: string): Promise<Response> {
    requireAddress(request, channel, callbackId);
    const [, id = "", key = ""] = CALLBACK.exec(callbackId) ?? [];
    const line = await lines.byCallback(id);
    const posts = line?.mode === "webhook" ? line.channel.posts : undefined;
    const isKnown =
      line?.connection.channel === channel && isSame(key, posts?.provenByAddress ? keyOf(line.secret) : "");
    if (!line || !posts || !isKnown) {
      stranger(request);
      throw noSuchHook();
    }
    const wait = config.rateLimits.enabled ? line.posts.take() : 0;
    if (wait > 0) {
      const headers = { "retry-after": String(Math.ceil(wait / 1000)) };
      throw new AppError(429, "RATE_LIMITED", "Too many posts for this bot. Send it again later.", {}, { headers });
    }
    const agent = await agents.find(line.connection.agentId);
    if (!agent || agent.status === "stopped") {
      throw new AppError(409, "AGENT_STOPPED", "This agent is stopped. Send it again later.");
    }
    traffic(agent.id, 0, Number(request.headers.get("content-length") ?? 0) || 0);
    const response = await posts.receive(line.binding, line.secret, request, intake.sinkOf(line));
    if (response.status === 401) stranger(request);
    return response;
  }

  return {
    receive,

    async arrive(request, channel, callbackId) {
      if (config.role !== "web") return receive(request, channel, callbackId);
      requireAddress(request, channel, callbackId);
      const { address } = contextOf(request);
      const grant: Grant = { userId: "", isAdmin: false, action: RECEIVE, address };
      const headers = new Headers(request.headers);
      for (const name of OWN_HEADERS) headers.delete(name);
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

/** In a time that does not depend on what is in them. */
const isSame = (given: string, known: string) =>
  given.length === known.length && timingSafeEqual(Buffer.from(given), Buffer.from(known));

const noSuchHook = () => notFound("Nothing is posted to here.", "NOT_FOUND");
