// Helpers for tests of social sign-in and token gating: a token issuer, and a chain with two wallets on either side of the
// gate's minimum.

import { expect } from "bun:test";
import type { Address } from "viem";
import { type Anvil, startAnvil } from "./anvil.ts";
import type { Berth } from "./berth.ts";
import { type Answer, createClient } from "./client.ts";
import { type Issuer, startIssuer } from "./jwks.ts";
import { expectRefusal } from "./refusal.ts";
import { compileContract } from "./solidity.ts";
import { createWallet } from "./wallets.ts";

export const VERIFY = "/api/auth/social/verify";
export const REFRESH = "/api/auth/social/refresh";
export const GATE = "/api/auth/token-gating/verify";
export const LINK = "/api/settings/social";

/** The gate's minimum balance, in units of a token with 6 decimals. */
export const MINIMUM = 25_000_000n;

export interface Tokens {
  sessionToken: string;
  refreshToken: string;
}
export interface Verified extends Tokens {
  success: boolean;
  address: string;
  message: string;
  tokenGated: boolean;
  accessLevel: string;
}
export interface Refreshed extends Tokens {
  success: boolean;
  expiresIn: number;
  message: string;
}
export interface Session {
  user: { id: string; email: string; name: string } | null;
  expires: string | null;
}

export interface SocialFixture extends AsyncDisposable {
  readonly issuer: Issuer;
  readonly chain: Anvil;
  /** Holds exactly the minimum. */
  readonly sufficient: Address;
  /** Holds one unit less than the minimum. */
  readonly insufficient: Address;
  /** Berth's settings for this issuer and gate. */
  readonly env: Record<string, string>;
  /** Makes an identity token with a new fid. */
  newIdentity(): Promise<{ fid: string; fidToken: string }>;
}

export async function openSocialFixture(): Promise<SocialFixture> {
  const [issuer, chain] = await Promise.all([startIssuer(), startAnvil()]);
  const contract = await compileContract("GatingToken.sol", "GatingToken");
  const token = await chain.deploy(contract, 6);
  const [sufficient, insufficient] = [createWallet().address, createWallet().address];
  for (const [holder, balance] of [
    [sufficient, MINIMUM],
    [insufficient, MINIMUM - 1n],
  ]) {
    const call = { address: token, abi: contract.abi, functionName: "setBalance", args: [holder, balance] };
    await chain.client.waitForTransactionReceipt({ hash: await chain.client.writeContract(call) });
  }
  let fids = 1_000;
  return {
    issuer,
    chain,
    sufficient,
    insufficient,
    env: {
      BASE_URL: "http://berth.example",
      SOCIAL_ISSUER: issuer.url,
      MAINNET_RPC_URL: `${chain.url}/?key=secret-of-the-rpc`,
      GATING_TOKEN_ADDRESS: token,
      GATING_TOKEN_SYMBOL: "HARBOUR",
      GATING_MIN_BALANCE: String(MINIMUM),
      RATE_LIMITS: "off",
    },
    async newIdentity() {
      const fid = String(++fids);
      return { fid, fidToken: await issuer.token({ claims: { sub: Number(fid) } }) };
    },
    async [Symbol.asyncDispose]() {
      await chain[Symbol.asyncDispose]();
      await issuer.stop();
    },
  };
}

export const withBearer = (bearer: string) => ({ headers: { authorization: `Bearer ${bearer}` } });

export const verify = (berth: Berth, body: unknown) => createClient(berth).post<Verified>(VERIFY, body);

export const refresh = (berth: Berth, refreshToken: unknown) =>
  createClient(berth).post<Refreshed>(REFRESH, { refreshToken });

/** Asks the gate about an address with a social session. */
export const checkGate = (berth: Berth, address: string, bearer: string) =>
  createClient(berth).get<{ hasAccess: boolean }>(`${GATE}?address=${address}`, withBearer(bearer));

/** The session that a bearer token belongs to. */
export const sessionOf = async (berth: Berth, bearer: string) =>
  (await createClient(berth).get<Session>("/api/auth/session", withBearer(bearer))).body;

/** Starts a session with a new fid; throws unless 200. */
export async function startSession(berth: Berth, fixture: SocialFixture, address?: string): Promise<Verified> {
  const { fidToken } = await fixture.newIdentity();
  const { status, body, text } = await verify(berth, { fidToken, address });
  if (status !== 200) throw new Error(`verify: ${status} ${text}`);
  return body;
}

/** Expects an error response that contains no token and no text of the issuer or the operator. */
export function expectRefusalWithoutTokens(answer: Answer<unknown>, status: number, code: string) {
  const body = expectRefusal(answer, status, code);
  expect(answer.text).not.toMatch(/"(?:sessionToken|refreshToken)":|127\.0\.0\.1|canary|secret/);
  return body;
}
