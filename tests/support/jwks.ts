// An issuer of identity tokens with a JWKS endpoint. A test chooses the claims, rotates the keys, and makes the endpoint fail.

import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

/** How the JWKS endpoint fails. */
export type IssuerTrouble = "down" | "hang" | "html" | "endless" | "redirect" | "empty";

export interface IssuerKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

export interface TokenOptions {
  /** Override valid claims; undefined removes one. Times in seconds. */
  claims?: { [claim: string]: unknown };
  header?: { alg?: string; kid?: string | undefined; [field: string]: unknown };
  /** Signing key. Default: the issuer's newest. */
  key?: CryptoKey | Uint8Array;
}

export interface Issuer extends AsyncDisposable {
  readonly url: string;
  readonly audience: string;
  /** The newest key. */
  readonly key: IssuerKey;
  trouble: IssuerTrouble | undefined;
  /** Number of requests for its keys. */
  readonly requests: number;
  /** Makes a token of fid 12345 that is valid for an hour, unless the options change it. */
  token(options?: TokenOptions): Promise<string>;
  /** Signs with a new key from now on; `keep` leaves the old ones in the key set. */
  rotate(options?: { keep?: boolean; alg?: string }): Promise<void>;
  /** Stops the server. */
  stop(): Promise<void>;
}

let made = 0;
/** Keys of issuers that have stopped. A new key for RS256 takes a tenth of a second of a processor. */
const spare: IssuerKey[] = [];

/** Returns a key pair that no issuer has. */
export async function makeKey(alg = "RS256"): Promise<IssuerKey> {
  const at = spare.findIndex((key) => key.alg === alg);
  const [found] = at < 0 ? [] : spare.splice(at, 1);
  const pair = found ?? (await generateKeyPair(alg, { extractable: true }));
  return { kid: `key-${++made}`, alg, privateKey: pair.privateKey, publicKey: pair.publicKey };
}

export async function startIssuer(audience = "berth.example"): Promise<Issuer> {
  let keys = [await makeKey()];
  const taken = [...keys];
  let requests = 0;
  const newest = () => keys[0] ?? keyless();

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch({ url }) {
      if (new URL(url).pathname !== "/.well-known/jwks.json") return new Response("no", { status: 404 });
      requests++;
      if (issuer.trouble) return troubled(issuer.trouble);
      const set = keys.map(async ({ kid, alg, publicKey }) => ({
        ...(await exportJWK(publicKey)),
        kid,
        alg,
        use: "sig",
      }));
      return Response.json({ keys: await Promise.all(set) });
    },
  });

  const issuer: Issuer = {
    url: `http://127.0.0.1:${server.port}`,
    audience,
    trouble: undefined,
    get key() {
      return newest();
    },
    get requests() {
      return requests;
    },
    token({ claims = {}, header = {}, key } = {}) {
      const now = Math.floor(Date.now() / 1000);
      const good = { iss: issuer.url, aud: audience, sub: "12345", iat: now, exp: now + 3_600 };
      const { kid, alg, privateKey } = newest();
      // JSON leaves out claims that are undefined.
      const payload: JWTPayload = Object.fromEntries(Object.entries({ ...good, ...claims }));
      return new SignJWT(payload).setProtectedHeader(Object.assign({ alg, kid }, header)).sign(key ?? privateKey);
    },
    async rotate({ keep = false, alg } = {}) {
      const key = await makeKey(alg);
      taken.push(key);
      keys = [key, ...(keep ? keys : [])];
    },
    async stop() {
      await server.stop(true);
      spare.push(...taken.splice(0));
    },
    [Symbol.asyncDispose]: () => issuer.stop(),
  };
  return issuer;
}

function keyless(): never {
  throw new Error("The issuer has no key.");
}

function troubled(trouble: IssuerTrouble): Response | Promise<Response> {
  const spaces = new Uint8Array(65_536).fill(32);
  switch (trouble) {
    case "down":
      return new Response("canary of the issuer", { status: 503 });
    case "hang":
      return new Promise(() => undefined);
    case "html":
      return new Response("<h1>canary of the issuer</h1>", { headers: { "content-type": "text/html" } });
    case "endless":
      return new Response(new ReadableStream({ pull: (stream) => stream.enqueue(spaces) }));
    case "redirect":
      return new Response(null, { status: 302, headers: { location: "/elsewhere" } });
    case "empty":
      return Response.json({ keys: [] });
  }
}
