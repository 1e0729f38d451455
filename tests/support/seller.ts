// A server that sells by x402 v2 and settles payments on a test chain with the protocol's own facilitator.
import {
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
} from "@x402/core/http";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import type { Address } from "viem";
import type { Anvil } from "./anvil.ts";
import { freshAddress, type Token } from "./tokens.ts";

type How = "sell" | "take" | "lie" | "refuse";

export interface Seller {
  readonly url: string;
  readonly payTo: Address;
  /** The payment headers of all requests that had one. */
  readonly payments: string[];
  /** Sets terms that override the default: one USD by the exact scheme. */
  setTerms(terms: Partial<PaymentRequirements>): void;
  /** `sell`: correct; `take`: settles, then fails with 500; `lie`: names another transaction; `refuse`: settles nothing. */
  behave(how: How): void;
  /** Sets a listener that runs when a payment arrived, before it is verified. */
  onPayment(listener: () => Promise<void> | void): void;
  stop(): Promise<void>;
}

export function startSeller(chain: Anvil, token: Token): Seller {
  const payTo = freshAddress();
  const payments: string[] = [];
  const { client } = chain;
  const scheme = new ExactEvmScheme({
    getAddresses: () => [client.account.address],
    readContract: (args) => client.readContract(args as Parameters<typeof client.readContract>[0]),
    verifyTypedData: (args) => client.verifyTypedData(args as Parameters<typeof client.verifyTypedData>[0]),
    writeContract: (args) => client.writeContract({ ...args, args: [...args.args] }),
    sendTransaction: (args) => client.sendTransaction(args),
    waitForTransactionReceipt: async ({ hash }) => client.waitForTransactionReceipt({ hash }),
    getCode: ({ address }) => client.getCode({ address }),
  });
  let terms: Partial<PaymentRequirements> = {};
  let how: How = "sell";
  let listener: () => Promise<void> | void = () => undefined;

  const price = (): PaymentRequirements => ({
    scheme: "exact",
    network: "eip155:84532",
    asset: token.address,
    amount: "1000000",
    payTo,
    maxTimeoutSeconds: 60,
    extra: { name: "USD Coin", version: "2" },
    ...terms,
  });

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/moved") return Response.redirect("/news", 302);
      if (pathname === "/free") return new Response("free of charge");
      const header = request.headers.get("payment-signature");
      const accepted = price();
      if (header === null) {
        const resource = { url: request.url, description: "News", mimeType: "text/plain" };
        const required: PaymentRequired = { x402Version: 2, resource, accepts: [accepted] };
        return new Response("pay first", {
          status: 402,
          headers: { "payment-required": encodePaymentRequiredHeader(required) },
        });
      }
      payments.push(header);
      await listener();
      if (how === "refuse") return new Response("no", { status: 402 });
      const payment = decodePaymentSignatureHeader(header);
      const verified = await scheme.verify(payment, accepted);
      if (!verified.isValid) return new Response(`invalid: ${verified.invalidReason}`, { status: 402 });
      const settled = await scheme.settle(payment, accepted);
      if (how === "take") return new Response("thanks", { status: 500 });
      const receipt = how === "lie" ? { ...settled, transaction: `0x${"12".repeat(32)}` } : settled;
      const headers = { "payment-response": encodePaymentResponseHeader(receipt) };
      return new Response(`news for ${await request.text()}`, { status: settled.success ? 200 : 402, headers });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    payTo,
    payments,
    setTerms(next) {
      terms = next;
    },
    behave(next) {
      how = next;
    },
    onPayment(next) {
      listener = next;
    },
    stop: () => server.stop(true),
  };
}
