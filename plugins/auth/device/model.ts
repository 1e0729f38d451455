// Request and response schemas of the sign-in of devices.
import { t } from "elysia";
import { SCOPES, type Scope } from "../api-keys/api-keys.ts";

const scope = t.Union([t.Literal("read"), t.Literal("write"), t.Literal("chat")]);
const scopeText = t.Optional(
  t.String({ description: "`read`, `write` and `chat`, separated by spaces; left out: all", examples: ["read chat"] }),
);
const clientId = t.String({ description: "What the program calls itself: 1 to 64 characters", examples: ["berth"] });

export const beginForm = t.Object({
  client_id: clientId,
  scope: scopeText,
  device_name: t.Optional(
    t.String({ description: "The machine that it runs on: up to 64 characters", examples: ["atlas"] }),
  ),
});

export const begun = t.Object({
  device_code: t.String({ description: "For the program alone; it is exchanged for the key" }),
  user_code: t.String({ description: "For the person, as it is shown", examples: ["WDJB-MJHT"] }),
  verification_uri: t.String({ description: "Where the person enters the code" }),
  verification_uri_complete: t.String({
    description: "The same with the code in it; the page still asks to compare it",
  }),
  expires_in: t.Integer({ description: "Seconds" }),
  interval: t.Integer({ description: "Seconds to wait between two polls" }),
});

export const tokenForm = t.Object({
  grant_type: t.Literal("urn:ietf:params:oauth:grant-type:device_code"),
  device_code: t.String(),
  client_id: clientId,
});

export const handedOut = t.Object({
  access_token: t.String({ description: "An API key" }),
  token_type: t.Literal("Bearer"),
  expires_in: t.Integer({ description: "Seconds" }),
  scope: t.String({ description: "What was granted, separated by spaces" }),
  account: t.String({ description: "The address of the account that has approved" }),
});

const code = t.String({ minLength: 1, maxLength: 64, error: "Enter the code that the program shows." });

export const codeBody = t.Object({ code });

export const askingDevice = t.Object(
  {
    code: t.String({ description: "As the program shows it" }),
    client: t.String({ description: "What the program calls itself; nobody vouches for it" }),
    device: t.String({ description: "The machine that it names; may be empty" }),
    address: t.String({ description: "Where its request came from" }),
    isSameAddress: t.Boolean({ description: "This request comes from the same address" }),
    scopes: t.Array(scope),
    createdAt: t.String({ description: "ISO 8601" }),
    account: t.String({ description: "The address of the account that would be used" }),
  },
  { title: "DeviceRequest" },
);

export const decisionBody = t.Object(
  {
    code,
    approved: t.Boolean({ error: "Give true or false." }),
    scopes: t.Optional(
      t.Array(scope, { maxItems: 3, description: "What is granted of it", error: "Scopes are read, chat and write." }),
    ),
  },
  { title: "DeviceDecision" },
);

export const decided = t.Object({ success: t.Literal(true), approved: t.Boolean() }, { title: "DecidedDevice" });

/** The scopes of a space-separated text; undefined if one is unknown. */
export function parseScopes(text: string | null): ReadonlySet<Scope> | undefined {
  if (text === null) return new Set(SCOPES);
  const names = text.split(" ").filter(Boolean);
  const known = SCOPES.filter((one) => names.includes(one));
  return known.length > 0 && known.length === new Set(names).size ? new Set(known) : undefined;
}
