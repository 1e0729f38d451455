// Finds settings that do nothing because one of another section is not set. Those within a section are found by its `validate`.

import { budgetSettings } from "../../../plugins/ai/settings.ts";
import { planSettings } from "../../../plugins/auth/settings.ts";
import { billingSettings } from "../../../plugins/billing/settings.ts";
import { openaiApiSettings } from "../../../plugins/openai-api/settings.ts";
import type { Config, Finding } from "../../kernel/config/config.ts";
import { isGiven, warning } from "../../kernel/config/section.ts";
import { findKeylessModels } from "./keyless-models.ts";

export const findIdleSettings = (config: Config): Finding[] => [
  ...idlePlanKeys(config),
  ...idleStripe(config),
  ...findKeylessModels(config),
  ...(config.role === "all" && isGiven(config.sources.BACKEND_URL)
    ? [
        warning(
          "BACKEND_URL",
          "is used by ROLE=web alone to find the backend. Here it only names an origin that the backend trusts.",
        ),
      ]
    : []),
  ...(config.of(openaiApiSettings).isPublicOnWeb && config.of(budgetSettings).publicMicroUsd === 0
    ? [warning("AI_PUBLIC_ON_WEB", "has no effect, since AI_PUBLIC_BUDGET_USD_PER_DAY is 0.")]
    : []),
];

/** Keys of plans.json that only Stripe reads. */
function idlePlanKeys(config: Config): Finding[] {
  if (config.of(billingSettings).stripe) return [];
  const { plans } = config.of(planSettings).table;
  const used = plans.flatMap(({ id, stripePrice, trialDays, stripeMeterPrice, overageMicroUsd }) => {
    const keys = Object.entries({ stripePrice, trialDays, stripeMeterPrice, overageUsdPerMonth: overageMicroUsd });
    return keys.filter(([, value]) => value !== undefined && value !== 0).map(([key]) => ({ id, key }));
  });
  if (used.length === 0) return [];
  const [keys, names] = [used.map(({ key }) => key), used.map(({ id }) => id)].map((all) =>
    [...new Set(all)].join(", "),
  );
  if (keys?.includes(","))
    return [warning("PLANS_FILE", `${keys} of a plan without STRIPE_SECRET_KEY have no effect: ${names}.`)];
  return [warning("PLANS_FILE", `${keys} of a plan without STRIPE_SECRET_KEY has no effect: ${names}.`)];
}

function idleStripe(config: Config): Finding[] {
  const { stripe, creditPrice } = config.of(billingSettings);
  const { plans } = config.of(planSettings).table;
  if (!stripe) return [];
  const sells = creditPrice !== undefined || plans.some(({ stripePrice }) => stripePrice !== undefined);
  const meters = plans.some(({ overageMicroUsd }) => overageMicroUsd > 0);
  return [
    ...(sells
      ? []
      : [
          warning("STRIPE_SECRET_KEY", "sells nothing: give plans a `stripePrice` in PLANS_FILE, or set CREDIT_PRICE."),
        ]),
    ...(!meters && isGiven(config.sources.STRIPE_METER_EVENT)
      ? [warning("STRIPE_METER_EVENT", "has no effect, since no plan of PLANS_FILE has `overageUsdPerMonth`.")]
      : []),
  ];
}
