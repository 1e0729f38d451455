// Reads the schedules of a configuration, and checks when they run.
import { channelIds } from "../../../channels/registry.ts";
import type { Issue } from "../../../src/kernel/errors.ts";
import { isSchema, type Schema } from "../../../src/kernel/http/openapi/document.ts";
import { InvalidCron, readCron, requireRuns } from "../../../src/kernel/util/cron/cron.ts";
import {
  boolean,
  check,
  deferred,
  described,
  InvalidSetting,
  itemPath,
  object,
  oneOf,
  reader,
  string,
  timezone,
} from "./value-readers.ts";

/** A configuration may hold so many schedules. */
export const MAX_SCHEDULES = 100;

export type ScheduleSettings = Omit<ReturnType<typeof scheduleFields>, "message" | "prompt" | "deliver"> & {
  prompt: string;
  deliver?: Delivery;
};
/** null or left out: the reply goes nowhere, it is only stored. */
type Delivery = { platform: string; peer: string } | { webhook: true } | null;

/** A date, a time, and either no offset, Z or one such as +02:00. */
const ISO_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)?$/;

const isoTime = check(
  { type: "string", pattern: ISO_TIME.source },
  (value): value is string => typeof value === "string" && ISO_TIME.test(value) && !Number.isNaN(Date.parse(value)),
  'This must be a time in ISO 8601, such as "2030-01-31T09:00".',
);

const conversation = { platform: deferred(() => oneOf(...channelIds())), peer: string(200, 1) };
const deliverFields = object({ ...conversation, webhook: boolean });
/** An object schema that refuses some members. */
const without = (names: readonly string[], schema: Schema): Schema => ({
  ...schema,
  properties: {
    ...(isSchema(schema.properties) ? schema.properties : {}),
    ...Object.fromEntries(names.map((name) => [name, { not: {}, description: "Not together with the others" }])),
  },
});
const deliverTo = reader(
  () => ({
    oneOf: [
      without(["webhook"], { ...object(conversation).schema(), required: ["platform", "peer"] }),
      without(["platform", "peer"], {
        type: "object",
        properties: { webhook: { const: true } },
        required: ["webhook"],
      }),
      { type: "null" },
    ],
  }),
  (value, path, onUnknown): Delivery => {
    if (value === null) return null;
    const { platform, peer, webhook } = deliverFields(value, path, onUnknown);
    if (webhook === true && platform === undefined && peer === undefined) return { webhook };
    if (webhook === undefined && platform !== undefined && peer !== undefined) return { platform, peer };
    throw new InvalidSetting(path, 'This must be { "platform": …, "peer": … }, { "webhook": true } or null.');
  },
);

const prompt = string(16_384, 1);
const scheduleFields = object({
  name: described(string(200, 1), { description: "Shown in the list of schedules." }),
  prompt: described(prompt, { description: "The message that the agent gets at that time." }),
  message: described(prompt, { description: "The name of `prompt` in earlier versions.", deprecated: true }),
  cron: described(string(200, 1), {
    description: "When: five fields, or a name such as `@daily`. At most once a minute.",
    examples: ["0 9 * * MON-FRI"],
  }),
  at: described(isoTime, {
    description: "In place of `cron`: a single run, in ISO 8601. Without an offset it is a time in `timezone`.",
    examples: ["2030-01-31T09:00"],
  }),
  timezone: described(timezone, { description: "Left out: the agent's `timezone`.", examples: ["Europe/Vienna"] }),
  deliver: described(deliverTo, {
    description:
      "Where the answer goes: to a conversation on a channel, to the webhooks, or nowhere (null, or left out): then it is only stored.",
    examples: [{ platform: "channel_a", peer: "42" }, { webhook: true }],
  }),
  missed: described(oneOf("skip", "once", "all"), {
    description: "How to treat runs that were missed while the service was down.",
    default: "once",
  }),
  enabled: described(boolean, { description: "`false` pauses the schedule.", default: true }),
});

export const schedule = described(
  reader(
    () => ({
      ...scheduleFields.schema(),
      allOf: [
        { anyOf: [{ required: ["prompt"] }, { required: ["message"] }] },
        { oneOf: [{ required: ["cron"] }, { required: ["at"] }] },
      ],
    }),
    (value, path, onUnknown): ScheduleSettings => {
      const { prompt: given, message, ...rest } = scheduleFields(value, path, onUnknown);
      const text = given ?? message;
      if (text === undefined) {
        throw new InvalidSetting(`${path}.prompt`, "A schedule needs a prompt: what the agent is told.");
      }
      if ((rest.cron === undefined) === (rest.at === undefined)) {
        throw new InvalidSetting(`${path}.cron`, "A schedule needs either a cron expression or, for a single run, at.");
      }
      return { prompt: text, ...rest };
    },
  ),
  { title: "ConfiguredSchedule", description: "A prompt that the agent gets at set times." },
);

/**
 * The first schedule whose cron expression can't be read or never comes. Only the first, because the search for a day
 * that never comes takes some milliseconds.
 */
export async function findInvalidSchedule(
  schedules: readonly ScheduleSettings[],
  defaultTimezone: string | undefined,
): Promise<Issue | undefined> {
  for (const [index, { cron, timezone: own }] of schedules.entries()) {
    if (cron === undefined) continue;
    // A rare day takes some milliseconds to find; a hundred in a row would hold up other requests.
    if (index > 0) await Bun.sleep(0);
    try {
      requireRuns(await readCron(cron, own ?? defaultTimezone ?? "UTC"), Date.now(), 1);
    } catch (error) {
      if (!(error instanceof InvalidCron)) throw error;
      return { path: `${itemPath("schedules", index)}.cron`, message: error.message };
    }
  }
  return undefined;
}
