// A real OpenID provider (oidc-provider) in Google's place, whose people sign in by themselves, and which lies on demand.

import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { type Configuration } from "oidc-provider";
import { createClient } from "./client.ts";

/** Who sits at the browser. */
export interface Person {
  sub: string;
  email: string;
  email_verified: boolean;
  name: string;
}

/** An ID token taken apart. */
export interface IdToken {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
}

/** With what a changed ID token is signed: the provider's key, another of the same name, the client's secret, or nothing. */
export type Signer = "own" | "foreign" | "secret" | "none";

/** What stands in the provider's way at an address: no answer, an error, a page, half an answer, one without an end. */
export type Trouble = "hang" | "down" | "html" | "cut" | "endless";

export interface Oidc extends AsyncDisposable {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Who signs in next; undefined: they decline. */
  person: Person | undefined;
  /** Changes the ID tokens that are given out. */
  forge: ((token: IdToken) => { token: IdToken; signer: Signer }) | undefined;
  /** By path, such as `/token`. */
  readonly trouble: Map<string, Trouble>;
  /** Paths asked for so far. */
  readonly asked: string[];
}

/** `redirectUris`: where it sends browsers back to, and nowhere else. */
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
    asked: [],
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
    const { token, signer } = oidc.forge(takenApart(body.id_token));
    ctx.body = { ...body, id_token: signed(token, signer, keys, oidc.clientSecret) };
  });
  const answer = provider.callback();

  /** The interaction of a person who is asked: there is nobody to look at a page. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { person } = oidc;
    const result = person
      ? { login: { accountId: person.sub } }
      : { error: "access_denied", error_description: DENIED };
    await provider.interactionFinished(request, response, result);
  }

  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? "", oidc.issuer).pathname;
    oidc.asked.push(path);
    const trouble = oidc.trouble.get(path);
    if (trouble) return makeTrouble(trouble, response);
    if (!path.startsWith("/interaction/")) return void answer(request, response);
    interact(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return oidc;
}

/** Words of the provider that must not get any further. */
export const DENIED = "canary-description-of-the-provider";

/**
 * Walks a browser from where Berth sent it through the provider, up to where it would come back.
 * Gives the path and query of that.
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
    // As Google does it: the claims are in the ID token.
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

function takenApart(token: string): IdToken {
  const [header = "", claims = ""] = token.split(".").map((part) => Buffer.from(part, "base64url").toString());
  return { header: JSON.parse(header), claims: JSON.parse(claims) };
}

function signed(
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

function makeTrouble(trouble: Trouble, response: ServerResponse): void {
  const json = { "content-type": "application/json" };
  if (trouble === "down") response.writeHead(503, json).end(`{"error":"${DENIED}"}`);
  if (trouble === "html") response.writeHead(200, { "content-type": "text/html" }).end(`<h1>${DENIED}</h1>`);
  if (trouble === "cut") response.writeHead(200, json).end('{"access_token":"');
  if (trouble !== "endless") return;
  response.writeHead(200, json);
  const more = () => {
    while (!response.destroyed && response.write(" ".repeat(65_536))) {
      // Until the buffer is full.
    }
  };
  response.on("drain", more);
  more();
}
