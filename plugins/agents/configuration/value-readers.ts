// Reads values of a parsed JSON text into typed settings, and names the path of the first value that is not allowed.
import { isTimeZone } from "../../../src/kernel/util/time-zone.ts";

/** A value is not allowed for its key. The message is shown to the caller and never repeats the value. */
export class InvalidSetting extends Error {
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}

/** Called for each member that an object has beside its known ones. */
export type OnUnknown = (member: { path: string; name: string; known: readonly string[] }) => void;

/** Throws InvalidSetting for a value that is not allowed. */
export type Reader<Value> = (value: unknown, path: string, onUnknown?: OnUnknown) => Value;
type Fields = Record<string, Reader<unknown>>;
type ReadFields<F extends Fields> = { [Key in keyof F]?: ReturnType<F[Key]> };

/** `a.b` for a member of an object; the root has the path "". */
export const memberPath = (path: string, name: string) => (path === "" ? name : `${path}.${name}`);
/** `a[0]` for an item of a list. */
export const itemPath = (path: string, index: number) => `${path}[${index}]`;

/** Reads a value that `accepts` accepts. */
export const check =
  <Value>(accepts: (value: unknown) => value is Value, message: string): Reader<Value> =>
  (value, path) => {
    if (!accepts(value)) throw new InvalidSetting(path, message);
    return value;
  };

export const string = (max: number, min = 0) =>
  check(
    (value): value is string => typeof value === "string" && value.length <= max && value.length >= min,
    `This is text of ${min} to ${max} characters.`,
  );
export const number = (min: number, max: number) =>
  check(
    (value): value is number => typeof value === "number" && value >= min && value <= max,
    `This is a number from ${min} to ${max}.`,
  );
export const oneOf = <const Value extends string>(...values: Value[]) =>
  check((value): value is Value => values.some((one) => one === value), `This is one of: ${values.join(", ")}.`);
export const boolean = check((value) => typeof value === "boolean", "This is true or false.");
export const positiveInteger = check(
  (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
  "This is a whole number above 0.",
);
export const usdAmount = check(
  (value): value is number => typeof value === "number" && value >= 0 && value <= 1e9,
  "This is an amount of US dollars, 0 or more.",
);
export const timezone = check(
  (value): value is string => typeof value === "string" && isTimeZone(value),
  "This is the name of a time zone, such as Europe/Vienna.",
);
export const httpUrl = check(
  (value): value is string =>
    typeof value === "string" && value.length <= 2_000 && /^https?:$/.test(URL.parse(value)?.protocol ?? ""),
  "This is an http or https address of at most 2000 characters.",
);
const plainObject = check(
  (value): value is object => typeof value === "object" && value !== null && !Array.isArray(value),
  "This is an object.",
);

export const listOf =
  <Value>(read: Reader<Value>, max = 1_000): Reader<Value[]> =>
  (value, path, onUnknown) => {
    if (!Array.isArray(value) || value.length > max) {
      throw new InvalidSetting(path, `This is a list of at most ${max} items.`);
    }
    return value.map((item, index) => read(item, itemPath(path, index), onUnknown));
  };

/** Reads an object with arbitrary member names, as a map: `__proto__` is a name like any other. */
export const mapOf =
  <Value>(read: Reader<Value>): Reader<ReadonlyMap<string, Value>> =>
  (value, path, onUnknown) =>
    new Map(
      Object.entries(plainObject(value, path)).map(([name, item]) => [
        name,
        read(item, memberPath(path, name), onUnknown),
      ]),
    );

/** Reads an object with known members, all optional; leaves out other members. */
export const object =
  <F extends Fields>(fields: F): Reader<ReadFields<F>> =>
  (value, path, onUnknown) => {
    const source = plainObject(value, path);
    const result: Partial<Record<string, unknown>> = {};
    for (const [name, read] of Object.entries(fields)) {
      if (Object.hasOwn(source, name)) {
        result[name] = read(Reflect.get(source, name), memberPath(path, name), onUnknown);
      }
    }
    if (onUnknown) reportUnknown(source, path, Object.keys(fields), onUnknown);
    // Each member was read by the reader of its name.
    return result as ReadFields<F>;
  };

/** Calls `onUnknown` for the members of an object that are not known. */
export function reportUnknown(source: object, path: string, known: readonly string[], onUnknown: OnUnknown): void {
  for (const name of Object.keys(source)) {
    if (!known.includes(name)) onUnknown({ path: memberPath(path, name), name, known });
  }
}

/** Uses the first reader for lists and the second for other values. */
export const listOrElse =
  <Value>(forLists: Reader<Value>, otherwise: Reader<Value>): Reader<Value> =>
  (value, path, onUnknown) =>
    (Array.isArray(value) ? forLists : otherwise)(value, path, onUnknown);

/** `true`, `false`, or an object that may say `enabled: false`. */
export const readSwitch: Reader<boolean> = (value, path, onUnknown) =>
  typeof value === "boolean" ? value : (object({ enabled: boolean })(value, path, onUnknown).enabled ?? true);

/** A list of names, each with the same meaning. */
export const namesMappedTo =
  <Value>(meaning: Value): Reader<ReadonlyMap<string, Value>> =>
  (value, path) =>
    new Map(listOf(string(200, 1))(value, path).map((name) => [name, meaning]));
