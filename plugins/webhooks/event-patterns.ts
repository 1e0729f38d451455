// Matches event types against the patterns that endpoints and readers of the feed name.
import { invalidInput } from "../../src/kernel/errors.ts";
import { EVENT_TYPES } from "./event-types.ts";

const GROUPS = [...new Set(EVENT_TYPES.map((type) => `${type.split(".")[0]}.*`))];
const KNOWN_PATTERNS = new Set<string>(["*", ...GROUPS, ...EVENT_TYPES]);

/**
 * Checks patterns and removes duplicates: types, groups such as `agent.*`, or `*`, which is also the default. 400 for an
 * unknown pattern or an empty list.
 */
export function requireEventTypes(requested: readonly string[] | undefined): string[] {
  if (requested === undefined) return ["*"];
  if (requested.length === 0)
    throw invalidInput({ path: "types", message: "Name at least one type, or leave types out for all." });
  const unknown = requested.findIndex((type) => !KNOWN_PATTERNS.has(type));
  if (unknown >= 0) {
    const path = `types.${unknown}`;
    throw invalidInput({
      path,
      message: `There is no such event type. Choose from: *, ${[...GROUPS, ...EVENT_TYPES].join(", ")}.`,
    });
  }
  return [...new Set(requested)];
}

/** Whether one of the patterns matches this type. */
export const matchesEventType = (patterns: readonly string[], type: string): boolean =>
  patterns.some((pattern) => pattern === "*" || pattern === type || isInGroup(pattern, type));

const isInGroup = (pattern: string, type: string) => pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1));
