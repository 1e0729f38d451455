// Defines and validates the known keys of an agent's configuration. `schedules` and `mcpServers` are validated, but no
// plugin uses them yet.
import type { ChannelId } from "../../../channels/port.ts";
import { mapChannels } from "../../../channels/registry.ts";
import { AppError, type Issue, invalidInput } from "../../../src/kernel/errors.ts";
import { isTimeZone } from "../../../src/kernel/util/time-zone.ts";
import { findSecret } from "./secret-detection.ts";

/** The largest configuration, in bytes. */
export const MAX_CONFIG_BYTES = 64 * 1024;

export interface ChannelSettings {
  /** Who may talk to the agent on this channel. Default: `owner` if it has owners, else `pairing`. */
  access?: "owner" | "pairing" | "allowlist" | "open";
  /** Ids of the platform, never user names, which people can change. */
  owners?: string[];
  allow?: string[];
  groups?: "mention" | "all" | "off";
}

export interface ScheduleSettings {
  /** Five fields, or a name such as `@daily`. */
  cron: string;
  /** The message that the agent receives at that time. */
  message: string;
  id?: string;
  timezone?: string;
  /** How to treat runs that were missed while the service was down. Default: `once`. */
  missed?: "skip" | "once" | "all";
  enabled?: boolean;
}

export interface McpServerSettings {
  /** Streamable HTTP. */
  url?: string;
  /** stdio; only if the operator allows the command. */
  command?: string;
  args?: string[];
  enabled?: boolean;
}

/** The known keys of a configuration, validated and converted. */
export interface AgentSettings {
  /** The model behind the choice `custom`, as `provider_N:id`. */
  model?: string;
  instructions?: string;
  /** 0 to 2. */
  temperature?: number;
  /** 0 to 1. */
  topP?: number;
  maxTokens?: number;
  /** Long-term memory. Default: on. */
  memory?: boolean;
  /** Whether a skill is on, by its id; other skills keep their default. */
  skills?: ReadonlyMap<string, boolean>;
  mcpServers?: ReadonlyMap<string, McpServerSettings>;
  channels?: Partial<Record<ChannelId, ChannelSettings>>;
  schedules?: ScheduleSettings[];
  /** In US dollars. */
  budget?: { usdPerDay?: number; usdPerMonth?: number };
  /** Whether a tool runs, waits for the owner's approval, or never runs, by its name. */
  approvals?: ReadonlyMap<string, Approval>;
  /** IANA name. */
  timezone?: string;
}

export type Approval = "allow" | "ask" | "deny";

/** A value is not allowed for its key. The message is shown to the caller and never repeats the value. */
class InvalidSetting extends Error {
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}

type Reader<Value> = (value: unknown, path: string) => Value;
type Fields = Record<string, Reader<unknown>>;
type ReadFields<F extends Fields> = { [Key in keyof F]?: ReturnType<F[Key]> };

/** Reads a value that `accepts` accepts. */
const check =
  <Value>(accepts: (value: unknown) => value is Value, message: string): Reader<Value> =>
  (value, path) => {
    if (!accepts(value)) throw new InvalidSetting(path, message);
    return value;
  };

const string = (max: number, min = 0) =>
  check(
    (value): value is string => typeof value === "string" && value.length <= max && value.length >= min,
    `This is text of ${min} to ${max} characters.`,
  );
const number = (min: number, max: number) =>
  check(
    (value): value is number => typeof value === "number" && value >= min && value <= max,
    `This is a number from ${min} to ${max}.`,
  );
const oneOf = <const Value extends string>(...values: Value[]) =>
  check((value): value is Value => values.some((one) => one === value), `This is one of: ${values.join(", ")}.`);
