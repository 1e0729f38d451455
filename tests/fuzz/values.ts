// Arbitrary values for the fields of requests: valid ones by schema and name, and hostile ones for any place.

import fc from "fast-check";
import type { Schema } from "./operations.ts";

/** Stands for something of the running service, such as the id of an agent. It is replaced when a request is sent. */
export interface Reference {
  /** What is meant: an agent, a user, …, or the last word of the path that lists such things, as in `webhooks`. */
  $berth: string;
  /** Selects one of several. */
  at: number;
}

export const reference = (kind: string): fc.Arbitrary<Reference> =>
  fc.record({ $berth: fc.constant(kind), at: fc.nat(1_000) });

const filler = (length: number) => "m".repeat(length);

/** Texts that have broken services before. No address among them leads off this machine. */
const hostileTexts = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\u202e\u0000\ufeff",
  "../../../../etc/passwd",
  "..%2f..%2fsecret.key",
  "%00",
  "%FF",
  "' OR 1=1 --",
  '"; DROP TABLE users; --',
  "{{7*7}}",
  "<img src=x onerror=alert(1)>",
  "__proto__",
  "constructor",
  "-1",
  "1e309",
  "NaN",
  "9007199254740993",
  "0x",
  "👩‍👩‍👧‍👦".repeat(50),
  "\r\nset-cookie: a=b",
  filler(300),
  filler(70_000),
] as const;

export const hostileText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hostileTexts) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
);

const deeplyNested = (depth: number): unknown => (depth === 0 ? 1 : [deeplyNested(depth - 1)]);

/** Values that a field was not made for. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      0.1,
      1e308,
      -1e308,
      2 ** 53,
      [],
      {},
      [null],
      { length: 1e9 },
      { toString: 1 },
      JSON.parse('{"__proto__":{"isAdmin":true}}'),
      deeplyNested(60),
      deeplyNested(70),
      Array.from({ length: 2_000 }, (_, n) => n),
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** Addresses on this machine alone: where nothing listens, and forms that must not pass as another host. */
const addresses = [
  "http://127.0.0.1:9/",
  "https://127.0.0.1:9/hook",
  "http://localhost:9",
  "http://[::1]:9/",
  "http://0x7f.1:9/",
  "http://2130706433:9/",
  "http://[::ffff:127.0.0.1]:9/",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "http://",
  "/callback",
];

/** The token of the only bot that the platform knows. */
export const BOT_TOKEN = "7000000009:AAfuzz-token-0123456789-abcdefghij";

/** Words that fields with a fixed vocabulary know, whatever their schema says. */
const words = [
  "chat",
  "create-session",
  "update-skill",
  "set-credential",
  "create",
  "get_seed",
  "export_seed",
  "model_a",
  "model_b",
  "custom",
  "channel_a",
  "channel_b",
  "channel_c",
  "channel_d",
  "provider_1",
  "provider_3",
  "provider_5",
  "clock",
  "memory",
  "reminder",
  "wallet",
  "web-fetch",
  "attestation",
  "exchange",
  "name_service",
  "webauthn",
  "starter",
  "pro",
  "enterprise",
  "read",
  "write",
  "testnet_chain",
  "mainnet_chain",
  "user.created",
  "agent.*",
  "all",
  "google",
  "10",
  "0.01",
  "0x00000000000000000000000000000000000000aa",
  "123456",
];

/** Half of the time a value that works, else any word. */
const mostly = (value: string) => fc.oneof(fc.constant(value), fc.constantFrom(...words));

/** A value for a field with this name; undefined if the name tells nothing. */
function byName(name: string): fc.Arbitrary<unknown> | undefined {
  if (/^(agentId|agent)$/.test(name)) return reference("agent");
  if (name === "userId") return fc.oneof(reference("user"), reference("agent"));
  if (name === "sessionId") return reference("session");
  if (name === "subdomain") return reference("subdomain");
  if (/^(limit|offset|version)$/.test(name)) return fc.constantFrom("0", "1", "10", 1);
  if (/token$/i.test(name)) return mostly(BOT_TOKEN);
  if (name === "channel") return mostly("channel_a");
  if (name === "model") return mostly("provider_3:fake-small");
  if (name === "role") return mostly("user");
  if (/^(message|content)$/.test(name)) return mostly("Hello! What time is it?");
  if (name === "skillId") return mostly("clock");
  if (/email$/i.test(name))
    return fc.oneof(
      reference("email"),
      fc.uuid().map((id) => `fuzz-${id}@example.com`),
    );
  if (/password$/i.test(name)) return fc.oneof(reference("password"), fc.constant("correct horse battery"));
  if (/url$|address$|endpoint$|image$/i.test(name)) return fc.constantFrom(...addresses, ...words);
  if (/expiresAt|currentPeriodEnd|from|to|before|after|since/i.test(name)) {
    return fc.constantFrom("2030-01-01T00:00:00.000Z", "2000-01-01", "yesterday", "1795348414784");
  }
  return undefined;
}

/** Mostly valid values of a schema. `name` is that of the field. */
export function valueFor(schema: Schema, name = ""): fc.Arbitrary<unknown> {
  const hinted = byName(name);
  if (hinted && schema.type !== "boolean") return hinted;
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.properties) return objectOf(schema);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices && choices.length > 0) return fc.oneof(...choices.map((choice) => valueFor(choice, name)));
  if (schema.allOf) return fc.tuple(...schema.allOf.map((part) => valueFor(part, name))).map(merge);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "string":
      return text(schema);
    case "integer":
      return fc.integer({ min: schema.minimum ?? -10, max: schema.maximum ?? 1_000 });
    case "number":
      return fc.oneof(fc.integer({ min: 0, max: 100 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(valueFor(schema.items ?? {}, name), { maxLength: Math.min(schema.maxItems ?? 4, 4) });
    case "object":
      return objectOf(schema);
    default:
      return fc.oneof(fc.constantFrom<unknown>(...words), fc.jsonValue({ maxDepth: 2 }));
  }
}

const merge = (parts: unknown[]) => Object.assign({}, ...parts.filter((part) => typeof part === "object"));

function text({ minLength = 0, maxLength = 200 }: Schema): fc.Arbitrary<string> {
  const anything = fc.string({ minLength: Math.min(minLength, 200), maxLength: Math.min(maxLength, 200) });
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...words) }, { weight: 2, arbitrary: anything });
}

/** Members that an object must have; of alternatives, the first. */
const requiredOf = ({ required = [], anyOf, oneOf, allOf = [] }: Schema): string[] => [
  ...required,
  ...((anyOf ?? oneOf)?.[0]?.required ?? []),
  ...allOf.flatMap(requiredOf),
];

function objectOf(schema: Schema): fc.Arbitrary<unknown> {
  const { properties = {}, additionalProperties } = schema;
  const required = requiredOf(schema);
  const fields = Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, valueFor(value, name)]));
  const known = fc.record(fields, { requiredKeys: required.filter((name) => Object.hasOwn(fields, name)) });
  if (!additionalProperties || Object.keys(fields).length > 0) return known;
  const value =
    typeof additionalProperties === "object" ? valueFor(additionalProperties) : fc.jsonValue({ maxDepth: 2 });
  return fc.dictionary(fc.constantFrom(...words, "instructions", "model", "budget", "skills", "channels"), value, {
    maxKeys: 4,
  });
}
