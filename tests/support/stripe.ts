// A strict stand-in for the parts of Stripe's API that are used, with its own clock: it refuses what Stripe would refuse, and
// signs events as Stripe's SDK does. Events are delivered only when a test says so: late, twice, in another order, or never.
import Stripe from "stripe";

export const STRIPE_KEY = "sk_test_51Berth";
export const STRIPE_SECRET = "whsec_Berth";

interface Price {
  amount: number;
  currency: string;
}
interface Session {
  id: string;
  object: "checkout.session";
  url: string;
  mode: string;
  customer: string;
  client_reference_id: string;
  payment_status: "unpaid" | "paid" | "no_payment_required";
  amount_total: number;
  currency: string;
  created: number;
  metadata: Record<string, string>;
  price?: string;
  trialDays: number;
  payment_intent: string | null;
}
interface Charge {
  id: string;
  object: "charge";
  customer: string;
  payment_intent: string;
  amount: number;
  amount_refunded: number;
  currency: string;
  disputed: boolean;
}
interface Dispute {
  id: string;
  object: "dispute";
  charge: string;
  amount: number;
  currency: string;
  status: "needs_response" | "won" | "lost";
}
interface Subscription {
  id: string;
  object: "subscription";
  customer: string;
  status: string;
  created: number;
  cancel_at_period_end: boolean;
  cancel_at: null;
  items: { data: { id: string; price: { id: string }; current_period_start: number; current_period_end: number }[] };
}
type Invoice = Record<string, unknown> & { id: string; customer: string; created: number };
export interface StripeEvent {
  id: string;
  object: "event";
  type: string;
  created: number;
  data: { object: Record<string, unknown> };
}

const DAY_SECONDS = 86_400;
const MONTH = 30 * DAY_SECONDS;

/** The parameters that each request may have, as patterns of their form names. */
const PARAMETERS: Record<string, RegExp> = {
  "POST /v1/customers": /^(email|name|metadata\[berth_user\])$/,
  "POST /v1/checkout/sessions":
    /^(mode|customer|client_reference_id|success_url|cancel_url|line_items\[1\]\[price\]|line_items\[0\]\[(price|quantity|price_data\]\[(currency|unit_amount|product_data\]\[name))\]|subscription_data\[(metadata\]\[berth_user|trial_period_days)\]|invoice_creation\[enabled\]|metadata\[berth_credits\])$/,
  "GET /v1/checkout/sessions": /^(payment_intent|limit)$/,
  "GET /v1/charges/": /^$/,
  "GET /v1/disputes": /^(charge|limit)$/,
  "POST /v1/billing_portal/sessions": /^(customer|return_url)$/,
  "GET /v1/subscriptions": /^(customer|status|limit)$/,
  "POST /v1/subscriptions/":
    /^(items\[\d\]\[(id|price|deleted)\]|cancel_at_period_end|proration_behavior|payment_behavior)$/,
  "GET /v1/subscriptions/": /^$/,
  "POST /v1/billing/meter_events": /^(event_name|payload\[(stripe_customer_id|value)\]|identifier|timestamp)$/,
  "DELETE /v1/subscriptions/": /^(prorate|invoice_now)$/,
  "GET /v1/invoices": /^(customer|limit)$/,
  "GET /v1/events": /^(created\[gte\]|types\[\d+\]|limit|starting_after)$/,
};

export type FakeStripe = ReturnType<typeof startStripe>;

