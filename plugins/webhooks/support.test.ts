// Test support: the services of webhooks over a temporary database, with a clock that the test sets.

import { expect } from "bun:test";
import { loadConfig } from "../../src/kernel/config/config.ts";
import { createEvents, type Events } from "../../src/kernel/events/events.ts";
import { createOutbound } from "../../src/kernel/security/outbound.ts";
import { createVault } from "../../src/kernel/security/vault.ts";
import { fileDatabase, serverDatabase, silent, type TestDatabase } from "../../tests/support/database.ts";
import { eventually } from "../../tests/support/eventually.ts";
import type { User } from "../auth/index.ts";
import { adminSettings } from "../auth/settings.ts";
import { createDeliveries } from "./delivery/deliveries.ts";
import { createDeliveryAttempt } from "./delivery/delivery-attempt.ts";
import { createDispatcher, type Dispatcher } from "./delivery/dispatcher.ts";
import { createSender, type Sender } from "./delivery/sender.ts";
import { createEndpoints } from "./endpoints/endpoints.ts";
import { createEventAccess } from "./endpoints/event-access.ts";

export interface Clock {
  time: number;
}

export interface WebhookFixtureOptions {
  env?: Record<string, string>;
  server?: boolean;
  timeoutMs?: number;
  /** Private networks that users' endpoints may be in. */
  allow?: string[];
}

export type WebhookFixture = Awaited<ReturnType<typeof openWebhookFixture>>;

/** Opens all services of the plugin without its routes. The test puts the users into `users`. */
export async function openWebhookFixture({
  env = {},
  server = false,
  timeoutMs,
  allow = ["127.0.0.1/32"],
}: WebhookFixtureOptions = {}) {
  const opened: TestDatabase = await (server ? serverDatabase() : fileDatabase());
  const { database, dir } = opened;
  const clock: Clock = { time: Date.now() };
  const now = () => clock.time;
  const log = silent;
  const config = loadConfig({ DATA_DIR: dir, ...env }, { cwd: dir });
  const vault = createVault({ key: "a root key for tests of webhooks" });
  const events: Events = createEvents({ database, log, now });
  const users = new Map<string, User>();
  const outbound = createOutbound({ allow });
  const unrestrictedOutbound = createOutbound({ allow: ["0.0.0.0/0", "::/0"] });
  const attempt = createDeliveryAttempt({
    outbound,
    unrestrictedOutbound,
    now,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const running: { dispatcher: Dispatcher; sender: Sender }[] = [];

  let disposed: Promise<void> | undefined;
  let wake: () => void = () => undefined;
  const unrecorded = { record: () => ({ sql: "SELECT 1", args: [] }) };
  const wakeStatement = () => ({ sql: "SELECT 1", args: [], after: () => wake() });
  const endpoints = createEndpoints({ database, vault, config, audit: unrecorded, now, wakeStatement });
  const eventAccess = createEventAccess({
    config,
    users: { byId: async (id) => users.get(id) },
    administration: {
      isAdmin: ({ isAdmin, emailVerified, email }) =>
        isAdmin || (emailVerified && config.of(adminSettings).emails.includes(email)),
    },
  });
  const deliveries = createDeliveries({ database, endpoints, eventAccess, now });

  /** Creates another dispatcher and sender, like those of another process. */
  function startProcess() {
    const sender = createSender({ log, deliveries, attempt, now, graceMs: 20 });
    const dispatcher = createDispatcher({
      database,
      events,
      log,
      deliveries,
      eventAccess,
      wakeSender: sender.wake,
      now,
    });
    running.push({ dispatcher, sender });
    wake = dispatcher.wake;
    return { dispatcher, sender };
  }
  const { dispatcher, sender } = startProcess();

  return {
    ...{ database, clock, events, users, endpoints, deliveries, dispatcher, sender, startProcess, config },
    /** Creates an endpoint; its owner is `ada` by default. */
    async createEndpoint(
      url: string,
      more: { userId?: string; types?: string[]; allEvents?: boolean; allEventsByEmail?: string | null } = {},
    ) {
      const options = {
        userId: "ada",
        types: ["*"],
        allEvents: false,
        allEventsByEmail: null,
        description: "",
        ...more,
      };
      return endpoints.create({ ...options, url }, () => []);
    },
    async recordEvent(type: string, userId: string | null, data: unknown = {}) {
      await database.write([events.recordStatement(type, { userId, data })]);
    },
    /** Waits until the newest delivery of an endpoint has these fields. */
    eventuallyDelivery: (endpointId: string, fields: object) =>
      eventually(async () => {
        const [newest] = (await deliveries.list(endpointId, { limit: 10, offset: 0 })).deliveries;
        expect(newest).toMatchObject(fields);
        return newest;
      }),
    /** Advances the clock and wakes the endpoint's lane. */
    advanceClock(ms: number, endpointId: string) {
      clock.time += ms;
      sender.wake(endpointId);
    },
    async [Symbol.asyncDispose]() {
      // Runs once, also if a test disposes of it more often.
      disposed ??= (async () => {
        await Promise.all(running.flatMap(({ dispatcher, sender }) => [dispatcher.stop(), sender.stop()]));
        await opened.remove();
      })();
      await disposed;
    },
  };
}

/** The fixture with a started dispatcher, the users `ada` and `bob`, and the admin `root`. */
export async function startWebhookFixture(options: WebhookFixtureOptions = {}): Promise<WebhookFixture> {
  const fixture = await openWebhookFixture(options);
  for (const id of ["ada", "bob"]) fixture.users.set(id, testUser(id));
  fixture.users.set("root", testUser("root", { isAdmin: true }));
  fixture.dispatcher.start();
  return fixture;
}

export function testUser(id: string, more: Partial<User> = {}): User {
  return {
    id,
    email: `${id}@example.com`,
    name: id,
    isAdmin: false,
    emailVerified: false,
    disabledAt: null,
    ...more,
  } as User;
}
