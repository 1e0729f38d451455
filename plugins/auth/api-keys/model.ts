// Request and response schemas of API keys.
import { type Static, t } from "elysia";
import { invalidInput } from "../../../src/kernel/errors.ts";
import { name } from "../model.ts";
import { type ApiKey, SCOPES } from "./api-keys.ts";

const scope = t.Union([t.Literal("read"), t.Literal("write"), t.Literal("chat")]);
const scopes = t.Array(scope, {
  minItems: 1,
  description: "What the key may be used for. Default: all",
  error: "Scopes are one or more of read, write and chat.",
});

export const keyBody = t.Object({
  name: t.String({ ...name, minLength: 1, error: "Give the key a name: one line of at most 200 characters." }),
  scopes: t.Optional(scopes),
  expiresAt: t.Optional(
    t.Union([t.String(), t.Null()], {
      description: "ISO 8601, in the future. Left out or null: the key does not expire",
      error: "Give the time as text, in ISO 8601.",
    }),
  ),
});

const keyFields = {
  id: t.String(),
  name: t.String(),
  scopes: t.Array(scope),
  expiresAt: t.Union([t.String(), t.Null()]),
  createdAt: t.String(),
};

export const newKey = t.Object({
  ...keyFields,
  key: t.Union([t.String(), t.Null()], {
    description: "Shown only in this response; null if the response is replayed",
  }),
});

export const keyList = t.Object({
  keys: t.Array(
    t.Object({
      ...keyFields,
      prefix: t.String({ description: "The first characters of the key" }),
      lastUsedAt: t.Union([t.String(), t.Null()], { description: "Exact to about a minute" }),
    }),
  ),
  count: t.Number(),
});

export const revokedKey = t.Object({ success: t.Literal(true), id: t.String() });

const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());

const toCommonFields = ({ id, name, scopes, expiresAt, createdAt }: ApiKey) => ({
  id,
  name,
  scopes: SCOPES.filter((scope) => scopes.has(scope)),
  expiresAt: iso(expiresAt),
  createdAt: new Date(createdAt).toISOString(),
});

export const toNewKey = (apiKey: ApiKey, key: string): Static<typeof newKey> => ({ ...toCommonFields(apiKey), key });

export const toKeyItem = (key: ApiKey): Static<typeof keyList>["keys"][number] => ({
  ...toCommonFields(key),
  prefix: key.prefix,
  lastUsedAt: iso(key.lastUsedAt),
});

const ISO_8601 = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Parses an ISO 8601 time to epoch ms; null if there is none. Throws 400 unless it is in the future. */
export function parseExpiry(text: string | null | undefined): number | null {
  if (text === undefined || text === null) return null;
  const time = ISO_8601.test(text) ? Date.parse(text) : Number.NaN;
  if (time > Date.now()) return time;
  throw invalidInput({ path: "expiresAt", message: "Give a time in the future, such as 2030-01-31T00:00:00Z." });
}
