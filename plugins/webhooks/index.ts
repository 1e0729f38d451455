// Webhooks and the stream of events: what happened, sent to whoever asked for it.
import { AppError } from "../../src/errors.ts";
import { createOutbound } from "../../src/outbound.ts";
import { plugin } from "../../src/plugin.ts";
import { auth } from "../auth/index.ts";
import { createAttempt } from "./attempt.ts";
import { createAudience } from "./audience.ts";
import { createDeliveries } from "./deliveries.ts";
import { createDispatcher } from "./dispatcher.ts";
import { resealEarlier } from "./earlier-secrets.ts";
import { createEndpoints, forgetEndpoints } from "./endpoints.ts";
import { createFeed } from "./feed.ts";
import { WAKE, webRoutes } from "./routes.ts";
import { createSender } from "./sender.ts";

const HOUR = 3_600_000;
/** Where processes share a server: how often to look for deliveries that one of them left behind. */
const LEFT_BEHIND_MS = 30_000;

export const webhooks = plugin("webhooks", (host) => {
  const { kernel } = host;
  const { database, jobs, log, metrics } = kernel;
  const accounts = host.use(auth);
  const { identities } = accounts;
  const now = Date.now;
  const shared = database.file === undefined;

  kernel.resealing.offer({
    what: "webhooks",
    table: "webhook_endpoints",
    names: ["id"],
    sealed: "secret",
    placeOf: ({ id }) => `webhook:${id}`,
  });
  kernel.resealing.offerOther("webhooks", () => resealEarlier({ ...kernel, now }));
  const endpoints = createEndpoints({ ...kernel, now, changed: () => dispatcher.wake() });
  const audience = createAudience({ ...kernel, ...accounts });
  const deliveries = createDeliveries({ database, endpoints, audience, now });
  const attempts = metrics.counter("berth_webhook_attempts_total", "Attempts to deliver an event.", ["outcome"]);
  const trusted = createOutbound({ allow: ["0.0.0.0/0", "::/0"], log });
  const sender = createSender({
    log,
    deliveries,
    attempt: createAttempt({ outbound: kernel.outbound, trusted, now }),
    now,
    tried: (outcome) => attempts.labels({ outcome }).inc(),
  });
  const dispatcher = createDispatcher({ ...kernel, deliveries, audience, kick: sender.kick, now });
  const feed = createFeed({ ...kernel, ...accounts });
  let leftBehind: Timer | undefined;

  accounts.onTakeover((userId) => [forgetEndpoints(userId)]);
  jobs.handle(WAKE, async (payload) => sender.kick(endpointOf(payload), true));
  jobs.every("webhooks.prune", HOUR, deliveries.prune);

  async function sendWaiting(): Promise<void> {
    for (const endpointId of await deliveries.waiting()) sender.kick(endpointId);
  }

  return {
    service: {},
    web: webRoutes({ ...kernel, identities, endpoints, deliveries, audience, feed }),
    // None; but streams are like them: they are ended at a stop also where no background work runs.
    sockets: [],
    async start() {
      await database.write(endpoints.settleOperator());
      if (!shared) await deliveries.releaseAll();
      await sendWaiting();
      dispatcher.start();
      if (!shared) return;
      const look = () =>
        void sendWaiting().catch((error: unknown) => log.warn("Webhooks could not be read; trying again.", { error }));
      leftBehind = setInterval(look, LEFT_BEHIND_MS).unref();
    },
    async stop() {
      feed.close();
      clearInterval(leftBehind);
      await dispatcher.stop();
      await sender.stop();
    },
  };
});

function endpointOf(payload: unknown): string {
  if (typeof payload === "object" && payload !== null && "endpointId" in payload) return String(payload.endpointId);
  throw new AppError(500, "INTERNAL", "A job names no endpoint.");
}
