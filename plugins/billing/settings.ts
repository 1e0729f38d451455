// The settings of payments through Stripe, which is off without a key.

import { anyText, httpUrl, type Parser, parser } from "../../src/kernel/config/parsers.ts";
import { defineSettings, error } from "../../src/kernel/config/section.ts";
import { optional, withDefault } from "../../src/kernel/config/variable.ts";

interface CreditPrice {
  /** Of a hundred credits, in the smallest unit of the currency. */
  minorUnits: number;
  currency: string;
}

const creditPrice: Parser<CreditPrice> = parser(
  "CURRENCY:AMOUNT of 100 credits in the smallest unit, such as usd:120",
  (text) => {
    const [, currency = "", amount = ""] = /^([a-z]{3}):([1-9]\d{0,8})$/.exec(text.toLowerCase()) ?? [];
    return currency ? { currency, minorUnits: Number(amount) } : undefined;
  },
);

const graceDays: Parser<number> = parser("a whole number from 0 to 60", (text) =>
  /^\d{1,2}$/.test(text) && Number(text) <= 60 ? Number(text) : undefined,
);

export const billingSettings = defineSettings({
  name: "billing",
  variables: {
    STRIPE_SECRET_KEY: optional(
      anyText,
      "Secret or restricted key of Stripe, by which people pay for plans and credits; see [billing.md](billing.md).",
      "secret",
    ),
    STRIPE_WEBHOOK_SECRET: optional(
      anyText,
      "Signing secret of the webhook at Stripe (`whsec_…`) that posts to `/api/billing/stripe`.",
      "secret",
    ),
    STRIPE_API_URL: withDefault(httpUrl, "https://api.stripe.com", "Address of Stripe's API."),
    CREDIT_PRICE: optional(
      creditPrice,
      "What 100 credits cost through Stripe, in the smallest unit, such as `usd:120`. Without it credits are not sold.",
    ),
    STRIPE_METER_EVENT: withDefault(
      anyText,
      "berth_model_use",
      "Event of the meter at Stripe that counts US cents of model use beyond what a plan includes (`overageUsdPerMonth` of a plan).",
    ),
    BILLING_GRACE_DAYS: withDefault(
      graceDays,
      "7",
      "Days for which a plan stays in force after a payment for it has failed.",
    ),
  },
  needs: {
    STRIPE_SECRET_KEY: [
      ...["STRIPE_WEBHOOK_SECRET", "STRIPE_API_URL", "CREDIT_PRICE"],
      ...["STRIPE_METER_EVENT", "BILLING_GRACE_DAYS"],
    ],
  },
  build: (v) => ({
    stripe:
      v.STRIPE_SECRET_KEY && v.STRIPE_WEBHOOK_SECRET
        ? { key: v.STRIPE_SECRET_KEY, webhookSecret: v.STRIPE_WEBHOOK_SECRET, apiUrl: v.STRIPE_API_URL }
        : undefined,
    creditPrice: v.CREDIT_PRICE,
    meterEvent: v.STRIPE_METER_EVENT,
    graceDays: v.BILLING_GRACE_DAYS,
  }),
  validate: (v) => [
    ...(v.STRIPE_SECRET_KEY && !v.STRIPE_WEBHOOK_SECRET
      ? [
          error(
            "STRIPE_WEBHOOK_SECRET",
            "is missing. Without it payments are not noticed. Make a webhook at Stripe and set its signing secret, or leave STRIPE_SECRET_KEY out.",
          ),
        ]
      : []),
  ],
});
