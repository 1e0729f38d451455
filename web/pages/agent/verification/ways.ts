// The four ways to prove who stands behind an agent.

import { type Text, text } from "../../../viewer/language.ts";

export const WAY_IDS = ["webauthn", "exchange", "name_service", "attestation"] as const;
export type Way = (typeof WAY_IDS)[number];

export const isWay = (type: string | null): type is Way => WAY_IDS.some((way) => way === type);

interface Explanation {
  title: Text;
  /** What it proves, and what it needs. */
  explanation: Text;
  proves: Text;
}

export const WAYS: Readonly<Record<Way, Explanation>> = {
  webauthn: {
    title: text("This device"),
    explanation: text(
      "Your fingerprint, face, PIN or security key confirms it. Nothing to install, and no wallet is needed.",
    ),
    proves: text("A person with your device confirms that the agent is theirs."),
  },
  exchange: {
    title: text("Exchange account"),
    explanation: text(
      "For wallets that a crypto exchange has confirmed to belong to a checked customer. You sign a text with that wallet.",
    ),
    proves: text("An exchange knows the person behind your wallet."),
  },
  name_service: {
    title: text("Wallet name"),
    explanation: text(
      "For wallets that carry a public name, such as a .base.eth name. You sign a text with that wallet.",
    ),
    proves: text("The agent belongs to whoever owns this name."),
  },
  attestation: {
    title: text("Attestation"),
    explanation: text(
      "A statement about your wallet that somebody has written to the chain. You give its number, and sign a text if you have not signed in with that wallet.",
    ),
    proves: text("What the attestation says about your wallet."),
  },
};
