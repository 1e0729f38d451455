// Runs a real OpenID provider (oidc-provider) in Google's place. It signs people in without a page, and forges tokens on demand.

import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { type Configuration } from "oidc-provider";
import { createClient } from "./client.ts";

/** A person with an account at the provider. */
export interface Person {
  sub: string;
  email: string;
  email_verified: boolean;
  name: string;
}

/** The decoded parts of an ID token. */
export interface IdToken {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

/** The key that signs a changed ID token: the provider's, another with the same id, the client's secret, or none. */
export type Signer = "own" | "foreign" | "secret" | "none";

/** How an endpoint fails: no response, status 503, an HTML page, a truncated body, an endless body. */
export type Trouble = "hang" | "down" | "html" | "cut" | "endless";

export interface Oidc extends AsyncDisposable {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The person who signs in next; undefined: the sign-in is declined. */
  person: Person | undefined;
  /** Changes the ID tokens that are issued. */
  forge: ((token: IdToken) => { token: IdToken; signer: Signer }) | undefined;
  /** Failures by path, such as `/token`. */
  readonly trouble: Map<string, Trouble>;
  /** The paths of all requests so far. */
  readonly requestedPaths: string[];
}

/** Starts the provider; it redirects browsers to `redirectUris` only. */
export async function startOidc(redirectUris: string[]): Promise<Oidc> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const keys = { own: newKey(), foreign: newKey() };
  const oidc: Oidc = {
    issuer: `http://127.0.0.1:${port}`,
    clientId: "berth-client",
    clientSecret: "canary-google-secret-of-the-client",
    person: undefined,
    forge: undefined,
    trouble: new Map(),
    requestedPaths: [],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  const provider = new Provider(oidc.issuer, configurationOf(oidc, redirectUris, keys.own));
  provider.use(async (ctx, next) => {
    await next();
    const { body } = ctx;
    if (ctx.path !== "/token" || !oidc.forge || typeof body?.id_token !== "string") return;
    const { token, signer } = oidc.forge(decodeToken(body.id_token));
    ctx.body = { ...body, id_token: signToken(token, signer, keys, oidc.clientSecret) };
  });
  const answer = provider.callback();

  /** Finishes the login interaction without showing a page. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { person } = oidc;
    const result = person
      ? { login: { accountId: person.sub } }
      : { error: "access_denied", error_description: DENIED };
    await provider.interactionFinished(request, response, result);
  }

  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? "", oidc.issuer).pathname;
    oidc.requestedPaths.push(path);
    const trouble = oidc.trouble.get(path);
    if (trouble) return fail(trouble, response);
    if (!path.startsWith("/interaction/")) return void answer(request, response);
    interact(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return oidc;
}

/** Error text of the provider, which Berth must not pass on. */
export const DENIED = "canary-description-of-the-provider";

/**
 * Follows the provider's redirects from `location`, Berth's redirect to it, until one leads back to Berth.
 * Returns the path and query of that redirect.
 */
export async function throughProvider(location: string): Promise<string> {
  const { origin } = new URL(location);
  const browser = createClient(origin);
  let url = new URL(location);
  for (let step = 0; url.origin === origin; step++) {
    const answer = await browser.get(url.pathname + url.search);
    const next = answer.headers.get("location");
    if (!next || step > 10) throw new Error(`The provider answers ${answer.status}: ${answer.text.slice(0, 2000)}`);
    url = new URL(next, url);
  }
  return url.pathname + url.search;
}

function configurationOf(oidc: Oidc, redirectUris: string[], key: KeyObject): Configuration {
  return {
    clients: [
      {
        client_id: oidc.clientId,
        client_secret: oidc.clientSecret,
        redirect_uris: redirectUris,
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    jwks: { keys: [{ ...key.export({ format: "jwk" }), kid: "key", alg: "RS256", use: "sig" }] },
    cookies: { keys: ["for the tests"] },
    pkce: { required: () => true },
    scopes: ["openid", "email", "profile"],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    // Google puts the claims into the ID token, too.
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ ...oidc.person, sub: id }) }),
    async loadExistingGrant({ oidc: { client, session, provider } }) {
      if (!client || !session?.accountId) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
  };
}

const newKey = () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");

function decodeToken(token: string): IdToken {
  const [header = "", claims = ""] = token.split(".").map((part) => Buffer.from(part, "base64url").toString());
  return { header: JSON.parse(header), claims: JSON.parse(claims) };
}

function signToken(
  { header, claims }: IdToken,
  signer: Signer,
  keys: Record<"own" | "foreign", KeyObject>,
  secret: string,
) {
  const alg = { own: "RS256", foreign: "RS256", secret: "HS256", none: "none" }[signer];
  const text = `${encoded({ ...header, alg })}.${encoded(claims)}`;
  if (signer === "none") return `${text}.`;
  if (signer === "secret") return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
  return `${text}.${sign("sha256", Buffer.from(text), keys[signer]).toString("base64url")}`;
}

function fail(trouble: Trouble, response: ServerResponse): void {
  const json = { "content-type": "application/json" };
  if (trouble === "down") response.writeHead(503, json).end(`{"error":"${DENIED}"}`);
  if (trouble === "html") response.writeHead(200, { "content-type": "text/html" }).end(`<h1>${DENIED}</h1>`);
  if (trouble === "cut") response.writeHead(200, json).end('{"access_token":"');
  if (trouble !== "endless") return;
  response.writeHead(200, json);
  const more = () => {
    while (!response.destroyed && response.write(" ".repeat(65_536))) {
      // Write until the buffer is full.
    }
  };
  response.on("drain", more);
  more();
}
