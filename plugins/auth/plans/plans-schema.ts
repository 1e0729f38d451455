// The JSON Schema of plans.json, for editors.
import type { Schema } from "../../../src/kernel/http/openapi/document.ts";
import { FEATURES } from "./plan-table.ts";
import { COUNTS, CURRENCY, PLAN_ID, STORAGE } from "./plans-file.ts";

/** Where every Berth serves the schema. */
export const PLANS_SCHEMA_PATH = "/schemas/plans.json";

const count = (description: string): Schema => ({
  type: ["integer", "null"],
  minimum: 0,
  maximum: 1_000_000_000,
  description: `${description}; null for no limit.`,
});

const closed = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...more,
});

/** @param origin of the service, for the schema's own address */
export const plansSchema = (origin: string): Schema => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: `${origin}${PLANS_SCHEMA_PATH}`,
  title: "Berth plans",
  description: "The plans of a service, for PLANS_FILE. What is left out keeps its default.",
  ...closed(
    {
      $schema: { type: "string", description: "The address of this schema, for editors." },
      plans: {
        type: "object",
        description: "By their names. null removes one of the defaults: free, starter, pro, enterprise.",
        propertyNames: { pattern: PLAN_ID.source },
        additionalProperties: { anyOf: [{ type: "null" }, plan()] },
      },
    },
    { required: ["plans"] },
  ),
});

function plan(): Schema {
  return closed({
    name: { type: "string", minLength: 1, maxLength: 60, description: "Name for people." },
    price: {
      description: "What a month costs, as people see it.",
      anyOf: [
        { type: "null" },
        closed(
          {
            amount: { type: "number", minimum: 0, maximum: 1_000_000 },
            currency: { type: "string", pattern: CURRENCY.source },
          },
          { required: ["amount", "currency"] },
        ),
      ],
    },
    stripePrice: {
      type: "string",
      pattern: "^price_\\w{1,200}$",
      description: "The monthly price at Stripe by which the plan is sold.",
    },
    trialDays: { type: "integer", minimum: 0, maximum: 730, description: "Days before the first payment." },
    modelUsdPerMonth: {
      type: ["number", "null"],
      minimum: 0,
      maximum: 1_000_000_000,
      description: "US dollars of the operator's keys a month; null for no limit.",
    },
    overageUsdPerMonth: {
      type: "number",
      minimum: 0,
      maximum: 1_000_000,
      description: "The most US dollars a month beyond that, billed by Stripe's meter.",
    },
    stripeMeterPrice: {
      type: "string",
      pattern: "^price_\\w{1,200}$",
      description: "The metered price at Stripe, a US cent for each unit.",
    },
    ...Object.fromEntries(COUNTS.map(([key, , , description]) => [key, count(description)])),
    storage: closed(Object.fromEntries(STORAGE.map(([key, , , description]) => [key, count(description)]))),
    features: { type: "array", items: { enum: [...FEATURES] }, description: "What the plan has; left out: all." },
    hidden: { type: "boolean", description: "Not offered any more; accounts that have it keep it." },
  });
}
