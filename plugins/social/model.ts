// The request and response schemas of social identity and token gating.
import { t } from "elysia";

const ADDRESS = "^0x[0-9a-fA-F]{40}$";
export const isAddress = (text: unknown): text is string => typeof text === "string" && new RegExp(ADDRESS).test(text);
export const ADDRESS_RULE = "An address is 0x and 40 hex digits.";

const address = t.String({ pattern: ADDRESS, description: "0x and 40 hex digits, in any case", error: ADDRESS_RULE });

export const gateBody = t.Object({
  fid: t.String({
    minLength: 1,
    maxLength: 100,
    description: "Returned unchanged. With a social session, the fid of that session",
    error: "Give the fid, as text.",
  }),
  address,
});
export const gateQuery = t.Object({ address });

const accessFields = {
  hasAccess: t.Boolean(),
  tokenGated: t.Boolean({ description: "False: the gate is off, and everyone has access" }),
  minBalance: t.String({ description: "In the token's smallest unit" }),
  token: t.String({ description: "The token's symbol" }),
  chain: t.String(),
};

export const gateResponse = t.Object({
  fid: t.String(),
  address: t.String(),
  ...accessFields,
  message: t.String(),
  timestamp: t.String({ description: "ISO 8601" }),
});

export const gateDetailsResponse = t.Object({
  address: t.String(),
  ...accessFields,
  contractAddress: t.String({ description: "Contract of the token; empty while the gate is off" }),
  rpcEndpoint: t.String({ description: "RPC that the balance is read from, without path and query" }),
});

/**
 * Documented as text, but not validated as such: a missing or malformed token must be 401 from the handler, not 400.
 */
export const verifyBody = t.Object({
  fidToken: t.Optional(t.Unknown({ type: "string", description: "The identity token, a JWT of `SOCIAL_ISSUER`" })),
  address: t.Optional(
    t.Unknown({
      type: "string",
      pattern: ADDRESS,
      description: "Address whose balance the gate checks; no check if left out, null or empty",
    }),
  ),
});

const sessionToken = t.String({ description: "Base64 of a signed token, valid for 24 hours" });
const refreshToken = t.String({ description: "Base64; valid for one use within 30 days" });

export const verifyResponse = t.Object({
  success: t.Literal(true),
  sessionToken,
  refreshToken,
  address: t.String({ description: "As in the request; empty if it was left out" }),
  message: t.String(),
  tokenGated: t.Boolean({ description: "Whether the gate was checked" }),
  accessLevel: t.Union([t.Literal("premium"), t.Literal("basic")], {
    description: "`premium` when the gate is passed or off, else `basic`",
  }),
});

export const refreshBody = t.Object({
  refreshToken: t.String({ minLength: 1, error: "Give the refresh token." }),
});

export const refreshResponse = t.Object({
  success: t.Literal(true),
  sessionToken,
  refreshToken,
  expiresIn: t.Number({ multipleOf: 1, description: "Seconds until the session token expires" }),
  message: t.String(),
});

const fieldDescriptions = t.Record(t.String(), t.String(), { description: "Field by field" });
const endpoint = {
  endpoint: t.String(),
  method: t.Literal("POST"),
  description: t.String(),
  body: fieldDescriptions,
  response: fieldDescriptions,
};

export const verifyDescription = t.Object({
  ...endpoint,
  issuer: t.String({ description: "Issuer whose tokens are accepted" }),
  audience: t.String({ description: "Audience that a token must have" }),
  tokenGating: t.Object({ enabled: t.Boolean(), minBalance: t.String(), token: t.String(), chain: t.String() }),
});
export const refreshDescription = t.Object({
  ...endpoint,
  expiresIn: t.Number({ multipleOf: 1, description: "Lifetime of a session token in seconds" }),
});

export const linkBody = t.Object({
  fidToken: t.String({
    minLength: 1,
    description: "The identity token, a JWT of `SOCIAL_ISSUER`",
    error: "Give the token.",
  }),
});

export const linkResponse = t.Object({
  success: t.Literal(true),
  fid: t.String(),
  linkedAt: t.String({ description: "ISO 8601" }),
  message: t.String(),
});

export const linkStatus = t.Object({
  fid: t.Union([t.String(), t.Null()]),
  linkedAt: t.Union([t.String({ description: "ISO 8601" }), t.Null()]),
});

export const unlinkResponse = t.Object({ success: t.Literal(true), message: t.String() });
