// Reads single values out of parsed JSON whose form is not known.

/** The value at a path of member names; undefined where it is missing. */
export function valueAt(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = Reflect.get(found, name);
  }
  return found;
}

/** The trimmed text at a path; undefined where there is none, or an empty one. */
export function textAt(value: unknown, ...path: string[]): string | undefined {
  const found = valueAt(value, ...path);
  const text = typeof found === "string" ? found.trim() : "";
  return text === "" ? undefined : text;
}

/** The list at a path; empty where there is none. */
export function listAt(value: unknown, ...path: string[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The texts at a path: a single one, or those of a list. */
export function textsAt(value: unknown, ...path: string[]): string[] {
  const found = valueAt(value, ...path);
  const items: unknown[] = Array.isArray(found) ? found : [found];
  return items.flatMap((item) => (typeof item === "string" && item.trim() !== "" ? [item.trim()] : []));
}

/** The names of an object's members; empty for anything else. */
export const namesAt = (value: unknown, ...path: string[]): string[] => {
  const found = valueAt(value, ...path);
  return typeof found === "object" && found !== null && !Array.isArray(found) ? Object.keys(found) : [];
};
