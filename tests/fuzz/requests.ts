// Makes a request for an operation: mostly valid, then spoilt in one or a few ways. The same seed makes the same request.

import fc from "fast-check";
import { nameOf, type Operation, type Parameter } from "./operations.ts";
import { hostileText, hostileValue, reference, valueFor } from "./values.ts";

export const ACTORS = ["owner", "admin", "stranger", "key", "nobody"] as const;
export type Actor = (typeof ACTORS)[number];

/** A request with references to things of the service, which `resolve` of the world replaces. */
export interface FuzzRequest {
  operation: Operation;
  actor: Actor;
  /** By name. */
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  headers: Record<string, string>;
  /** A value that is sent as JSON, a raw text, or no body. */
  body: { json: unknown } | { raw: string } | undefined;
  /** What happens at the same time. */
  race: "none" | "same" | "delete" | "stop";
}

const actor: fc.Arbitrary<Actor> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Actor>("owner") },
  { weight: 2, arbitrary: fc.constant<Actor>("admin") },
  { weight: 1, arbitrary: fc.constantFrom<Actor>("stranger", "key", "nobody") },
);

const race: fc.Arbitrary<FuzzRequest["race"]> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<FuzzRequest["race"]>("none") },
  { weight: 1, arbitrary: fc.constantFrom<FuzzRequest["race"]>("same", "delete", "stop") },
);

/** One header that a request should not depend on, or none. */
const headers: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 10, arbitrary: fc.constant({}) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Record<string, string>[]>(
      { "content-type": "text/plain" },
      { "content-type": "application/json; charset=utf-16" },
      { "content-type": "multipart/form-data; boundary=x" },
      { origin: "http://127.0.0.1:9" },
      { accept: "text/event-stream" },
      { accept: "text/html" },
      { authorization: "Bearer bk_0000" },
      { authorization: "Basic eDp5" },
      { cookie: "berth_session=eyJhbGciOiJub25lIn0.e30." },
      { "x-forwarded-for": "127.0.0.1" },
      { "last-event-id": "\u00ff" },
      { "accept-language": "x".repeat(5_000) },
    ),
  },
  { weight: 1, arbitrary: fc.nat(20).map((n) => ({ "idempotency-key": `fuzz-${n}` })) },
);

const brokenBody = fc.constantFrom(
  "",
  "{",
  "null",
  "[]",
  '"text"',
  "1e999",
  '{"a":1,"a":2}',
  '{"message":"x","message":{"y":1}}',
  '{"__proto__":{"isAdmin":true},"constructor":1}',
  '{"text":"\\ud800"}',
  "\ufeff{}",
  "[".repeat(20_000),
  `{"a":${"[".repeat(70)}${"]".repeat(70)}}`,
  `{"message":"${"m".repeat(1_100_000)}"}`,
);

/** Replaces a field, adds one or removes one. */
function spoil(value: unknown, where: number, what: unknown, how: "replace" | "add" | "remove"): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return what;
  const names = Object.keys(value);
  const name = names[where % Math.max(1, names.length)];
  if (how === "add" || name === undefined) return { ...value, [`field${where}`]: what };
  const { [name]: old, ...rest } = value as Record<string, unknown>;
  if (how === "remove") return rest;
  const isNested = typeof old === "object" && old !== null && !Array.isArray(old) && where % 3 > 0;
  return { ...value, [name]: isNested ? spoil(old, where >> 2, what, how) : what };
}

function bodyOf({ method, body: schema }: Operation): fc.Arbitrary<FuzzRequest["body"]> {
  if (method === "GET") return fc.constant(undefined);
  const valid = valueFor(schema ?? { type: "object", additionalProperties: true });
  const how = fc.constantFrom("replace" as const, "replace" as const, "add" as const, "remove" as const);
  const spoilt = fc.tuple(valid, fc.nat(1_000), hostileValue, how).map((given) => ({ json: spoil(...given) }));
  return fc.oneof(
    { weight: 5, arbitrary: valid.map((json) => ({ json })) },
    { weight: 4, arbitrary: spoilt },
    { weight: 1, arbitrary: brokenBody.map((raw) => ({ raw })) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

function pathValue({ path }: Operation, { name, schema }: Parameter): fc.Arbitrary<unknown> {
  const listed = new RegExp(`([\\w-]+)/\\{${name}\\}`).exec(path)?.[1] ?? "";
  const isId = /^id$|Id$/.test(name) && name !== "userId";
  const valid = isId ? reference(listed) : valueFor(schema ?? { type: "string" }, name);
  return fc.oneof({ weight: 7, arbitrary: valid }, { weight: 1, arbitrary: hostileText });
}

const queryValue = ({ name, schema }: Parameter): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 2, arbitrary: valueFor(schema ?? { type: "string" }, name) },
    { weight: 1, arbitrary: hostileText },
  );

const arbitraries = new Map<string, fc.Arbitrary<Omit<FuzzRequest, "operation">>>();

function requestOf(operation: Operation): fc.Arbitrary<Omit<FuzzRequest, "operation">> {
  const known = arbitraries.get(nameOf(operation));
  if (known) return known;
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const documented = (place: Parameter["in"]) => operation.parameters.filter((parameter) => parameter.in === place);
  const find = (name: string): Parameter =>
    documented("path").find((parameter) => parameter.name === name) ?? { name, in: "path" };
  const made = fc.record({
    actor,
    race,
    headers,
    body: bodyOf(operation),
    path: fc.record(Object.fromEntries(inPath.map((name) => [name, pathValue(operation, find(name))]))),
    query: fc.record(
      Object.fromEntries(documented("query").map((parameter) => [parameter.name, queryValue(parameter)])),
      { requiredKeys: [] },
    ),
  });
  arbitraries.set(nameOf(operation), made);
  return made;
}

/** Makes the request with this seed. */
export function makeRequest(operation: Operation, seed: number): FuzzRequest {
  const [made] = fc.sample(requestOf(operation), { seed, numRuns: 1 });
  if (!made) throw new Error("fast-check made no sample.");
  return { operation, ...made };
}
