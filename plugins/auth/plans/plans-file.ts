// Reads the operator's plans.json: each mistake is reported with its place and what to write there.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { duplicateKey } from "../../../src/kernel/util/json-text.ts";
import {
  createPlanTable,
  DEFAULT_PLANS,
  FEATURES,
  type Plan,
  type PlanLimits,
  type PlanTable,
  UNLIMITED,
} from "./plan-table.ts";

export interface PlansFile {
  path: string;
  table: PlanTable;
  /** Sentences that begin with the place. */
  problems: string[];
}

const MIB = 1024 * 1024;
/** The keys of whole numbers, what they are called in the file, and the bytes of one. */
export const COUNTS = [
  ["agents", "agents", 1, "Agents of the account"],
  ["schedules", "schedules", 1, "Schedules of all agents together"],
  ["streams", "streams", 1, "Live streams at a time"],
  ["channels", "channels", 1, "Connected bots of all agents together"],
  ["skills", "skills", 1, "Installed skills"],
] as const satisfies readonly (readonly [string, keyof PlanLimits, number, string])[];
export const STORAGE = [
  ["filesMiB", "fileBytes", MIB, "MiB of files that people send to agents"],
  ["skillsMiB", "skillBytes", MIB, "MiB of skills, in all their versions"],
  ["knowledgeMiB", "knowledgeBytes", MIB, "MiB of the files that one agent knows"],
  ["knowledgeFiles", "knowledgeFiles", 1, "Files that one agent knows"],
  ["knowledgePassages", "knowledgePassages", 1, "Passages of these files that are searched"],
] as const satisfies readonly (readonly [string, keyof PlanLimits, number, string])[];

export const PLAN_ID = /^[a-z][a-z0-9-]{0,31}$/;
export const CURRENCY = /^[a-z]{3}$/;
/** Currencies of Stripe without a smaller unit. */
const WHOLE_CURRENCIES = new Set("bif clp djf gnf jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf".split(" "));
const MAX_COUNT = 1_000_000_000;
const DEFAULT_IDS = DEFAULT_PLANS.map(({ id }) => id).join(", ");
const PLAN_KEYS = [
  ...[
    "name",
    "price",
    "stripePrice",
    "stripeMeterPrice",
    "overageUsdPerMonth",
    "trialDays",
    "modelUsdPerMonth",
    "storage",
    "features",
    "hidden",
  ],
  ...COUNTS.map(([key]) => key),
];

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function readPlansFile(path: string): PlansFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    const problem = `${path} can't be read. Give the path of a file that this user may read.`;
    return { path, table: createPlanTable(DEFAULT_PLANS), problems: [problem] };
  }
  return { path, ...parsePlans(text, basename(path)) };
}

/** @param file its name, for the sentences */
export function parsePlans(text: string, file: string): Omit<PlansFile, "path"> {
  const problems: string[] = [];
  const report = (place: string, sentence: string) => void problems.push(`${file}: ${place} ${sentence}`);
  const failed = () => ({ table: createPlanTable(DEFAULT_PLANS), problems });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    report(
      "is not JSON",
      `(${error instanceof Error ? error.message : "it ends too early"}). Look for a missing comma or quote.`,
    );
    return failed();
  }
  if (!isFields(value) || !isFields(value.plans)) {
    report("plans", 'is missing. Write { "plans": { "pro": { "agents": 5 } } }.');
    return failed();
  }
  const twice = duplicateKey(text, value);
  if (twice !== undefined) {
    report(twice, "is there twice in one object, so one of the two would be ignored. Leave one out.");
    return failed();
  }
  unknownKeys(value, "", ["$schema", "plans"], report);
  const plans = new Map(DEFAULT_PLANS.map((plan) => [plan.id, plan]));
  for (const [id, fields] of Object.entries(value.plans)) {
    const place = `plans.${id}`;
    if (!PLAN_ID.test(id)) report(place, "is no name of a plan. Take small letters, digits and hyphens, at most 32.");
    else if (fields === null && id === "free")
      report(place, "can't be removed: accounts without a subscription have it. Lower its limits.");
    else if (fields === null && !plans.delete(id))
      report(place, `is null, which removes a plan, and there is none of this name. There are: ${DEFAULT_IDS}.`);
    else if (fields === null) continue;
    else if (!isFields(fields)) report(place, "must be an object, or null to remove this plan.");
    // A plan of the operator's own begins with the limits of the free one.
    else plans.set(id, readPlan(id, fields, plans.get(id) ?? plans.get("free") ?? DEFAULT_PLANS[0], report));
  }
  const sold = Map.groupBy(
    [...plans.values()].filter((plan) => plan.stripePrice),
    (plan) => plan.stripePrice,
  );
  for (const same of sold.values())
    if (same.length > 1)
      report(
        `plans.${same[1]?.id}.stripePrice`,
        `is also that of ${same[0]?.id}. Make a price at Stripe for each plan.`,
      );
  return problems.length > 0 ? failed() : { table: createPlanTable([...plans.values()]), problems };
}

type Report = (place: string, sentence: string) => void;

