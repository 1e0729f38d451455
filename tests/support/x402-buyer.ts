// Pays by x402 version 2 with a wallet, as the protocol's own client does.
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import type { PrivateKeyAccount } from "viem/accounts";

/**
 * The header of a payment for these terms.
 *
 * @param signed what the wallet signs, if not the same
 */
export async function signPayment(account: PrivateKeyAccount, terms: PaymentRequirements, signed = terms) {
  const { payload } = await new ExactEvmScheme(account).createPaymentPayload(2, signed);
  const payment: PaymentPayload = { x402Version: 2, accepted: terms, payload };
  return encodePaymentSignatureHeader(payment);
}
