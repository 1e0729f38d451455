// Wallets, spending, proofs of identity and token gates, on chains of this machine.
import { parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createClient } from "../../support/client.ts";
import { freshAddress, giveEther, transferToken } from "../../support/tokens.ts";
import { createWallet, linkWallet } from "../../support/wallets.ts";
import { signPayment } from "../../support/x402-buyer.ts";
import type { Tour } from "../tour.ts";
import { BASE_URL, type World } from "../world.ts";

export async function money(tour: Tour, world: World): Promise<void> {
  await verification(tour, world);
  if (tour.side === "backend") return;
  await social(tour, world);
  await billing(tour, world);
  const { call } = tour;
  const rich = createClient(tour.berth);
  await rich.join();
  const as = { as: rich };
  await call("GET /api/wallet", as);
  const { body: made } = await call("POST /api/wallet", { ...as, body: { action: "create" } });
  await world.usd.mint(made.address, 100_000_000n);
  await giveEther(world.chain, made.address);
  await world.gold.mint(made.address, parseUnits("100", 18));
  await call("GET /api/wallet/address", as);
  await call("GET /api/wallet/managed", as);
  await call("POST /api/wallet/create", { ...as, body: { email: rich.account.email } });
  await call("GET /api/wallets", as);
  await call("GET /api/wallets/{address}", {
    ...as,
    path: { address: made.address },
    query: { network: "testnet_chain" },
  });
  await call("GET /api/wallet/policy", as);
  await call("PUT /api/wallet/policy", { ...as, body: { perTransaction: "10", perDay: "50", approvalAbove: "5" } });
  const transfer = { to: freshAddress(), amount: "1", network: "testnet_chain" };
  await call("POST /api/wallet/send", { ...as, body: transfer });
  await call("POST /api/wallet/trade", { ...as, body: { sell: "USDC", buy: world.gold.address, amount: "2" } });
  await call("POST /api/wallet/pay", { ...as, body: { url: `${world.seller.url}/news`, body: {}, maxAmount: "1" } });
  // Above the owner's limit it waits for an approval.
  const waiting = async () => {
    const { body } = await call("POST /api/wallet/send", { ...as, body: { ...transfer, amount: "7" } });
    return { id: body.id ?? "unknown" };
  };
  await call("POST /api/wallet/spends/{id}/reject", { ...as, path: await waiting(), body: {} });
  await call("POST /api/wallet/spends/{id}/approve", { ...as, path: await waiting(), body: {} });
  await call("PUT /api/wallet/policy", { ...as, body: { perTransaction: "10", perDay: "50", approvalAbove: "0.01" } });
  await call("POST /api/wallet/trade", { ...as, body: { sell: "USDC", buy: world.gold.address, amount: "2" } });
  await call("GET /api/wallet/spends", as);
  const importer = createClient(tour.berth);
  await importer.join();
  await call("POST /api/wallet/managed", { as: importer, body: {} });
}

async function verification(tour: Tour, { attest }: World): Promise<void> {
  const { call } = tour;
  const wallet = createWallet();
  await attest(wallet.address);
  const { body } = await call("POST /api/agents/{id}/verification/challenge", {
    body: { verificationType: "exchange" },
  });
  const signature = await wallet.sign(body.message ?? "");
  await call("POST /api/agents/{id}/verify", { body: { verificationType: "exchange", signature } });
  await call("GET /api/agents/{id}/verification");
  await call("DELETE /api/agents/{id}/verify");
}

async function social({ call }: Tour, { social }: World): Promise<void> {
  const anonymous = { as: null };
  await call("GET /api/auth/social/verify", anonymous);
  await call("GET /api/auth/social/refresh", anonymous);
  const { fidToken } = await social.newIdentity();
  const { body } = await call("POST /api/auth/social/verify", {
    ...anonymous,
    body: { fidToken, address: social.sufficient },
  });
  const bearer = { as: null, headers: { authorization: `Bearer ${body.sessionToken}` } };
  await call("GET /api/auth/token-gating/verify", { ...bearer, query: { address: social.sufficient } });
  await call("POST /api/auth/token-gating/verify", { ...bearer, body: { fid: "1001", address: social.sufficient } });
  await call("POST /api/auth/social/refresh", { ...anonymous, body: { refreshToken: body.refreshToken } });
  const { fidToken: own } = await social.newIdentity();
  await call("POST /api/settings/social", { body: { fidToken: own } });
  await call("GET /api/settings/social");
  await call("DELETE /api/settings/social");
}

/** A person takes a plan and buys credits, also in stablecoin. */
async function billing({ call, berth }: Tour, { stripe, chain, usd }: World): Promise<void> {
  const buyer = createClient(berth);
  await buyer.join();
  const as = { as: buyer };
  const { body: checkout } = await call("POST /api/billing/plan", { ...as, body: { plan: "pro" } });
  stripe.pay(checkout.url);
  const [event] = stripe.events;
  if (event) {
    const headers = { "stripe-signature": await stripe.sign(JSON.stringify(event)) };
    await call("POST /api/billing/stripe", { as: null, body: event, headers });
  }
  await call("GET /api/billing", as);
  await call("POST /api/billing/credits", { ...as, body: { credits: 500 } });
  await call("POST /api/billing/portal", as);
  await call("GET /api/billing/invoices", as);
  const wallet = privateKeyToAccount(generatePrivateKey());
  await giveEther(chain, wallet.address);
  await usd.mint(wallet.address, 20_000_000n);
  const { body: price } = await call("POST /api/billing/credits/x402", { ...as, body: { credits: 500 } });
  const headers = { "payment-signature": await signPayment(wallet, price.accepts[0]) };
  await call("POST /api/billing/credits/x402", { ...as, body: { credits: 500 }, headers });
  await linkWallet({ web: BASE_URL }, buyer, wallet);
  const { body: how } = await call("GET /api/billing/stablecoin", as);
  const to = how.payment.payTo;
  const transaction = await transferToken(chain, usd, { from: wallet, to, units: 5_000_000n });
  await call("POST /api/billing/stablecoin", { ...as, body: { transaction } });
}
