// Tests what the operator's plans.json changes, and that each mistake is reported with its place and the fix.
import { describe, expect, test } from "bun:test";
import Ajv from "ajv/dist/2020";
import { DEFAULT_PLANS, UNLIMITED } from "./plan-table.ts";
import { parsePlans } from "./plans-file.ts";
import { plansSchema } from "./plans-schema.ts";

const read = (plans: unknown) => parsePlans(JSON.stringify({ plans }), "plans.json");
const isValid = new Ajv({ strict: false }).compile(plansSchema("https://berth.example"));

describe("the file", () => {
  test("changes what it names, and nothing else", () => {
    const { table, problems } = read({
      pro: { agents: 5, storage: { filesMiB: 1 }, price: { amount: 29.5, currency: "usd" } },
    });
    expect(problems).toEqual([]);
    const [free, starter, pro, enterprise] = DEFAULT_PLANS;
    if (!pro) throw new Error("There is no plan pro.");
    expect(table.plans[0]).toEqual(free);
    expect(table.plans[1]).toEqual(starter);
    expect(table.plans[3]).toEqual(enterprise);
    expect(table.of("pro")).toEqual({
      ...{ ...pro, agents: 5, fileBytes: 1024 * 1024 },
      price: { minorUnits: 2950, currency: "usd" },
    });
  });

  test("adds plans, which begin with the limits of the free one", () => {
    const { table } = read({
      team: { name: "Team", agents: 8, channels: null, modelUsdPerMonth: 20.5, trialDays: 14 },
    });
    expect(table.plans.map(({ id }) => id)).toEqual(["free", "starter", "pro", "enterprise", "team"]);
    expect(table.of("team")).toMatchObject({
      ...{ name: "Team", agents: 8, schedules: 10, channels: UNLIMITED, modelMicroUsd: 20_500_000, trialDays: 14 },
    });
  });

  test("removes plans with null, and features that it leaves out of the list", () => {
    const { table } = read({
      starter: null,
      enterprise: null,
      free: { features: ["webhooks"], modelUsdPerMonth: null },
    });
    expect(table.plans.map(({ id }) => id)).toEqual(["free", "pro"]);
    expect(table.of("free")).toMatchObject({ features: ["webhooks"], modelMicroUsd: Number.POSITIVE_INFINITY });
    expect(table.of("starter").id).toBe("free");
  });

  test("has prices of currencies without cents", () => {
    expect(read({ pro: { price: { amount: 3000, currency: "jpy" } } }).table.of("pro").price).toEqual({
      ...{ minorUnits: 3000, currency: "jpy" },
    });
  });

  test("fits its published schema", () => {
    const plans = {
      pro: { name: "Pro", agents: null, storage: { skillsMiB: 3 }, price: { amount: 1, currency: "eur" } },
      starter: null,
    };
    expect(isValid({ $schema: "x", plans })).toBe(true);
    expect(isValid({ plans: { pro: { agent: 1 } } })).toBe(false);
    expect(isValid({ plans: { Pro: {} } })).toBe(false);
  });
});

test.each([
  [{ pro: { agents: "three" } }, "plans.pro.agents must be a whole number from 0 to 1000000000, or null for no limit."],
  [{ pro: { agents: -1 } }, "plans.pro.agents must be"],
  [{ pro: { agents: 1.5 } }, "plans.pro.agents must be"],
  [{ pro: { agent: 3 } }, "plans.pro.agent is not known here. There are: name, price,"],
  [{ pro: { storage: { files: 1 } } }, "plans.pro.storage.files is not known here. There are: filesMiB,"],
  [{ pro: { storage: 5 } }, 'plans.pro.storage must be an object, such as { "filesMiB": 1024 }.'],
  [{ pro: { storage: { filesMiB: 0.5 } } }, "plans.pro.storage.filesMiB must be"],
  [
    { pro: { price: 29 } },
    'plans.pro.price must be what a month costs, such as { "amount": 29.00, "currency": "usd" }.',
  ],
  [{ pro: { price: { amount: 1.999, currency: "usd" } } }, "plans.pro.price must be"],
  [{ pro: { price: { amount: 1, currency: "dollars" } } }, "plans.pro.price must be"],
  [
    { pro: { price: { amount: 1, currency: "xyz" } } },
    'plans.pro.price.currency is no currency of ISO 4217. Write one in small letters, such as "usd" or "eur".',
  ],
  [{ pro: { stripePrice: "prod_1" } }, "plans.pro.stripePrice must be the id of a monthly price"],
  [
    { pro: { stripePrice: "price_1" }, starter: { stripePrice: "price_1" } },
    "plans.pro.stripePrice is also that of starter.",
  ],
  [{ free: { stripePrice: "price_1" } }, "plans.free.stripePrice has no use"],
  [{ free: null }, "plans.free can't be removed"],
  [
    { prro: null },
    "plans.prro is null, which removes a plan, and there is none of this name. There are: free, starter, pro, enterprise.",
  ],
  [{ pro: [] }, "plans.pro must be an object, or null"],
  [{ Pro: {} }, "plans.Pro is no name of a plan."],
  [{ pro: { features: ["dancing"] } }, "plans.pro.features must be a list of what the plan has: apiKeys, webhooks."],
  [{ pro: { hidden: "yes" } }, "plans.pro.hidden must be true or false."],
  [{ pro: { trialDays: 1000 } }, "plans.pro.trialDays must be a whole number of days from 0 to 730."],
  [{ pro: { modelUsdPerMonth: "20" } }, "plans.pro.modelUsdPerMonth must be an amount of US dollars"],
  [{ pro: { name: "" } }, "plans.pro.name must be a text of at most 60 characters."],
  [[], 'plans is missing. Write { "plans": { "pro": { "agents": 5 } } }.'],
])("%j is reported", (plans, sentence) => {
  const { problems, table } = read(plans);
  const [problem = ""] = problems.filter((one) => one.startsWith(`plans.json: ${sentence}`));
  expect(problem).toStartWith(`plans.json: ${sentence}`);
  expect(table.plans).toEqual(DEFAULT_PLANS);
});

test("a file that is not JSON is reported", () => {
  expect(parsePlans('{ "plans": { ', "plans.json").problems[0]).toStartWith("plans.json: is not JSON (");
});

test("what is there twice is reported, since JSON would take the last one", () => {
  for (const [text, place] of [
    ['{ "plans": { "pro": { "agents": 5 }, "pro": { "agents": 9 } } }', "pro"],
    ['{ "plans": { "pro": { "agents": 5, "agents": 9 } } }', "agents"],
  ] as const) {
    const { table, problems } = parsePlans(text, "plans.json");
    expect(problems).toEqual([
      `plans.json: ${place} is there twice in one object, so one of the two would be ignored. Leave one out.`,
    ]);
    expect(table.plans).toEqual(DEFAULT_PLANS);
  }
});
