// Checks that a message of Sign-In with Ethereum was signed by the wallet it names. A message works once.
import type { Address } from "viem";
import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Chain } from "../../chains/index.ts";
import { createNonces, type Nonces } from "./nonces.ts";
import { isSignedBy } from "./signature.ts";
import { parseSiweMessage } from "./siwe-message.ts";

/** Unvalidated input: a value that is not text counts as missing. */
export interface SignedMessage {
  message?: unknown;
  signature?: unknown;
}

/** The signer, and the statements that mark the message as used. An invalid message writes nothing. */
export interface VerifiedProof {
  address: Address;
  useStatements: Statement[];
}

/** Codes of a 401 for a message that proves nothing. */
export const PROOF_ERRORS = ["SIGNATURE_REQUIRED", "INVALID_MESSAGE", "INVALID_SIGNATURE", "INVALID_NONCE"];

export interface WalletProofs {
  /** A nonce for the next message; see `Nonces.issue`. */
  nonce: Nonces["issue"];
  /** A message with a nonce for this address to sign. Throws 400 `INVALID_INPUT` if it is no address. */
  createMessage(address: string): Promise<{ message: string; nonce: string; expiresAt: number }>;
  /**
   * Throws 401 `SIGNATURE_REQUIRED`, `INVALID_MESSAGE`, `INVALID_SIGNATURE` or `INVALID_NONCE`, and 500
   * `CHAIN_UNAVAILABLE` if the check needs the chain and it can't be reached.
   */
  verify(proof: SignedMessage): Promise<VerifiedProof>;
}

export function createWalletProofs({ config, vault }: Pick<Kernel, "config" | "vault">, chain: Chain): WalletProofs {
  const nonces = createNonces(vault);
  return {
    nonce: nonces.issue,

    async createMessage(text) {
      if (!/^0x[0-9a-f]{40}$/i.test(text)) {
        throw invalidInput({ path: "address", message: "An address is 0x and 40 hex digits." });
      }
      const { getAddress } = await import("viem/utils");
      const { createSiweMessage } = await import("viem/siwe");
      const { nonce, expiresAt } = nonces.issue();
      const { host, origin } = new URL(config.baseUrl);
      const message = createSiweMessage({
        address: getAddress(text.toLowerCase()),
        domain: host,
        uri: origin,
        version: "1",
        chainId: chain.id,
        nonce,
        statement: "Sign in to Berth. This costs nothing and moves nothing.",
        issuedAt: new Date(),
        expirationTime: new Date(expiresAt),
      });
      return { message, nonce, expiresAt };
    },

    async verify({ message, signature }) {
      if (typeof message !== "string" || typeof signature !== "string" || !message || !signature) {
        throw new AppError(401, "SIGNATURE_REQUIRED", "Send the message and its signature.");
      }
      const { address, nonce, issuedAt } = await parseSiweMessage(message, {
        baseUrl: config.baseUrl,
        chainId: chain.id,
      });
      const useStatements = nonces.useStatements(nonce, issuedAt);
      if (!(await isSignedBy(chain, address, message, signature))) {
        throw new AppError(401, "INVALID_SIGNATURE", "This address did not sign this message.");
      }
      return { address, useStatements };
    },
  };
}
