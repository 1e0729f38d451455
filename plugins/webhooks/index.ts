// Webhooks and the event feed: deliver recorded events to registered addresses, and to API clients as server-sent events.
import { AppError } from "../../src/kernel/errors.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { retentionSettings } from "../../src/kernel/retention/settings.ts";
import { createOutbound } from "../../src/kernel/security/outbound.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { planSettings } from "../auth/settings.ts";
import { createDeliveries } from "./delivery/deliveries.ts";
import { deliveriesKind } from "./delivery/deliveries-retention.ts";
import { createDeliveryAttempt } from "./delivery/delivery-attempt.ts";
import { createDispatcher } from "./delivery/dispatcher.ts";
import { createFailureLines } from "./delivery/failure-lines.ts";
import { createSender, WAKE_JOB, wakeStatementOf } from "./delivery/sender.ts";
import { deleteEndpointsStatement } from "./endpoints/endpoint-statements.ts";
import { createEndpoints } from "./endpoints/endpoints.ts";
import { createEventAccess } from "./endpoints/event-access.ts";
import { operatorEndpointStatements } from "./endpoints/operator-endpoint.ts";
import { reencryptPreviousSecrets } from "./endpoints/previous-secrets.ts";
import { createEventFeed } from "./event-feed.ts";

export const webhooks = plugin("webhooks", (host) => {
  const { kernel } = host;
  const { database, jobs, log, metrics } = kernel;
  const authService = host.use(auth);
  const { identities } = authService;
  const now = Date.now;

  kernel.keyRotation.registerColumn({
    label: "webhooks",
    table: "webhook_endpoints",
    keyColumns: ["id"],
    sealed: "secret",
    sealContext: ({ id }) => `webhook:${id}`,
  });
  kernel.keyRotation.register("webhooks", {
    reseal: () => reencryptPreviousSecrets({ ...kernel, now }),
    findText: "SELECT 1 FROM webhook_endpoints WHERE instr(previous_secrets, ?1) > 0 LIMIT 1",
  });
  const endpoints = createEndpoints({ ...kernel, now, wakeStatement: wakeStatementOf(jobs) });
  const eventAccess = createEventAccess({ ...kernel, ...authService });
  const deliveries = createDeliveries({ database, endpoints, eventAccess, now });
  const attemptCounter = metrics.counter("berth_webhook_attempts_total", "Attempts to deliver an event.", ["outcome"]);
  const unrestrictedOutbound = createOutbound({ allow: ["0.0.0.0/0", "::/0"], log });
  const writeFailureLine = createFailureLines({ agents: host.use(agents) });
  const sender = createSender({
    log,
    deliveries,
    attempt: createDeliveryAttempt({ outbound: kernel.outbound, unrestrictedOutbound, now }),
    now,
    onAttempt(delivery, outcome) {
      attemptCounter.labels({ outcome: outcome.kind }).inc();
      writeFailureLine(delivery, outcome);
    },
  });
  const dispatcher = createDispatcher({ ...kernel, deliveries, eventAccess, wakeSender: sender.wake, now });
  const eventFeed = createEventFeed({ ...kernel, ...authService });

  authService.onAccountReclaim((userId) => [deleteEndpointsStatement(userId)]);
  jobs.handle(WAKE_JOB, async (payload) => {
    sender.wake(endpointIdOf(payload), true);
    // There may be an active endpoint now, and none before.
    dispatcher.wake();
  });
  kernel.retention.register(deliveriesKind(kernel.database, kernel.config.of(retentionSettings).events));

  async function sendPending(): Promise<void> {
    for (const endpointId of await deliveries.endpointsWithPending()) sender.wake(endpointId);
    // There may be an endpoint now, and none before.
    dispatcher.wake();
  }

  // Else a stream in the old cell would go on to give out ids, of events of others.
  kernel.cells?.onAccountMoves({ beforeRemoved: ({ userId }) => eventFeed.endOf(userId), arrived: sendPending });

  return {
    service: {},
    lateRoutes: {
      web: [
        async () =>
          (await import("./web-routes.ts")).webRoutes({
            ...kernel,
            identities,
            plans: kernel.config.of(planSettings).table,
            endpoints,
            deliveries,
            eventAccess,
            eventFeed,
          }),
      ],
    },
    // Secrets of endpoints (Standard Webhooks).
    secretPatterns: [/(?<![A-Za-z0-9])whsec_[\w+/=-]{6,}/g],
    // No WebSockets, but feeds are long-lived too: with `sockets`, `stop` runs also where no background work does.
    sockets: [],
    async start() {
      await database.write(operatorEndpointStatements(kernel.config, now()));
      await deliveries.releaseAllClaims();
      await sendPending();
      dispatcher.start();
    },
    async stop() {
      eventFeed.close();
      await dispatcher.stop();
      await sender.stop();
    },
  };
});

function endpointIdOf(payload: unknown): string {
  if (typeof payload === "object" && payload !== null && "endpointId" in payload) return String(payload.endpointId);
  throw new AppError(500, "INTERNAL", "A job names no endpoint.");
}
