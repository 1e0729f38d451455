// Reads values of a parsed JSON text into typed settings, and names the path of the first value that is not allowed.
// Each reader carries its rules as a JSON Schema, so that what is documented is what is checked.
import type { Schema } from "../../../src/kernel/http/openapi/document.ts";
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
type Read<Value> = (value: unknown, path: string, onUnknown?: OnUnknown) => Value;
export interface Reader<Value> extends Read<Value> {
  /** The same rules as JSON Schema (2020-12); made when it is called, because channels may be added after the start. */
  readonly schema: () => Schema;
}
type Fields = Record<string, Reader<unknown>>;
type ReadFields<F extends Fields> = { [Key in keyof F]?: ReturnType<F[Key]> };

/** What a reader has to tell beside its rules. */
export interface Description {
  /** The name of the schema in the API document. */
  title?: string;
  /** What the setting does; Markdown, one or a few sentences. */
  description: string;
  /** Values that the reader accepts. */
  examples?: readonly unknown[];
  /** What applies if the setting is left out, if it is a value. */
  default?: unknown;
  deprecated?: boolean;
}

/** `a.b` for a member of an object; the root has the path "". */
export const memberPath = (path: string, name: string) => (path === "" ? name : `${path}.${name}`);
/** `a[0]` for an item of a list. */
export const itemPath = (path: string, index: number) => `${path}[${index}]`;

/** Makes a reader of a function and the schema of the values that it accepts. */
export const reader = <Value>(schema: () => Schema, read: Read<Value>): Reader<Value> =>
  Object.assign(read, { schema });

/** The same reader, with a description in its schema. */
export const described = <Value>(of: Reader<Value>, description: Description): Reader<Value> =>
  reader(
    () => ({ ...of.schema(), ...description }),
    (value, path, onUnknown) => of(value, path, onUnknown),
  );

/** A reader that is made each time it is used, for rules that follow from the list of channels. */
export const deferred = <Value>(make: () => Reader<Value>): Reader<Value> =>
  reader(
    () => make().schema(),
    (value, path, onUnknown) => make()(value, path, onUnknown),
  );

/** Reads a value that `accepts` accepts. */
export const check = <Value>(
  schema: Schema,
  accepts: (value: unknown) => value is Value,
  message: string,
): Reader<Value> =>
  reader(
    () => schema,
    (value, path) => {
      if (!accepts(value)) throw new InvalidSetting(path, message);
      return value;
    },
  );

export const string = (max: number, min = 0) =>
  check(
    { type: "string", ...(min > 0 && { minLength: min }), maxLength: max },
    (value): value is string => typeof value === "string" && value.length <= max && value.length >= min,
    `This must be text of ${min} to ${max} characters.`,
  );
export const number = (min: number, max: number) =>
  check(
    { type: "number", minimum: min, maximum: max },
    (value): value is number => typeof value === "number" && value >= min && value <= max,
    `This must be a number from ${min} to ${max}.`,
  );
export const oneOf = <const Value extends string>(...values: Value[]) =>
  check(
    { type: "string", enum: values },
    (value): value is Value => values.some((one) => one === value),
    `This must be one of: ${values.join(", ")}.`,
  );
export const boolean = check({ type: "boolean" }, (value) => typeof value === "boolean", "This must be true or false.");
export const positiveInteger = check(
  { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
  "This must be a whole number above 0.",
);
export const usdAmount = check(
  { type: "number", minimum: 0, maximum: 1e9 },
  (value): value is number => typeof value === "number" && value >= 0 && value <= 1e9,
  "This must be an amount of US dollars, 0 or more.",
);
export const timezone = check(
  { type: "string" },
  (value): value is string => typeof value === "string" && isTimeZone(value),
  "This must be the name of a time zone, such as Europe/Vienna.",
);
export const httpUrl = check(
  { type: "string", format: "uri", maxLength: 2_000 },
  (value): value is string =>
    typeof value === "string" && value.length <= 2_000 && /^https?:$/.test(URL.parse(value)?.protocol ?? ""),
  "This must be an http or https address of at most 2000 characters.",
);
const plainObject = check(
  { type: "object" },
  (value): value is object => typeof value === "object" && value !== null && !Array.isArray(value),
  "This must be an object.",
);

export const listOf = <Value>(read: Reader<Value>, max = 1_000): Reader<Value[]> =>
  reader(
    () => ({ type: "array", items: read.schema(), maxItems: max }),
    (value, path, onUnknown) => {
      if (!Array.isArray(value) || value.length > max) {
        throw new InvalidSetting(path, `This must be a list of at most ${max} items.`);
      }
      return value.map((item, index) => read(item, itemPath(path, index), onUnknown));
    },
  );

/** Limits on the members of a map. */
interface MapLimits {
  max: number;
  tooMany: string;
  names: RegExp;
  invalidName: string;
}

/** Reads an object with arbitrary member names, as a map: `__proto__` is a name like any other. */
export const mapOf = <Value>(read: Reader<Value>, limits?: MapLimits): Reader<ReadonlyMap<string, Value>> =>
  reader(
    () => ({
      type: "object",
      additionalProperties: read.schema(),
      ...(limits && { maxProperties: limits.max, propertyNames: { pattern: limits.names.source } }),
    }),
    (value, path, onUnknown) => {
      const members = Object.entries(plainObject(value, path));
      if (limits && members.length > limits.max) throw new InvalidSetting(path, limits.tooMany);
      if (limits && members.some(([name]) => !limits.names.test(name))) {
        throw new InvalidSetting(path, limits.invalidName);
      }
      return new Map(members.map(([name, item]) => [name, read(item, memberPath(path, name), onUnknown)]));
    },
  );

/** Reads an object with known members, all optional; leaves out other members. */
export const object = <F extends Fields>(fields: F): Reader<ReadFields<F>> =>
  reader(
    () => ({ type: "object", properties: schemasOf(fields) }),
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
    },
  );

/** The schemas of readers, by their names. */
export const schemasOf = (readers: Fields): Record<string, Schema> =>
  Object.fromEntries(Object.entries(readers).map(([name, { schema }]) => [name, schema()]));

/** Calls `onUnknown` for the members of an object that are not known. */
export function reportUnknown(source: object, path: string, known: readonly string[], onUnknown: OnUnknown): void {
  for (const name of Object.keys(source)) {
    if (!known.includes(name)) onUnknown({ path: memberPath(path, name), name, known });
  }
}

/** Uses the first reader for lists and the second for other values. */
export const listOrElse = <Value>(forLists: Reader<Value>, otherwise: Reader<Value>): Reader<Value> =>
  reader(
    () => ({ anyOf: [otherwise.schema(), forLists.schema()] }),
    (value, path, onUnknown) => (Array.isArray(value) ? forLists : otherwise)(value, path, onUnknown),
  );

const switchObject = object({ enabled: boolean });
/** `true`, `false`, or an object that may say `enabled: false`. */
export const readSwitch: Reader<boolean> = reader(
  () => ({ anyOf: [boolean.schema(), switchObject.schema()] }),
  (value, path, onUnknown) =>
    typeof value === "boolean" ? value : (switchObject(value, path, onUnknown).enabled ?? true),
);

const nameList = listOf(string(200, 1));
/** A list of names, each with the same meaning. */
export const namesMappedTo = <Value>(meaning: Value): Reader<ReadonlyMap<string, Value>> =>
  reader(nameList.schema, (value, path) => new Map(nameList(value, path).map((name) => [name, meaning])));
