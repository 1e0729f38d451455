// A payment that a platform signs with another key, or for another thing: no seller ever sees it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createOutbound } from "../../src/outbound.ts";
import { type Seller, startSeller } from "../../tests/support/seller.ts";
import { createPay } from "./pay.ts";
import type { Signer, TypedData } from "./platform.ts";
import { createSpending } from "./spending.ts";
import { type Harbour, openHarbour } from "./support.test.ts";

let harbour: Harbour;
let seller: Seller;
beforeAll(async () => {
  harbour = await openHarbour();
  seller = startSeller(harbour.chain, harbour.usd);
}, 60_000);
afterAll(async () => {
  await seller?.stop();
  await harbour?.[Symbol.asyncDispose]();
});

test.each<[string, (data: TypedData) => ReturnType<Signer["signTypedData"]>]>([
  ["with another key", (data) => privateKeyToAccount(generatePrivateKey()).signTypedData(data)],
  [
    "to somebody else",
    (data) => harbour.outside.signTypedData({ ...data, message: { ...data.message, to: harbour.outside.address } }),
  ],
])("what is signed %s goes to nobody, and is not noted as signed", async (_, signTypedData) => {
  const { house, wallets, ledger, outside } = harbour;
  const { userId, address } = await harbour.wallet();
  const wake = () => ({ sql: "SELECT 1", args: [] });
  const lanes = { wake, start: async () => undefined, stop: () => undefined };
  const { steps } = createSpending({ ...house.kernel, ledger, wallets, lanes });
  const signerOf = async (): Promise<Signer> => ({
    address: outside.address,
    signTransaction: (transaction) => outside.signTransaction(transaction),
    signTypedData,
  });
  const pay = createPay({ steps, wallets, ledger, outbound: createOutbound({ allow: ["127.0.0.1/32"] }), signerOf });
  const spender = { userId, requestKey: null, since: Date.now() };
  const paying = pay(spender, { url: seller.url, maxAmount: "1", from: address });
  expect(paying).rejects.toThrow(/another key/);
  await paying.catch(() => undefined);
  expect(seller.payments).toEqual([]);
  const { spends } = await ledger.list(userId, 1, 0);
  expect(spends[0]).toMatchObject({ kind: "pay", state: "reserved" });
});
