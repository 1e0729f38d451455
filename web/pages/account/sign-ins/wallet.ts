// Asks the wallet of the browser (EIP-1193) to sign a message. It moves nothing and costs nothing.

import { api } from "../../../app/api.ts";
import { t } from "../../../app/language.ts";
import { messageOf } from "../../../parts/error-note.tsx";
import { showError } from "../../../parts/toast.tsx";

export interface Wallet {
  request(call: { method: string; params?: readonly string[] }): Promise<unknown>;
}

/** The wallet that an extension put into the page, if any. */
export function injectedWallet(): Wallet | undefined {
  const { ethereum } = globalThis as { ethereum?: unknown };
  return isWallet(ethereum) ? ethereum : undefined;
}

const isWallet = (value: unknown): value is Wallet =>
  typeof value === "object" && value !== null && "request" in value && typeof value.request === "function";

const REFUSED_BY_PERSON = 4001;

export interface SignedMessage {
  message: string;
  signature: string;
}

/** A signed message; undefined if its owner declined or the wallet failed, which is shown. */
export async function signWith(wallet: Wallet): Promise<SignedMessage | undefined> {
  try {
    const accounts = await wallet.request({ method: "eth_requestAccounts" });
    const address = Array.isArray(accounts) ? String(accounts[0]) : "";
    const { message } = await api.get<{ message: string }>("/api/auth/nonce", { address });
    const bytes = [...new TextEncoder().encode(message)];
    const hex = `0x${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
    return { message, signature: String(await wallet.request({ method: "personal_sign", params: [hex, address] })) };
  } catch (error) {
    if (isRefusal(error)) showError(t("You did not sign the message. Nothing was linked."));
    else
      showError(
        error instanceof Error && error.name === "ApiError"
          ? messageOf(error)
          : t("The wallet gave no answer. Unlock it, then try again."),
      );
    return undefined;
  }
}

const isRefusal = (error: unknown) =>
  typeof error === "object" && error !== null && "code" in error && error.code === REFUSED_BY_PERSON;
