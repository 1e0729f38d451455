// Runs a real OpenID provider (oidc-provider), in Google's place or another's. It signs people in without a page, and forges tokens on demand.

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
  /** Those of the scope `groups`, and others of the scope `profile`. */
  groups?: unknown;
  realm_access?: unknown;
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
  /** Signs with a new key under a new id from now on; the old one is no longer published. */
  rotateKey(): void;
}

export interface OidcOptions {
  /** Below which path the provider is; default: none. */
  path?: string;
  /** A free port by default. */
  port?: number;
  /** The only way in which the client may prove its secret. Default: `client_secret_post`. */
  clientAuth?: "client_secret_post" | "client_secret_basic";
  /** The methods that the metadata names; undefined leaves them out. Default: `clientAuth`. */
  namedClientAuth?: string[] | undefined;
  /** Claims of a person are only at the userinfo endpoint, as the standard has it. Default: also in the ID token, like Google's. */
  hasOnlyUserinfo?: boolean;
  /** The issuer in the metadata and tokens, from the true one, which is the default. */
  issuer?: (own: string) => string;
}

/** Starts the provider; it redirects browsers to `redirectUris` only. */
export async function startOidc(redirectUris: string[], options: OidcOptions = {}): Promise<Oidc> {
  const { path: base = "", clientAuth = "client_secret_post" } = options;
  const server = createServer();
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const first = takeKey();
  const taken = [first];
  const keys = {
    own: first,
    get foreign() {
      foreignKey ??= takeKey();
      return foreignKey;
    },
  };
  const oidc: Oidc = {
    issuer: `http://127.0.0.1:${port}${base}`,
    clientId: "berth-client",
    clientSecret: "canary-google-secret-of-the-client",
    person: undefined,
    forge: undefined,
    trouble: new Map(),
    requestedPaths: [],
    rotateKey() {
      keys.own = takeKey();
      taken.push(keys.own);
      provider = createProvider(`key-${++rotations}`);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      spareKeys.push(...taken.splice(0));
    },
  };
  let rotations = 0;
  const createProvider = (keyId: string) => {
    const configuration = configurationOf(oidc, redirectUris, { key: keys.own, keyId, clientAuth, options });
    const created = new Provider(options.issuer?.(oidc.issuer) ?? oidc.issuer, configuration);
    created.use(async (ctx, next) => {
      await next();
      const { body } = ctx;
      if (ctx.path.endsWith("/.well-known/openid-configuration") && "namedClientAuth" in options) {
        const { token_endpoint_auth_methods_supported: _, ...metadata } = body as Record<string, unknown>;
        const named = options.namedClientAuth;
        ctx.body = { ...metadata, ...(named && { token_endpoint_auth_methods_supported: named }) };
      }
      if (!ctx.path.endsWith("/token") || !oidc.forge || typeof body?.id_token !== "string") return;
      const { token, signer } = oidc.forge(decodeToken(body.id_token));
      ctx.body = { ...body, id_token: signToken(token, signer, keys, oidc.clientSecret) };
    });
    return created;
  };
  let provider = createProvider("key");

  /** Finishes the login interaction without showing a page. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { person } = oidc;
    const result = person
      ? { login: { accountId: person.sub } }
      : { error: "access_denied", error_description: DENIED };
    await provider.interactionFinished(request, response, result);
  }

  server.on("request", (request: IncomingMessage & { originalUrl?: string }, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? "", oidc.issuer);
    const path = pathname.startsWith(base) ? pathname.slice(base.length) : pathname;
    oidc.requestedPaths.push(path);
    const trouble = oidc.trouble.get(path);
    if (trouble) return fail(trouble, response);
    // The provider learns from the difference of both that it is mounted below a path.
    request.originalUrl = request.url ?? "";
    request.url = request.originalUrl.slice(base.length);
    if (!path.startsWith("/interaction/")) return void provider.callback()(request, response);
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

interface ConfigurationParts {
  key: KeyObject;
  keyId: string;
  clientAuth: "client_secret_post" | "client_secret_basic";
  options: OidcOptions;
}

function configurationOf(
  oidc: Oidc,
  redirectUris: string[],
  { key, keyId, clientAuth, options: { path = "", hasOnlyUserinfo = false } }: ConfigurationParts,
): Configuration {
  return {
    clients: [
      {
        client_id: oidc.clientId,
        client_secret: oidc.clientSecret,
        redirect_uris: redirectUris,
        token_endpoint_auth_method: clientAuth,
      },
    ],
    clientAuthMethods: [clientAuth],
    jwks: { keys: [{ ...key.export({ format: "jwk" }), kid: keyId, alg: "RS256", use: "sig" }] },
    cookies: { keys: ["for the tests"] },
    pkce: { required: () => true },
    scopes: ["openid", "email", "profile", "groups"],
    claims: {
      openid: ["sub"],
      email: ["email", "email_verified"],
      profile: ["name", "realm_access"],
      groups: ["groups"],
    },
    conformIdTokenClaims: hasOnlyUserinfo,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `${path}/interaction/${uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ ...oidc.person, sub: id }) }),
    async loadExistingGrant({ oidc: { client, session, provider } }) {
      if (!client || !session?.accountId) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid email profile groups");
      await grant.save();
      return grant;
    },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
  };
}

/** Keys of providers that have ended. A new key takes a tenth of a second of a processor. */
const spareKeys: KeyObject[] = [];
const takeKey = () => spareKeys.pop() ?? generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
/** Signs for no provider. */
let foreignKey: KeyObject | undefined;

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
