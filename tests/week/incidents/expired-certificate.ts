import type { Certificate } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { alerted, type Incident, pass } from "../incident.ts";

const DAY = 24 * 60 * 60_000;
const MINUTE = 60_000;
/** How long the certificate is valid when the incident begins, in minutes. */
const VALID_FOR = 5;

interface Delivery {
  status: string;
  lastError: string | null;
}

export const expiredCertificate: Incident = {
  name: "the certificate of a customer's webhook expires",
  async play(world, monitor) {
    const { ada, authority, clock, talk } = world;
    // As if it had been issued a day ago.
    const until = clock.now() + VALID_FOR * MINUTE;
    const old = await authority.issue(1, clock.envAt(until - DAY));
    await using receiver = startReceiver(old);
    const { body } = await ada.client.post<{ id: string }>("/api/webhooks", {
      url: receiver.url,
      types: ["agent.message"],
    });
    await talk.say(2, ada.token);
    await talk.answered("the messages before");
    await eventually(() => receiver.ids.size >= 2, { what: "the events arrive" });
    await pass(world, monitor, VALID_FOR + 1, () => talk.say(1, ada.token));
    // A resumed TLS session shows no certificate, so that the expiry is noticed with the next full handshake.
    receiver.use(old);
    await pass(world, monitor, 45, () => talk.say(1, ada.token));
    const alert = await alerted(monitor, "BerthWebhooksFail");
    const deliveries = async () =>
      (await ada.client.get<{ deliveries: Delivery[] }>(`/api/webhooks/${body.id}/deliveries?limit=100`)).body
        .deliveries;
    const pending = (await deliveries()).filter(({ status }) => status === "pending");
    if (pending.length === 0) throw new Error("No delivery waits, though the certificate has expired.");
    receiver.use(await authority.issue(30, clock.env));
    let hours = 0;
    for (; (await deliveries()).some(({ status }) => status === "pending") && hours < 48; hours += 6) {
      await clock.forward(6 * 60 * MINUTE);
      // The service looks at the clock once a minute.
      await eventually(async () => (await deliveries()).every(({ status }) => status !== "pending"), {
        timeoutMs: 65_000,
        everyMs: 500,
      }).catch(() => undefined);
    }
    await talk.answered("the messages of the expired certificate");
    const all = await deliveries();
    const lost = all.filter(({ status }) => status !== "delivered");
    if (lost.length > 0 || receiver.ids.size < all.length) throw new Error(`Events were lost: ${JSON.stringify(lost)}`);
    return {
      saw: [alert, `the webhook's page: "${pending[0]?.lastError}"`],
      did: ["told the customer, who renewed it"],
      noticed: [`${pending.length} events came late, within ${hours} h of the new certificate; all ${all.length} came`],
    };
  },
};

/** A receiver over HTTPS that remembers the ids of events. */
function startReceiver(certificate: Certificate) {
  const ids = new Set<string>();
  const serve = (tls: Certificate, port: number) =>
    Bun.serve({
      hostname: "127.0.0.1",
      port,
      tls,
      fetch(request) {
        ids.add(request.headers.get("webhook-id") ?? "");
        return new Response(null, { status: 204, headers: { connection: "close" } });
      },
    });
  let server = serve(certificate, 0);
  const port = server.port ?? 0;
  return {
    url: `https://127.0.0.1:${port}/hook`,
    ids,
    use(renewed: Certificate) {
      void server.stop(true);
      server = serve(renewed, port);
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
