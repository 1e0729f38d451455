// Verifies agents through the API: makes owners, challenges and claims, and checks the responses and the stored record.

import { expect } from "bun:test";
import type { Berth } from "./berth.ts";
import { type Answer, type Client, createClient } from "./client.ts";
import { type AgentItem, member, provision } from "./members.ts";
import { expectRefusal } from "./refusal.ts";
import { siweMessage, type Wallet } from "./wallets.ts";

/** The `BASE_URL` of these tests: a host name, since authenticators accept no IP address. */
export const BASE_URL = "http://berth.example:3000";

export interface Challenge {
  message: string;
  nonce: string;
  expiresAt: string;
  options: {
    challenge: string;
    rp?: { id: string };
    rpId?: string;
    allowCredentials?: { id: string }[];
    user?: object;
  };
}
export interface Owner {
  client: Client;
  agent: AgentItem;
}

/** The verification record of an unverified agent. */
export const NOT_VERIFIED = {
  verified: false,
  verificationType: null,
  attestationUid: null,
  verifierAddress: null,
  verifiedAt: null,
  metadata: null,
};

/** Creates an agent; for a new user with a plan unless there is a `client`. */
export async function owner(berth: Berth, client?: Client): Promise<Owner> {
  const who = client ?? (await member(berth));
  return { client: who, agent: await provision(who) };
}

/** Signs in with this wallet and creates an agent. */
export async function walletOwner(berth: Berth, wallet: Wallet): Promise<Owner> {
  const client = createClient(berth);
  const message = siweMessage(BASE_URL, wallet);
  const signature = await wallet.sign(message);
  const json = { headers: { accept: "application/json" } };
  expect((await client.post("/api/auth/callback/wallet", { message, signature }, json)).status).toBe(200);
  await berth.command("user", "grant", `${wallet.address.toLowerCase()}@wallet.invalid`, "pro");
  return owner(berth, client);
}

export const path = ({ agent }: Owner) => `/api/agents/${agent.id}`;

/** Requests a challenge; throws unless 200. */
export async function challenge(who: Owner, verificationType: string, more: object = {}): Promise<Challenge> {
  const body = { verificationType, ...more };
  const answer = await who.client.post<Challenge>(`${path(who)}/verification/challenge`, body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

export const verify = (who: Owner, verificationType: string, claim: object, headers: Record<string, string> = {}) =>
  who.client.post(`${path(who)}/verify`, { verificationType, ...claim }, { headers });

export const recordOf = async (who: Owner) => (await who.client.get(`${path(who)}/verification`)).body;

/** Expects `VERIFICATION_FAILED` with this reason, and that the agent is still unverified. */
export async function expectFailed(who: Owner, answer: Answer, reason: RegExp): Promise<void> {
  const { error } = expectRefusal(answer, 400, "VERIFICATION_FAILED");
  expect(error).toMatch(reason);
  expect(await recordOf(who)).toEqual(NOT_VERIFIED);
}

/** Expects that the response, the record and the agent's details show a verification of this type just now; `shown` is in the record. */
export async function expectVerified(
  who: Owner,
  answer: Answer,
  verificationType: string,
  shown: object,
): Promise<void> {
  expect(answer).toMatchObject({ status: 200, body: { success: true, verified: true, verificationType } });
  expect(Object.keys(answer.body as object).sort()).toEqual(
    ["attestationUid", "success", "verificationType", "verified", "verifiedAt"].sort(),
  );
  const { attestationUid, verifiedAt } = answer.body as { attestationUid: string | null; verifiedAt: string };
  expect(Math.abs(Date.parse(verifiedAt) - Date.now())).toBeLessThan(60_000);
  expect(await recordOf(who)).toMatchObject({ verified: true, verificationType, attestationUid, verifiedAt, ...shown });
  const detail = await who.client.get<{ agent: object }>(path(who));
  expect(detail.body.agent).toMatchObject({
    verified: true,
    verificationType,
    attestationUid,
    verifiedAt,
    status: "running",
  });
}