const boolean = check((value) => typeof value === "boolean", "This is true or false.");
const positiveInteger = check(
  (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
  "This is a whole number above 0.",
);
const usdAmount = check(
  (value): value is number => typeof value === "number" && value >= 0 && value <= 1e9,
  "This is an amount of US dollars, 0 or more.",
);
const timezone = check(
  (value): value is string => typeof value === "string" && isTimeZone(value),
  "This is the name of a time zone, such as Europe/Vienna.",
);
const plainObject = check(
  (value): value is object => typeof value === "object" && value !== null && !Array.isArray(value),
  "This is an object.",
);
const list = check((value): value is unknown[] => Array.isArray(value) && value.length <= 1_000, "This is a list.");

const listOf =
  <Value>(read: Reader<Value>): Reader<Value[]> =>
  (value, path) =>
    list(value, path).map((item, index) => read(item, `${path}.${index}`));

/** Reads an object with arbitrary member names, as a map: `__proto__` is a name like any other. */
const mapOf =
  <Value>(read: Reader<Value>): Reader<ReadonlyMap<string, Value>> =>
  (value, path) =>
    new Map(Object.entries(plainObject(value, path)).map(([name, item]) => [name, read(item, `${path}.${name}`)]));

/** Reads an object with known members, all optional; ignores other members. */
const object =
  <F extends Fields>(fields: F): Reader<ReadFields<F>> =>
  (value, path) => {
    const source = plainObject(value, path);
    const result: Partial<Record<string, unknown>> = {};
    for (const [name, read] of Object.entries(fields)) {
      if (Object.hasOwn(source, name)) result[name] = read(Reflect.get(source, name), path ? `${path}.${name}` : name);
    }
    // Each member was read by the reader of its name.
    return result as ReadFields<F>;
  };

/** Uses the first reader for lists and the second for other values. */
const listOrElse =
  <Value>(forLists: Reader<Value>, otherwise: Reader<Value>): Reader<Value> =>
  (value, path) =>
    (Array.isArray(value) ? forLists : otherwise)(value, path);

const readSwitch: Reader<boolean> = (value, path) =>
  typeof value === "boolean" ? value : (object({ enabled: boolean })(value, path).enabled ?? true);
const namesMappedTo =
  <Value>(meaning: Value): Reader<ReadonlyMap<string, Value>> =>
  (value, path) =>
    new Map(listOf(string(200, 1))(value, path).map((name) => [name, meaning]));

const channel = object({
  access: oneOf("owner", "pairing", "allowlist", "open"),
  owners: listOf(string(200, 1)),
  allow: listOf(string(200, 1)),
  groups: oneOf("mention", "all", "off"),
});

const scheduleFields = object({
  id: string(200, 1),
  cron: string(200, 1),
  message: string(16_384, 1),
  timezone,
  missed: oneOf("skip", "once", "all"),
  enabled: boolean,
});
const schedule: Reader<ScheduleSettings> = (value, path) => {
  const { cron, message, ...rest } = scheduleFields(value, path);
  if (cron === undefined) throw new InvalidSetting(`${path}.cron`, "A schedule needs a cron expression.");
  if (message === undefined) throw new InvalidSetting(`${path}.message`, "A schedule needs a message for the agent.");
  return { cron, message, ...rest };
};

const READERS = {
  model: string(200, 1),
  instructions: string(MAX_CONFIG_BYTES),
  temperature: number(0, 2),
  topP: number(0, 1),
  maxTokens: positiveInteger,
  memory: readSwitch,
  skills: listOrElse(namesMappedTo(true), mapOf(readSwitch)),
  mcpServers: mapOf(
    object({ url: string(2_000, 1), command: string(1_000, 1), args: listOf(string(2_000)), enabled: boolean }),
  ),
  channels: (value, path) => object(mapChannels(() => channel))(value, path),
  schedules: listOf(schedule),
  budget: object({ usdPerDay: usdAmount, usdPerMonth: usdAmount }),
  approvals: listOrElse(namesMappedTo<Approval>("ask"), mapOf(oneOf("allow", "ask", "deny"))),
  timezone,
} satisfies { [Key in keyof AgentSettings]-?: Reader<NonNullable<AgentSettings[Key]>> };

/**
 * Reads the settings of a configuration. Known keys with a wrong value are left out and listed in `issues`; unknown keys
 * are ignored.
 */
export function readSettings(config: object): { settings: AgentSettings; issues: Issue[] } {
  const settings: AgentSettings = {};
  const issues: Issue[] = [];
  for (const [key, reader] of Object.entries(READERS)) {
    if (!Object.hasOwn(config, key)) continue;
    try {
      Object.assign(settings, { [key]: reader(Reflect.get(config, key), key) });
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      issues.push({ path: error.path, message: error.message });
    }
  }
  return { settings, issues };
}

/**
 * Validates the text of a configuration before it is stored. Throws 400: not a JSON object (`INVALID_CONFIG`), over 64 KiB
 * (`CONFIG_TOO_LARGE`), a known key of the wrong type (named in `issues`), or a secret in it (`SECRET_IN_CONFIG`).
 * @param keyShapes patterns of the keys of all registered providers
 */
export function requireConfig(text: string, keyShapes: readonly RegExp[]): AgentSettings {
  if (Buffer.byteLength(text) > MAX_CONFIG_BYTES) {
    throw new AppError(400, "CONFIG_TOO_LARGE", "A configuration has at most 64 KiB.", { limit: MAX_CONFIG_BYTES });
  }
  const config = parseObject(text);
  if (config === undefined) {
    throw invalidInput({ path: "config", message: "A configuration is a JSON object." }, "INVALID_CONFIG");
  }
  const { settings, issues } = readSettings(config);
  if (issues.length > 0) throw invalidInput(issues);
  const secret = findSecret(config, keyShapes);
  if (secret !== undefined) {
    const message = "This looks like a secret, and a configuration is shown as it is. Set it as a credential instead.";
    throw invalidInput({ path: secret, message }, "SECRET_IN_CONFIG");
  }
  return settings;
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
