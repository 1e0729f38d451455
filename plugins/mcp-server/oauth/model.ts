// Defines the schemas of requests and responses about connected apps and OAuth. The console takes its types from here, so this
// file imports nothing of the server.
import { t } from "elysia";

const scope = t.Union([t.Literal("read"), t.Literal("chat"), t.Literal("write")]);
const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);

export const connectedApp = t.Object(
  {
    id: t.String(),
    name: t.String({ description: "As the app calls itself", examples: ["Desk assistant"] }),
    host: t.String({ description: "Where it lives", examples: ["assistant.example.com"] }),
    scopes: t.Array(scope),
    trusted: t.Boolean({ description: "What it writes counts as your own words" }),
    createdAt: t.String({ description: "ISO 8601" }),
    lastUsedAt: nullable(t.String({ description: "ISO 8601, exact to about half an hour" })),
  },
  { title: "ConnectedApp" },
);
export const connectedAppList = t.Object({ apps: t.Array(connectedApp), count: t.Integer() });
export const disconnectedApp = t.Object({ success: t.Literal(true), id: t.String() });

const query = t.String({
  minLength: 1,
  maxLength: 16_384,
  description: "The query of the address to which the app has sent the browser",
  error: "Open the whole link of the app.",
});
export const requestBody = t.Object({ request: query });
export const requestedApp = t.Object(
  {
    /** Set when the app made a mistake: the browser goes there at once. */
    back: nullable(t.String({ description: "Where the browser goes at once, if the app has made a mistake" })),
    app: nullable(
      t.Object({
        name: t.String(),
        host: t.String({ description: "Where the browser goes afterwards" }),
        verifiedHost: nullable(t.String({ description: "The site that vouches for the name, if one does" })),
        isLocal: t.Boolean({ description: "The app runs on the person's own computer" }),
        scopes: t.Array(scope),
      }),
    ),
    account: t.String({ description: "The address of the account that is signed in" }),
  },
  { title: "AppRequest" },
);
export const decisionBody = t.Object(
  {
    request: query,
    approved: t.Boolean({ error: "Give true or false." }),
    scopes: t.Array(t.String({ maxLength: 20 }), { maxItems: 10, error: "Scopes are read, chat and write." }),
    trusted: t.Optional(t.Boolean({ description: "What the app writes counts as the account holder's own words" })),
  },
  { title: "AppDecision" },
);
export const decided = t.Object({ redirect: t.String({ description: "Where the browser goes" }) });

export const registrationBody = t.Object(
  {
    redirect_uris: t.Optional(t.Unknown({ examples: [["http://127.0.0.1/callback"]] })),
    client_name: t.Optional(t.Unknown({ examples: ["Desk assistant"] })),
  },
  { additionalProperties: true },
);
export const registration = t.Object(
  {
    client_id: t.String(),
    client_id_issued_at: t.Optional(t.Integer({ description: "Seconds since 1970" })),
    client_name: t.String(),
    redirect_uris: t.Array(t.String()),
    grant_types: t.Optional(t.Array(t.String())),
    response_types: t.Optional(t.Array(t.String())),
    token_endpoint_auth_method: t.Optional(t.String()),
  },
  { additionalProperties: true },
);
export const tokens = t.Object({
  access_token: t.String(),
  token_type: t.Literal("Bearer"),
  expires_in: t.Integer({ description: "Seconds" }),
  refresh_token: t.String(),
  scope: t.String(),
});
