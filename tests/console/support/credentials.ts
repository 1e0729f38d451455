// What people sign in with beside a password, for browser tests: second factors, and wallets injected into the page.

import { Secret, TOTP } from "otpauth";
import type { Page } from "playwright-core";
import type { Client } from "../../support/client.ts";
import { createWallet } from "../../support/wallets.ts";

export const codeOf = (secret: string): string => new TOTP({ secret: Secret.fromBase32(secret) }).generate();

/** Turns two-factor on; the code of now is used by that. */
export async function enableTwoFactor(client: Client): Promise<{ secret: string; recoveryCodes: string[] }> {
  const { password } = client.account;
  const { body } = await client.post<{ secret: string; recoveryCodes: string[] }>("/api/settings/2fa", { password });
  const { status, text } = await client.post("/api/settings/2fa/confirm", { code: codeOf(body.secret) });
  if (status !== 200) throw new Error(`two-factor: ${status} ${text}`);
  return body;
}

export interface InjectedWallet {
  readonly address: string;
  /** What it signed so far. */
  readonly messages: string[];
  /** Whether its owner declines to sign. */
  isRefusing: boolean;
}

/**
 * Puts a wallet into the pages that are opened from now on, as an extension does: at `window.ethereum` (EIP-1193), or with a
 * name announced by events (EIP-6963).
 */
export async function injectWallet(page: Page, name?: string): Promise<InjectedWallet> {
  const { address, sign } = createWallet();
  const wallet: InjectedWallet = { address, messages: [], isRefusing: false };
  const signer = `signWithTestWallet${address}`;
  await page.exposeFunction(signer, async (hex: string) => {
    if (wallet.isRefusing) return undefined;
    const message = Buffer.from(hex.slice(2), "hex").toString();
    wallet.messages.push(message);
    return sign(message);
  });
  const given = JSON.stringify({ account: address.toLowerCase(), signer, name });
  await page.addInitScript(`{
    const { account, signer, name } = ${given};
    const request = async ({ method, params }) => {
      if (method === "eth_requestAccounts") return [account];
      const signed = await globalThis[signer](params[0]);
      if (signed === undefined) throw Object.assign(new Error("User rejected the request."), { code: 4001 });
      return signed;
    };
    const info = { uuid: account, name, icon: "data:image/svg+xml,<svg/>", rdns: "com.example.wallet" };
    const announce = () =>
      dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider: { request } }) }));
    if (name === undefined) globalThis.ethereum = { request };
    else {
      addEventListener("eip6963:requestProvider", announce);
      announce();
    }
  }`);
  return wallet;
}
