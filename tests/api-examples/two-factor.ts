// An account with a second factor, for the scenarios that need one.
import { Secret, TOTP } from "otpauth";
import type { Berth } from "../support/berth.ts";
import { type Client, createClient } from "../support/client.ts";

export interface TwoFactorAccount {
  readonly id: string;
  readonly client: Client;
  readonly recoveryCodes: readonly string[];
}

/** `client` is signed in; by default as a new person with a password. */
export async function withTwoFactor(berth: Berth, client?: Client): Promise<TwoFactorAccount> {
  const own = client ?? createClient(berth);
  if (!client) await own.join();
  const body = client ? {} : { password: own.account.password };
  const begun = await own.post<{ secret: string; recoveryCodes: string[] }>("/api/settings/2fa", body);
  const { secret, recoveryCodes } = begun.body;
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  const { status, text } = await own.post("/api/settings/2fa/confirm", { code });
  if (status !== 200) throw new Error(`2fa: ${status} ${text}`);
  return { id: (await own.get<{ id: string }>("/api/settings")).body.id, client: own, recoveryCodes };
}
