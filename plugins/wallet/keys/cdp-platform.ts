// A driver of the managed wallet platform for Coinbase Developer Platform: calls its REST API with the SDK's
// authentication. Keys never leave the platform.
//
// The SDK's own client reports each call, and each error with its stack, to a third address unless the environment says
// otherwise. So the four necessary calls are made here.
import type { Address, Hex } from "viem";
import { AppError } from "../../../src/kernel/errors.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { PlatformWallet, Signer, WalletPlatform } from "./wallet-platform.ts";

export interface CdpOptions {
  apiKeyId: string;
  apiKeySecret: string;
  walletSecret: string;
  /** Base URL of the API, with the path before `/v2`. */
  basePath?: string | undefined;
}

const BASE_PATH = "https://api.cdp.coinbase.com/platform";
/** Time limit of one call. */
const TIMEOUT_MS = 15 * SECOND;

/** Each method throws 502 `WALLET_PLATFORM_UNAVAILABLE` if the platform can't be reached or refuses the call. */
export function createCdpPlatform({ basePath = BASE_PATH, ...credentials }: CdpOptions): WalletPlatform {
  const base = basePath.replace(/\/+$/, "");

  async function call(requestMethod: "GET" | "POST", path: string, requestBody?: object) {
    const url = new URL(`${base}/v2/evm/accounts${path}`);
    try {
      const { getAuthHeaders } = await import("@coinbase/cdp-sdk/auth");
      const request = { requestMethod, requestHost: url.host, requestPath: url.pathname, requestBody };
      const headers = await getAuthHeaders({ ...credentials, ...request });
      const response = await fetch(url, {
        method: requestMethod,
        headers: { ...headers, "content-type": "application/json" },
        ...(requestBody && { body: JSON.stringify(requestBody) }),
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const json: unknown = await response.json();
      return { status: response.status, ok: response.ok, json };
    } catch (error) {
      throw unavailable(`${requestMethod} ${path} failed`, error);
    }
  }

  async function findOrCreate(name: string): Promise<PlatformWallet> {
    const found = await call("GET", `/by-name/${name}`);
    if (found.status !== 404) return toPlatformWallet(found);
    const created = await call("POST", "", { name });
    // 409: a concurrent call created it.
    return toPlatformWallet(created.status === 409 ? await call("GET", `/by-name/${name}`) : created);
  }

  return {
    create: ({ userId, email }) => findOrCreate(accountName(userId, email)),

    async signer({ address }) {
      const { getTypesForEIP712Domain, serializeTransaction } = await import("viem");
      const signer: Signer = {
        address: address as Address,
        async signTransaction(transaction) {
          const body = { transaction: serializeTransaction(transaction) };
          return requireHex(await call("POST", `/${address}/sign/transaction`, body), "signedTransaction");
        },
        async signTypedData({ domain, types, primaryType, message }) {
          const allTypes = { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types };
          const body = bigIntsToStrings({ domain, types: allTypes, primaryType, message });
          return requireHex(await call("POST", `/${address}/sign/typed-data`, body), "signature");
        },
      };
      return signer;
    },
  };
}

/**
 * The platform's account names are unique in a project and have 2 to 36 letters, digits and dashes. A hash tells the
 * platform nothing about the user.
 */
const accountName = (userId: string, email: string) =>
  `berth-${new Bun.CryptoHasher("sha256").update(`${userId}\n${email}`).digest("hex").slice(0, 30)}`;

interface CdpResponse {
  status: number;
  ok: boolean;
  json: unknown;
}

function toPlatformWallet(response: CdpResponse): PlatformWallet {
  const address = requireText(response, "address", /^0x[0-9a-fA-F]{40}$/);
  return { address: address as Address, keyId: null, sealed: null };
}

const requireHex = (response: CdpResponse, field: string) =>
  requireText(response, field, /^0x(?:[0-9a-fA-F]{2})+$/) as Hex;

function requireText({ status, ok, json }: CdpResponse, field: string, pattern: RegExp): string {
  const value: unknown = typeof json === "object" && json !== null ? Reflect.get(json, field) : undefined;
  if (ok && typeof value === "string" && pattern.test(value)) return value;
  const type: unknown = typeof json === "object" && json !== null ? Reflect.get(json, "errorType") : undefined;
  throw unavailable(
    `The platform answered with status ${status} (${typeof type === "string" ? type.slice(0, 60) : "no error type"})`,
  );
}

/** JSON has no bigints; the platform accepts them as text. */
const bigIntsToStrings = (value: object): object =>
  JSON.parse(JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? inner.toString() : inner)));

function unavailable(reason: string, cause?: unknown): AppError {
  const text = "The wallet platform does not work right now. Try again later.";
  return new AppError(502, "WALLET_PLATFORM_UNAVAILABLE", text, {}, { cause: new Error(reason, { cause }) });
}
