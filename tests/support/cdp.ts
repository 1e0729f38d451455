// Fakes the part of the Coinbase Developer Platform API (v2, EVM accounts) that Berth uses, and checks its tokens strictly.
import { createHash, generateKeyPairSync, type KeyObject } from "node:crypto";
import { jwtVerify } from "jose";
import { type Hex, parseTransaction } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";

export interface Cdp {
  /** Berth's settings for this server. */
  readonly env: Record<string, string>;
  /** Method and path of each call so far. */
  readonly calls: string[];
  readonly accounts: ReadonlyMap<string, PrivateKeyAccount>;
  /** Sets how later calls fail: with a status, a signature by another key, or HTML; undefined: they succeed. */
  misbehave(how: number | "other-key" | "nonsense" | undefined): void;
  stop(): Promise<void>;
}

const PATH = "/platform";

export function startCdp(): Cdp {
  const api = generateKeyPairSync("ed25519");
  const wallet = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const accounts = new Map<string, PrivateKeyAccount>();
  const calls: string[] = [];
  const seen = new Set<string>();
  let how: number | "other-key" | "nonsense" | undefined;

  /** Throws unless the token was signed by this key for this call, and is used for the first time. */
  async function requireToken(token: string, key: KeyObject, uri: string, body: string): Promise<void> {
    const { payload, protectedHeader } = await jwtVerify(token, key, { algorithms: ["EdDSA", "ES256"] });
    const nonce = String(payload.jti ?? protectedHeader.nonce);
    if (JSON.stringify(payload.uris) !== JSON.stringify([uri])) throw new Error(`for ${JSON.stringify(payload.uris)}`);
    if (nonce.length < 8 || seen.has(nonce)) throw new Error("used");
    seen.add(nonce);
    if (key === wallet.publicKey && body !== "") {
      const hash = createHash("sha256")
        .update(JSON.stringify(sorted(JSON.parse(body))))
        .digest("hex");
      if (payload.reqHash !== hash) throw new Error("for another body");
    } else if (key === api.publicKey && (payload.iss !== "cdp" || payload.sub !== "test-key"))
      throw new Error("of another");
  }

  async function answer(method: string, path: string, body: string): Promise<Response> {
    const refuse = (status: number, errorType: string) => Response.json({ errorType, errorMessage: "No." }, { status });
    const shown = ([name, { address }]: [string, PrivateKeyAccount]) => Response.json({ name, address });
    const given = body === "" ? {} : JSON.parse(body);
    const byName = /^\/by-name\/([\w-]+)$/.exec(path)?.[1];
    if (method === "GET" && byName !== undefined) {
      const account = accounts.get(byName);
      return account ? shown([byName, account]) : refuse(404, "not_found");
    }
    if (method === "POST" && path === "") {
      const { name } = given;
      if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,34}[A-Za-z0-9]$/.test(name)) return refuse(400, "invalid_request");
      if (accounts.has(name)) return refuse(409, "already_exists");
      accounts.set(name, privateKeyToAccount(generatePrivateKey()));
      return shown([name, accounts.get(name) as PrivateKeyAccount]);
    }
    const [, address, what] = /^\/(0x[0-9a-fA-F]{40})\/sign\/(transaction|typed-data)$/.exec(path) ?? [];
    const found = [...accounts.values()].find((account) => account.address === address);
    if (method !== "POST" || !found) return refuse(404, "not_found");
    const signer = how === "other-key" ? privateKeyToAccount(generatePrivateKey()) : found;
    if (what === "typed-data") return Response.json({ signature: await signer.signTypedData(given) });
    const transaction = parseTransaction(given.transaction as Hex);
    if (transaction.type !== "eip1559") return refuse(400, "malformed_transaction");
    return Response.json({ signedTransaction: await signer.signTransaction(transaction) });
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { host, pathname } = new URL(request.url);
      const body = await request.text();
      const path = pathname.slice(`${PATH}/v2/evm/accounts`.length);
      calls.push(`${request.method} ${path}`);
      if (typeof how === "number") return Response.json({ errorType: "internal_server_error" }, { status: how });
      if (how === "nonsense") return new Response("<html>");
      try {
        const bearer = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
        const uri = `${request.method} ${host}${pathname}`;
        await requireToken(bearer, api.publicKey, uri, body);
        if (request.method === "POST") {
          await requireToken(request.headers.get("x-wallet-auth") ?? "", wallet.publicKey, uri, body);
        }
      } catch (error) {
        return Response.json({ errorType: "unauthorized", errorMessage: String(error) }, { status: 401 });
      }
      return answer(request.method, path, body);
    },
  });

  return {
    env: {
      WALLET_PLATFORM: "cdp",
      CDP_BASE_PATH: `http://127.0.0.1:${server.port}${PATH}`,
      CDP_API_KEY_ID: "test-key",
      CDP_API_KEY_SECRET: ed25519Secret(api.privateKey),
      CDP_WALLET_SECRET: wallet.privateKey.export({ format: "der", type: "pkcs8" }).toString("base64"),
    },
    calls,
    accounts,
    misbehave(next) {
      how = next;
    },
    stop: () => server.stop(true),
  };
}

/** The API key's secret in the platform's format: seed and public key, in base64. */
function ed25519Secret(key: KeyObject): string {
  const { d = "", x = "" } = key.export({ format: "jwk" });
  return Buffer.concat([Buffer.from(d, "base64url"), Buffer.from(x, "base64url")]).toString("base64");
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
