// Compares two configurations by key, and merges changes of two people that concern different keys.

export type Config = Readonly<Record<string, unknown>>;

/** A value that differs; `undefined` on the side where it is not there. */
export interface Change {
  /** As the API writes paths: `budget.usdPerDay`. */
  path: string;
  before: unknown;
  after: unknown;
}

const isObject = (value: unknown): value is Config =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isEqual = (one: unknown, other: unknown): boolean => changesOf({ it: one }, { it: other }).length === 0;

/** What differs, in the order of the newer configuration; lists are compared as a whole. */
export function changesOf(before: Config, after: Config, path = ""): Change[] {
  const keys = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return keys.flatMap((key) => {
    const at = path === "" ? key : `${path}.${key}`;
    const [old, next] = [own(before, key), own(after, key)];
    if (isObject(old) && isObject(next)) return changesOf(old, next, at);
    return JSON.stringify(old) === JSON.stringify(next) ? [] : [{ path: at, before: old, after: next }];
  });
}

const own = (config: Config, key: string): unknown => (Object.hasOwn(config, key) ? config[key] : undefined);

/** The configuration with other values at its first level; `undefined` removes a key. */
export function withKey(config: Config, key: string, value: unknown): Config {
  const entries = Object.entries(config);
  const known = entries.some(([name]) => name === key);
  const next = known
    ? entries.map(([name, before]) => [name, name === key ? value : before] as const)
    : [...entries, [key, value] as const];
  return Object.fromEntries(next.filter(([, one]) => one !== undefined));
}

/**
 * Both people's changes to the same base, at the first level of keys; undefined if both have changed the same key in
 * different ways.
 */
export function mergeChanges(base: Config, mine: Config, theirs: Config): Config | undefined {
  let merged = theirs;
  for (const key of new Set([...Object.keys(base), ...Object.keys(mine)])) {
    const [old, my, their] = [own(base, key), own(mine, key), own(theirs, key)];
    if (isEqual(old, my) || isEqual(my, their)) continue;
    if (!isEqual(old, their)) return undefined;
    merged = withKey(merged, key, my);
  }
  return merged;
}