function readPlan(id: string, fields: Fields, base: Plan | undefined, report: Report): Plan {
  if (!base) throw new Error("There are no default plans.");
  const place = `plans.${id}`;
  unknownKeys(fields, place, PLAN_KEYS, report);
  const plan: Plan = { ...base, id };
  const {
    name,
    price,
    stripePrice,
    stripeMeterPrice,
    overageUsdPerMonth,
    trialDays,
    modelUsdPerMonth,
    storage,
    features,
    hidden,
  } = fields;
  for (const [key, limit] of COUNTS) plan[limit] = readCount(fields[key], base[limit], 1, `${place}.${key}`, report);
  if (storage !== undefined && !isFields(storage))
    report(`${place}.storage`, 'must be an object, such as { "filesMiB": 1024 }.');
  else if (storage) {
    unknownKeys(
      storage,
      `${place}.storage`,
      STORAGE.map(([key]) => key),
      report,
    );
    for (const [key, limit, unit] of STORAGE)
      plan[limit] = readCount(storage[key], base[limit], unit, `${place}.storage.${key}`, report);
  }
  if (typeof name === "string" && /^[^\p{Cc}]{1,60}$/u.test(name)) plan.name = name;
  else if (name !== undefined) report(`${place}.name`, "must be a text of at most 60 characters.");
  else if (id !== base.id) plan.name = undefined;
  if (price !== undefined) plan.price = readPrice(price, `${place}.price`, report);
  if (isStripePrice(stripePrice)) plan.stripePrice = stripePrice;
  else if (stripePrice !== undefined)
    report(`${place}.stripePrice`, 'must be the id of a monthly price at Stripe, such as "price_1Abc".');
  if (id === "free" && (price !== undefined || stripePrice !== undefined))
    report(
      `${place}.${price !== undefined ? "price" : "stripePrice"}`,
      "has no use: accounts without a subscription have this plan. Leave it out.",
    );
  if (trialDays !== undefined) plan.trialDays = readTrial(trialDays, `${place}.trialDays`, report);
  if (modelUsdPerMonth !== undefined)
    plan.modelMicroUsd = readBudget(modelUsdPerMonth, `${place}.modelUsdPerMonth`, report);
  if (isStripePrice(stripeMeterPrice)) plan.stripeMeterPrice = stripeMeterPrice;
  else if (stripeMeterPrice !== undefined)
    report(`${place}.stripeMeterPrice`, 'must be the id of a metered price at Stripe, such as "price_1Abc".');
  if (overageUsdPerMonth !== undefined)
    plan.overageMicroUsd = readOverage(overageUsdPerMonth, `${place}.overageUsdPerMonth`, report);
  if (plan.overageMicroUsd > 0 && !(plan.stripeMeterPrice && plan.stripePrice))
    report(`${place}.overageUsdPerMonth`, "is billed by Stripe's meter. Set stripePrice and stripeMeterPrice too.");
  if (features !== undefined) {
    if (Array.isArray(features) && features.every((one) => FEATURES.includes(one)))
      plan.features = FEATURES.filter((one) => features.includes(one));
    else report(`${place}.features`, `must be a list of what the plan has: ${FEATURES.join(", ")}.`);
  }
  if (typeof hidden === "boolean") plan.hidden = hidden;
  else if (hidden !== undefined) report(`${place}.hidden`, "must be true or false.");
  return plan;
}

function readCount(value: unknown, base: number, unit: number, place: string, report: Report): number {
  if (value === undefined) return base;
  if (value === null) return UNLIMITED;
  if (
    typeof value === "number" &&
    Number.isInteger(value) &&
    value >= 0 &&
    value * unit <= MAX_COUNT * MIB &&
    value <= MAX_COUNT
  )
    return value * unit;
  report(place, "must be a whole number from 0 to 1000000000, or null for no limit.");
  return base;
}

function readPrice(value: unknown, place: string, report: Report): Plan["price"] {
  if (value === null) return undefined;
  const { amount, currency } = isFields(value) ? value : {};
  if (isFields(value)) unknownKeys(value, place, ["amount", "currency"], report);
  if (typeof currency === "string" && CURRENCY.test(currency) && !isCurrency(currency)) {
    report(`${place}.currency`, 'is no currency of ISO 4217. Write one in small letters, such as "usd" or "eur".');
    return undefined;
  }
  if (
    typeof currency === "string" &&
    CURRENCY.test(currency) &&
    typeof amount === "number" &&
    amount >= 0 &&
    amount <= 1_000_000
  ) {
    const units = amount * (WHOLE_CURRENCIES.has(currency) ? 1 : 100);
    if (Math.abs(units - Math.round(units)) < 1e-6) return { minorUnits: Math.round(units), currency };
  }
  report(place, 'must be what a month costs, such as { "amount": 29.00, "currency": "usd" }.');
  return undefined;
}

const isCurrency = (code: string) => Intl.supportedValuesOf("currency").includes(code.toUpperCase());

function readTrial(value: unknown, place: string, report: Report): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 730) return value;
  report(place, "must be a whole number of days from 0 to 730.");
  return 0;
}

function readBudget(value: unknown, place: string, report: Report): number | undefined {
  if (value === null) return Number.POSITIVE_INFINITY;
  if (typeof value === "number" && value >= 0 && value <= 1_000_000_000) return Math.round(value * 1e6);
  report(place, "must be an amount of US dollars, such as 20.50, or null for no limit.");
  return undefined;
}

const isStripePrice = (value: unknown): value is string => typeof value === "string" && /^price_\w{1,200}$/.test(value);

function readOverage(value: unknown, place: string, report: Report): number {
  if (typeof value === "number" && value >= 0 && value <= 1_000_000) return Math.round(value * 1e6);
  report(place, "must be an amount of US dollars, such as 100. It is the most that a month can cost beyond the plan.");
  return 0;
}

function unknownKeys(fields: Fields, place: string, known: readonly string[], report: Report): void {
  for (const key of Object.keys(fields))
    if (!known.includes(key))
      report(place === "" ? key : `${place}.${key}`, `is not known here. There are: ${known.join(", ")}.`);
}
