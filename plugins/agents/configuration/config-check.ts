// Checks the text of a configuration before it is stored, and says what in it has no effect.
import { AppError, type Issue, invalidInput } from "../../../src/kernel/errors.ts";
import { nearestName } from "../../../src/kernel/util/nearest-name.ts";
import { findInvalidSchedule } from "./schedule-settings.ts";
import { findSecret } from "./secret-detection.ts";
import { type AgentSettings, MAX_CONFIG_BYTES, readSettings } from "./settings.ts";

/** Unknown keys that are named; further ones are counted. */
const MAX_NAMED_UNKNOWN = 50;

export const configTooLarge = () =>
  new AppError(400, "CONFIG_TOO_LARGE", "A configuration has at most 64 KiB.", { limit: MAX_CONFIG_BYTES });

/**
 * Validates the text of a configuration before it is stored. Throws 400: not a JSON object (`INVALID_CONFIG`), over 64 KiB
 * (`CONFIG_TOO_LARGE`), a known key with a value that is not allowed (named in `issues`), or a secret in it
 * (`SECRET_IN_CONFIG`).
 * @param keyShapes patterns of the keys of all registered providers
 * @param mcpCommands the commands that the operator allows for MCP servers
 */
export async function requireConfig(
  text: string,
  keyShapes: readonly RegExp[],
  mcpCommands: readonly string[] = [],
): Promise<AgentSettings> {
  if (Buffer.byteLength(text) > MAX_CONFIG_BYTES) throw configTooLarge();
  const config = parseObject(text);
  if (config === undefined) {
    throw invalidInput({ path: "config", message: "A configuration is a JSON object." }, "INVALID_CONFIG");
  }
  const { settings, issues } = readSettings(config);
  if (issues.length > 0) throw invalidInput(issues);
  const forbidden = findForbiddenCommands(settings, mcpCommands);
  if (forbidden.length > 0) throw invalidInput(forbidden);
  const secret = findSecret(config, keyShapes);
  if (secret !== undefined) {
    const message = "This looks like a secret, and a configuration is shown as it is. Set it as a credential instead.";
    throw invalidInput({ path: secret, message }, "SECRET_IN_CONFIG");
  }
  const invalidSchedule = await findInvalidSchedule(settings.schedules ?? [], settings.timezone);
  if (invalidSchedule) throw invalidInput(invalidSchedule, "INVALID_SCHEDULE");
  return settings;
}

/**
 * What in a valid configuration has no effect: unknown keys, and values that others make useless. The text has passed
 * `requireConfig`.
 */
export function findIneffective(text: string): { settings: AgentSettings; warnings: Issue[] } {
  const warnings: Issue[] = [];
  let unknown = 0;
  const { settings } = readSettings(JSON.parse(text), ({ path, name, known }) => {
    if (++unknown > MAX_NAMED_UNKNOWN) return;
    const message = unknownName("This key is stored, but nothing reads it.", name, known);
    warnings.push({ path, message });
  });
  if (unknown > MAX_NAMED_UNKNOWN) {
    warnings.push({ path: "", message: `Nothing reads ${unknown - MAX_NAMED_UNKNOWN} further keys.` });
  }
  return { settings, warnings: [...warnings, ...findUnusedAccess(settings), ...findPastSchedules(settings)] };
}

/** Adds the known name that is nearest to an unknown one to a message. */
export function unknownName(message: string, name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? message : `${message} Did you mean ${nearest}?`;
}

/** A server that is switched off may name any command, so that an agent from another installation can be imported. */
const findForbiddenCommands = ({ mcpServers = new Map() }: AgentSettings, allowed: readonly string[]): Issue[] =>
  [...mcpServers].flatMap(([name, { command, enabled }]) => {
    if (command === undefined || enabled === false || allowed.includes(command)) return [];
    const message =
      allowed.length === 0
        ? "The operator allows no commands. Give the url of a server instead."
        : `The operator does not allow this command. Choose from: ${allowed.join(", ")}.`;
    return [{ path: `mcpServers.${name}.command`, message }];
  });

/** A list of allowed people counts only where `access` says so. */
const findUnusedAccess = ({ channels = {} }: AgentSettings): Issue[] =>
  Object.entries(channels).flatMap(([channel, { allow = [], access } = {}]) =>
    allow.length > 0 && access !== "allowlist"
      ? [{ path: `channels.${channel}.allow`, message: 'This list has an effect only with "access": "allowlist".' }]
      : [],
  );

const findPastSchedules = ({ schedules = [] }: AgentSettings): Issue[] =>
  schedules.flatMap(({ at }, index) =>
    at !== undefined && Date.parse(at) < Date.now()
      ? [{ path: `schedules[${index}].at`, message: "This time is over: the schedule does not run." }]
      : [],
  );

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
