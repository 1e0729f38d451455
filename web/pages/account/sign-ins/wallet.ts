// Signs the message by which a wallet is linked to the account.

import { api } from "../../../api/api.ts";
import { addressOf, type BrowserWallet, isRefusal, signText } from "../../../data/browser-wallets.ts";
import { messageOf } from "../../../parts/error-note.tsx";
import { showError } from "../../../parts/toast.tsx";
import { t } from "../../../viewer/language.ts";

export interface SignedMessage {
  message: string;
  signature: string;
}

/** A signed message; undefined if its owner declined or the wallet failed, which is shown. */
export async function signWith(wallet: BrowserWallet): Promise<SignedMessage | undefined> {
  try {
    const address = await addressOf(wallet);
    const { message } = await api.get<{ message: string }>("/api/auth/nonce", { address });
    return { message, signature: await signText(wallet, address, message) };
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
