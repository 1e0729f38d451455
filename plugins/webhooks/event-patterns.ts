// Matches event types against the patterns that endpoints and readers of the feed name.
import { invalidInput } from "../../src/kernel/errors.ts";
import { EVENT_TYPES } from "./event-types.ts";

/**
 * Checks patterns and removes duplicates: types, groups such as `agent.*`, or `*`, which is also the default. 400 for an
 * unknown pattern or an empty list.
 *
 * @param declared the types of third-party plugins
 */
export function requireEventTypes(
  requested: readonly string[] | undefined,
  declared: readonly string[] = [],
): string[] {
  if (requested === undefined) return ["*"];
  if (requested.length === 0)
    throw invalidInput({ path: "types", message: "Name at least one type, or leave types out for all." });
  const types = [...EVENT_TYPES, ...declared];
  const groups = [...new Set(types.map((type) => `${type.split(".")[0]}.*`))];
  const known = new Set<string>(["*", ...groups, ...types]);
  const unknown = requested.findIndex((type) => !known.has(type));
  if (unknown >= 0) {
    const path = `types.${unknown}`;
    throw invalidInput({
      path,
      message: `There is no such event type. Choose from: *, ${[...groups, ...types].join(", ")}.`,
    });
  }
  return [...new Set(requested)];
}

/** Whether one of the patterns matches this type. */
export const matchesEventType = (patterns: readonly string[], type: string): boolean =>
  patterns.some((pattern) => pattern === "*" || pattern === type || isInGroup(pattern, type));

const isInGroup = (pattern: string, type: string) => pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1));
