// Request and response schemas of billing.
import { t } from "elysia";

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const time = t.String({ description: "ISO 8601" });

export const billingState = t.Object({
  enabled: t.Boolean({ description: "Whether plans and credits are paid through Stripe here" }),
  creditPrice: nullable(
    t.Object(
      { minorUnits: t.Integer({ description: "Such as cents" }), currency: t.String() },
      { description: "Of 100 credits; null: none are sold" },
    ),
  ),
  plans: t.Array(t.String(), { description: "The ids of the plans that are sold" }),
  subscription: nullable(
    t.Object(
      {
        status: t.String({ description: "As Stripe names it: trialing, active, past_due, canceled and others" }),
        plan: nullable(t.String()),
        periodEnd: time,
        endsThen: t.Boolean({ description: "It is cancelled, and not renewed at `periodEnd`" }),
        graceUntil: nullable(t.String({ description: "A payment is missing: the plan is in force until then" })),
      },
      { description: "At Stripe; null before the first one" },
    ),
  ),
});

export const planBody = t.Object({ plan: t.String({ maxLength: 32, error: "Give the id of a plan." }) });
export const planResult = t.Object({
  url: nullable(
    t.String({ description: "Of Stripe's Checkout, to open in a browser; null if nothing is to be entered" }),
  ),
  changed: t.Boolean({ description: "The running subscription has this plan from now on" }),
});

export const creditsBody = t.Object({
  credits: t.Integer({ minimum: 100, maximum: 1_000_000, error: "Credits are sold by the hundred, up to 1000000." }),
});
export const checkoutResult = t.Object({ url: t.String({ description: "Of Stripe, to open in a browser" }) });

export const invoiceList = t.Object({
  invoices: t.Array(
    t.Object({
      id: t.String(),
      number: nullable(t.String()),
      at: time,
      amount: t.Object({ minorUnits: t.Integer(), currency: t.String() }),
      status: nullable(t.String({ description: "As Stripe names it: draft, open, paid, uncollectible or void" })),
      url: nullable(t.String({ description: "Of the invoice at Stripe" })),
    }),
    { description: "The newest first, at most 24" },
  ),
  count: t.Integer(),
});

export const received = t.Object({ received: t.Literal(true) });