/** @param prices by their ids; a month's */
export function startStripe(prices: Record<string, Price>) {
  const sdk = new Stripe(STRIPE_KEY);
  const customers = new Map<string, { id: string; object: "customer" }>();
  const idempotent = new Map<string, unknown>();
  const sessions = new Map<string, Session>();
  const subscriptions = new Map<string, Subscription>();
  const invoices: Invoice[] = [];
  const charges = new Map<string, Charge>();
  const disputes: Dispute[] = [];
  const events: StripeEvent[] = [];
  const refusals: string[] = [];
  const meterEvents = new Map<string, { name: string; customer: string; value: number }>();
  let losesAnswers = false;
  let offset = 0;
  let serial = 0;
  let isDown = false;
  let refusesCards = false;
  const now = () => Math.floor(Date.now() / 1000) + offset;
  const id = (prefix: string) => `${prefix}_${String(++serial).padStart(4, "0")}`;

  const emit = (type: string, object: object): StripeEvent => {
    const event: StripeEvent = {
      ...{ id: id("evt"), object: "event", type, created: now() },
      data: { object: structuredClone(object) as Record<string, unknown> },
    };
    events.push(event);
    return event;
  };
  const invoice = (customer: string, amount: number, currency: string, reason: string, paid: boolean) => {
    const one = {
      ...{ id: id("in"), object: "invoice", customer, number: `B-${serial}`, created: now(), currency, total: amount },
      ...{ amount_paid: paid ? amount : 0, billing_reason: reason, status: paid ? "paid" : "open" },
      hosted_invoice_url: "https://invoice.stripe.example/1",
    };
    invoices.push(one);
    return emit(paid ? "invoice.paid" : "invoice.payment_failed", one);
  };
  /** The card is charged. */
  const charge = (customer: string, amount: number, currency: string): Charge => {
    const made: Charge = {
      ...{ id: id("ch"), object: "charge", customer, payment_intent: id("pi"), amount, currency },
      ...{ amount_refunded: 0, disputed: false },
    };
    charges.set(made.id, made);
    return made;
  };
  const findCharge = (chargeId: string): Charge => {
    const found = charges.get(chargeId);
    if (!found) throw new Problem(404, `No such charge: '${chargeId}'`);
    return found;
  };
  const find = (subscriptionId: string) => {
    const found = subscriptions.get(subscriptionId);
    const [item] = found?.items.data ?? [];
    if (!found || !item) throw new Problem(404, `No such subscription: '${subscriptionId}'`);
    return { found, item, price: prices[item.price.id] ?? { amount: 0, currency: "usd" } };
  };

  class Problem extends Error {
    constructor(
      readonly status: number,
      message: string,
      readonly type = "invalid_request_error",
      readonly code?: string,
    ) {
      super(message);
    }
  }
  const list = (data: unknown[], url: string, hasMore = false) => ({ object: "list", url, has_more: hasMore, data });

  function answer(method: string, path: string, form: URLSearchParams): unknown {
    const text = (name: string) => form.get(name) ?? "";
    const need = (name: string) => {
      if (!form.get(name)) throw new Problem(400, `Missing required param: ${name}.`);
      return text(name);
    };
    const customer = () => {
      if (!customers.has(need("customer"))) throw new Problem(400, `No such customer: '${text("customer")}'`);
      return text("customer");
    };
    const pathId = path.split("/")[3] ?? "";
    switch (`${method} ${path.replace(/(subscriptions\/|charges\/).+/, "$1")}`) {
      case "POST /v1/customers": {
        const made = { id: id("cus"), object: "customer" as const };
        customers.set(made.id, made);
        return made;
      }
      case "POST /v1/checkout/sessions": {
        const mode = need("mode");
        const price = text("line_items[0][price]");
        if (mode === "subscription" && !prices[price]) throw new Problem(400, `No such price: '${price}'`);
        const unit = Number(text("line_items[0][price_data][unit_amount]"));
        if (mode === "payment" && !(unit > 0))
          throw new Problem(400, "You must specify either `price` or `price_data`.");
        need("success_url");
        const made: Session = {
          ...{ id: id("cs_test"), object: "checkout.session", mode, customer: customer(), payment_status: "unpaid" },
          ...{ url: "", client_reference_id: text("client_reference_id"), created: now() },
          ...{
            amount_total: unit * Number(text("line_items[0][quantity]")) || 0,
            trialDays: Number(text("subscription_data[trial_period_days]")),
          },
          currency: text("line_items[0][price_data][currency]") || (prices[price]?.currency ?? ""),
          metadata: form.has("metadata[berth_credits]") ? { berth_credits: text("metadata[berth_credits]") } : {},
          ...(price && { price }),
          payment_intent: null,
        };
        made.url = `https://checkout.stripe.example/${made.id}`;
        sessions.set(made.id, made);
        return made;
      }
      case "GET /v1/checkout/sessions":
        return list(
          [...sessions.values()].filter((one) => one.payment_intent === need("payment_intent")),
          path,
        );
      case "GET /v1/charges/":
        return findCharge(pathId);
      case "GET /v1/disputes":
        return list(disputes.filter((one) => one.charge === need("charge")).toReversed(), path);
      case "POST /v1/billing_portal/sessions":
        return { id: id("bps"), object: "billing_portal.session", url: `https://portal.stripe.example/${customer()}` };
      case "GET /v1/subscriptions": {
        const of = customer();
        return list([...subscriptions.values()].filter((one) => one.customer === of).toReversed(), path);
      }
      case "POST /v1/subscriptions/": {
        const { found, item, price } = find(pathId);
        const next = prices[need("items[0][price]")];
        if (!next) throw new Problem(400, "No such price");
        if (text("items[0][id]") !== item.id) throw new Problem(400, "No such subscription item");
        if (refusesCards) throw new Problem(402, "Your card was declined.", "card_error");
        const left = (item.current_period_end - now()) / MONTH;
        item.price.id = text("items[0][price]");
        found.cancel_at_period_end = false;
        emit("customer.subscription.updated", found);
        invoice(
          found.customer,
          Math.round((next.amount - price.amount) * left),
          next.currency,
          "subscription_update",
          true,
        );
        return found;
      }
      case "DELETE /v1/subscriptions/": {
        const { found } = find(pathId);
        if (found.status === "canceled") throw new Problem(404, `No such subscription: '${pathId}'`);
        found.status = "canceled";
        emit("customer.subscription.deleted", found);
        return found;
      }
      case "GET /v1/subscriptions/":
        return find(pathId).found;
      case "POST /v1/billing/meter_events": {
        if (!customers.has(need("payload[stripe_customer_id]"))) throw new Problem(400, "No such customer");
        const age = now() - Number(need("timestamp"));
        if (age > 35 * DAY_SECONDS || age < -300) throw new Problem(400, "The timestamp is out of range.");
        if (!/^\d+$/.test(need("payload[value]"))) throw new Problem(400, "The value is no whole number.");
        const event = {
          name: need("event_name"),
          customer: text("payload[stripe_customer_id]"),
          value: Number(text("payload[value]")),
        };
        const isRepeated = meterEvents.has(need("identifier"));
        if (!isRepeated) meterEvents.set(text("identifier"), event);
        if (losesAnswers) throw new Problem(500, "The answer is lost.", "api_error");
        if (isRepeated) throw new Problem(400, "Repeated", "invalid_request_error", "duplicate_meter_event");
        return { object: "billing.meter_event", identifier: text("identifier"), ...event };
      }
      case "GET /v1/invoices":
        return list(invoices.filter((one) => one.customer === customer()).toReversed(), path);
      case "GET /v1/events": {
        const types = [...form].flatMap(([name, value]) => (name.startsWith("types") ? [value] : []));
        const matching = events
          .filter(({ type, created }) => types.includes(type) && created >= Number(text("created[gte]")))
          .toReversed();
        const from = form.has("starting_after")
          ? matching.findIndex((one) => one.id === text("starting_after")) + 1
          : 0;
        const page = matching.slice(from, from + 3);
        return list(page, path, from + page.length < matching.length);
      }
      default:
        throw new Problem(404, `Unrecognized request URL (${method}: ${path}).`);
    }
  }

  /** The header of a webhook, as Stripe's SDK makes it. */
  const sign = (payload: string, { secret = STRIPE_SECRET, at = Math.floor(Date.now() / 1000) } = {}) =>
    sdk.webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp: at });

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (isDown) return new Response("down", { status: 503 });
      const { pathname, searchParams } = new URL(request.url);
      const form = request.method === "GET" ? searchParams : new URLSearchParams(await request.text());
      for (const [name, value] of request.method === "DELETE" ? searchParams : []) form.append(name, value);
      const route = `${request.method} ${pathname.replace(/(subscriptions\/|charges\/).+/, "$1")}`;
      try {
        if (request.headers.get("authorization") !== `Bearer ${STRIPE_KEY}`)
          throw new Problem(401, "Invalid API Key provided");
        if (request.headers.get("stripe-version") !== Stripe.API_VERSION) throw new Problem(400, "Unexpected version");
        for (const name of form.keys())
          if (!PARAMETERS[route]?.test(name)) throw new Problem(400, `Received unknown parameter: ${name}`);
        const key = request.headers.get("idempotency-key") ?? "";
        const repeated = idempotent.get(key);
        const body = repeated ?? answer(request.method, pathname, form);
        if (key && request.method === "POST") idempotent.set(key, body);
        return Response.json(body);
      } catch (error) {
        const { status, message, type, code } =
          error instanceof Problem ? error : new Problem(500, String(error), "api_error");
        if (code === undefined && status < 500) refusals.push(`${route}: ${message}`);
        return Response.json({ error: { type, message, code } }, { status });
      }
    },
  });

  return {
    url: `http://127.0.0.1:${server.port}`,
    env: {
      STRIPE_API_URL: `http://127.0.0.1:${server.port}`,
      STRIPE_SECRET_KEY: STRIPE_KEY,
      STRIPE_WEBHOOK_SECRET: STRIPE_SECRET,
    },
    events,
    /** Requests that it has refused, which a sound program never makes. */
    refusals,
    customers,
    subscriptions,
    now,
    advance(seconds: number) {
      offset += seconds;
    },
    down(value: boolean) {
      isDown = value;
    },
    /** What the meter has counted. */
    meterEvents,
    /** Whether reports to the meter count, and their answers are lost. */
    loseAnswers(value: boolean) {
      losesAnswers = value;
    },
    refuseCards(value: boolean) {
      refusesCards = value;
    },
    /** The person pays on the page of Checkout. Returns the subscription, if it is one. */
    pay(url: string): Subscription | undefined {
      const session = sessions.get(url.split("/").at(-1) ?? "");
      if (!session) throw new Error(`There is no checkout at ${url}.`);
      session.payment_status = "paid";
      if (session.mode === "payment") {
        session.payment_intent = charge(session.customer, session.amount_total, session.currency).payment_intent;
        emit("checkout.session.completed", session);
        invoice(session.customer, session.amount_total, session.currency, "manual", true);
        return undefined;
      }
      const price = prices[session.price ?? ""] ?? { amount: 0, currency: "usd" };
      const trial = session.trialDays * DAY_SECONDS;
      const period = { current_period_start: now(), current_period_end: now() + (trial || MONTH) };
      const made: Subscription = {
        ...{ id: id("sub"), object: "subscription", customer: session.customer, status: trial ? "trialing" : "active" },
        ...{ created: now(), cancel_at_period_end: false, cancel_at: null },
        items: { data: [{ id: id("si"), price: { id: session.price ?? "" }, ...period }] },
      };
      subscriptions.set(made.id, made);
      emit("customer.subscription.created", made);
      emit("checkout.session.completed", session);
      invoice(session.customer, trial ? 0 : price.amount, price.currency, "subscription_create", true);
      if (!trial) charge(session.customer, price.amount, price.currency);
      return made;
    },
    /** The next period begins: it is paid, or the payment fails. */
    renew(subscriptionId: string, paid: boolean) {
      const { found, item, price } = find(subscriptionId);
      item.current_period_start = item.current_period_end;
      item.current_period_end += MONTH;
      found.status = paid ? "active" : "past_due";
      emit("customer.subscription.updated", found);
      return invoice(found.customer, price.amount, price.currency, "subscription_cycle", paid);
    },
    /** The missing payment arrives. */
    settle(subscriptionId: string) {
      const { found, price } = find(subscriptionId);
      found.status = "active";
      emit("customer.subscription.updated", found);
      return invoice(found.customer, price.amount, price.currency, "subscription_cycle", true);
    },
    /** The charges of cards, the oldest first. */
    charges,
    /** The operator gives money back; by default all of it. */
    refund(chargeId: string, amount?: number) {
      const found = findCharge(chargeId);
      found.amount_refunded += amount ?? found.amount - found.amount_refunded;
      return emit("charge.refunded", found);
    },
    /** The person's bank takes all of it back. */
    dispute(chargeId: string) {
      const { amount, currency } = findCharge(chargeId);
      findCharge(chargeId).disputed = true;
      const made: Dispute = {
        ...{ id: id("dp"), object: "dispute", charge: chargeId, amount, currency, status: "needs_response" },
      };
      disputes.push(made);
      return emit("charge.dispute.created", made);
    },
    closeDispute(chargeId: string, status: "won" | "lost") {
      const found = disputes.find((one) => one.charge === chargeId);
      if (!found) throw new Error(`There is no dispute of ${chargeId}.`);
      found.status = status;
      return emit("charge.dispute.closed", found);
    },
    /** Three days before a trial's end. */
    announceTrialEnd: (subscriptionId: string) =>
      emit("customer.subscription.trial_will_end", find(subscriptionId).found),
    /** The person cancels in the portal: at the end of the period, or Stripe gives up and ends it now. */
    cancel(subscriptionId: string, when: "period end" | "now") {
      const { found } = find(subscriptionId);
      if (when === "now") found.status = "canceled";
      else found.cancel_at_period_end = true;
      return emit(when === "now" ? "customer.subscription.deleted" : "customer.subscription.updated", found);
    },
    sign,
    /** Posts an event to a webhook; `secret` and `at` (epoch seconds) for one that is forged or old. */
    async deliver(web: string, event: StripeEvent, options: { secret?: string; at?: number } = {}) {
      const body = JSON.stringify(event);
      const headers = { "content-type": "application/json", "stripe-signature": await sign(body, options) };
      return fetch(`${web}/api/billing/stripe`, { method: "POST", body, headers });
    },
    stop: () => server.stop(true),
  };
}
