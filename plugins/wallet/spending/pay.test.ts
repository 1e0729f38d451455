// Tests that a payment which a platform signs with another key, or for another recipient, is never sent to the seller.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createOutbound } from "../../../src/kernel/security/outbound.ts";
import { type Seller, startSeller } from "../../../tests/support/seller.ts";
import { createChains } from "../../chains/index.ts";
import type { Signer, TypedData } from "../keys/wallet-platform.ts";
import { createWalletFixture, type WalletFixture } from "../wallet-fixture.test.ts";
import { createPay } from "./pay.ts";
import { createSpendingSteps } from "./spending-steps.ts";

let fixture: WalletFixture;
let seller: Seller;
beforeAll(async () => {
  fixture = await createWalletFixture();
  seller = startSeller(fixture.chain, fixture.usd);
});
afterAll(async () => {
  await seller?.stop();
  await fixture?.[Symbol.asyncDispose]();
});

test.each<[string, (data: TypedData) => ReturnType<Signer["signTypedData"]>]>([
  ["with another key", (data) => privateKeyToAccount(generatePrivateKey()).signTypedData(data)],
  [
    "for another recipient",
    (data) =>
      fixture.externalAccount.signTypedData({
        ...data,
        message: { ...data.message, to: fixture.externalAccount.address },
      }),
  ],
])("a payment signed %s is neither sent nor recorded as signed", async (_, signTypedData) => {
  const { server, wallets, ledger, externalAccount } = fixture;
  const { userId, address } = await fixture.wallet();
  const wakeStatement = () => ({ sql: "SELECT 1", args: [] });
  const steps = createSpendingSteps({
    ...server.kernel,
    chains: createChains(server.kernel.config),
    ledger,
    nonceQueues: { wakeStatement },
  });
  const signerOf = async (): Promise<Signer> => ({
    address: externalAccount.address,
    signTransaction: (transaction) => externalAccount.signTransaction(transaction),
    signTypedData,
  });
  const pay = createPay({ steps, wallets, ledger, outbound: createOutbound({ allow: ["127.0.0.1/32"] }), signerOf });
  const spendContext = { userId, requestKey: null, requestedAt: Date.now() };
  const paying = pay(spendContext, { url: seller.url, maxAmount: "1", from: address });
  expect(paying).rejects.toThrow(/another key/);
  await paying.catch(() => undefined);
  expect(seller.payments).toEqual([]);
  const { spends } = await ledger.list(userId, { limit: 1 });
  expect(spends[0]).toMatchObject({ kind: "pay", state: "reserved" });
});
