// The web's routes of wallets: a user's own, and those of the managed platform. Interface, "Wallets".
import { Elysia } from "elysia";
import type { Address } from "viem";
import { AppError, forbidden, notFound } from "../../src/errors.ts";
import { openRoutes } from "../../src/http.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { auth, Identity } from "../auth/index.ts";
import { heldBy } from "./contracts.ts";
import type { Configured } from "./drivers.ts";
import {
  actionAnswer,
  actionBody,
  addressAnswer,
  CHAINS,
  clientAnswer,
  clientBody,
  FEATURES,
  managedAnswer,
  managedBody,
  type OwnWallet,
  statusAnswer,
  walletAnswer,
} from "./model.ts";
import type { Wallet, Wallets } from "./wallets.ts";

export const tags = ["Wallets"];
const NETWORK = "testnet_chain";
const KEPT_ANSWER = ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"];
const NO_WALLET = "You have no wallet yet. Make one: POST /api/wallet with the action create.";

interface Deps extends Pick<Kernel, "config" | "chains" | "idempotency"> {
  identities: ServiceOf<typeof auth>["identities"];
  wallets: Wallets;
  configured: Configured;
}

export function walletRoutes({ config, chains, idempotency, identities, wallets, configured }: Deps) {
  async function ownOf({ user }: Identity): Promise<OwnWallet> {
    const wallet = await wallets.own(user.id);
    if (!wallet) return { address: null, balance: "0", network: NETWORK, hasWallet: false, message: NO_WALLET };
    const { address } = wallet;
    const held = await heldBy(chains.testnet, config.chains.testnet.stablecoin as Address, address as Address);
    const createdAt = new Date(wallet.createdAt).toISOString();
    return { address, ...held, network: NETWORK, hasWallet: true, createdAt };
  }

  const platformStatus = (kind: string) => ({
    agenticWallet: {
      status: "configured" as const,
      projectId: `${(config.walletPlatform.projectId ?? kind).slice(0, 8)}...`,
      features: [...FEATURES],
    },
    instructions:
      "Make a wallet with POST /api/wallet/create { email }, then spend with POST /api/wallet/send, /trade and /pay within your policy (GET and PUT /api/wallet/policy).",
  });

  async function seedOf({ user }: Identity) {
    const wallet = await wallets.own(user.id);
    if (!wallet) throw notFound(NO_WALLET, "NO_WALLET");
    return {
      address: wallet.address,
      network: NETWORK,
      createdAt: new Date(wallet.createdAt).toISOString(),
      warning: "Private keys and seeds are kept encrypted on the server and are never shown.",
    };
  }

  const toManaged = ({ id, address }: Wallet) => ({
    success: true as const,
    walletAddress: address,
    walletId: id,
    networks: CHAINS,
  });

  return new Elysia({ name: "wallet.web" })
    .use(openRoutes)
    .use(identities.guards)
    .get(
      "/api/wallet",
      async ({ request }) => {
        if (!configured.platform) return ownOf(await identities.authenticate(request, "read"));
        const identity = await identities.recognize(request, "read");
        return { ...platformStatus(configured.kind), ...(identity && (await ownOf(identity))) };
      },
      {
        open: true,
        response: { 200: walletAnswer },
        detail: {
          tags,
          summary: "The caller's wallet, and the managed platform's status",
          description:
            "With the platform configured its status is for anyone, and the caller's own wallet beside it with a session. Else a session is needed.",
          ...mayAnswer({ 401: "UNAUTHORIZED", 403: "MISSING_SCOPE", 500: "CHAIN_UNAVAILABLE" }),
        },
      },
    )
    .post(
      "/api/wallet",
      async ({ identity, body: { action }, request }) => {
        if (action === "export_seed") throw forbidden("SEED_EXPORT_DISABLED", "Seed export is disabled.");
        if (action === "get_seed") return Response.json(await seedOf(identity));
        const userId = identity.user.id;
        return idempotency.respond({ request, userId }, async (keep) => {
          const made = ({ address }: Wallet) => ({ address, network: NETWORK, message: "Your wallet is made." });
          const also = (wallet: Wallet) => keep({ status: 200, body: JSON.stringify(made(wallet)) });
          return Response.json(made(await wallets.create(userId, also)));
        });
      },
      {
        signedIn: "write",
        body: actionBody,
        response: { 200: actionAnswer },
        detail: {
          tags,
          summary: "Make the caller's wallet, or see what is known of it",
          description: "`create`, `get_seed` (which shows no seed) or `export_seed` (always refused).",
          ...mayAnswer({ 400: "WALLET_EXISTS", 403: "SEED_EXPORT_DISABLED", 404: "NO_WALLET", 409: KEPT_ANSWER }),
        },
      },
    )
    .get(
      "/api/wallet/address",
      async ({ request }) => {
        const none = { authenticated: false, needsAuth: true as const };
        if (!configured.platform) return { ...none, error: NOT_CONFIGURED, setup: configured.setup };
        const identity = await identities.recognize(request, "read");
        if (!identity) return { ...none, message: "Sign in to see the address of your managed wallet." };
        const wallet = await wallets.findManaged(identity.user.id, identity.user.email);
        if (wallet) return { authenticated: true, address: wallet.address };
        return { ...none, message: "You have no managed wallet yet. Make one: POST /api/wallet/create." };
      },
      {
        open: true,
        response: { 200: addressAnswer },
        detail: { tags, summary: "The address of the caller's managed wallet", ...mayAnswer({ 401: "UNAUTHORIZED" }) },
      },
    )
    .post(
      "/api/wallet/create",
      ({ identity, body, request }) => {
        const { platform } = configured;
        if (!platform)
          throw new AppError(500, "WALLET_PLATFORM_NOT_CONFIGURED", NOT_CONFIGURED, { setup: configured.setup });
        const userId = identity.user.id;
        const email = body.email.trim().toLowerCase();
        return idempotency.respond({ request, userId }, async () =>
          Response.json(toManaged(await wallets.managed(platform, userId, email))),
        );
      },
      {
        signedIn: "write",
        body: managedBody,
        response: { 200: managedAnswer },
        detail: {
          tags,
          summary: "Make a managed wallet for an email",
          description: "Asked again for the same email, the answer is the same wallet.",
          ...mayAnswer({
            409: ["TOO_MANY_WALLETS", ...KEPT_ANSWER],
            500: "WALLET_PLATFORM_NOT_CONFIGURED",
            502: "WALLET_PLATFORM_UNAVAILABLE",
          }),
        },
      },
    )
    .get(
      "/api/wallet/managed",
      () => ({ status: "ok" as const, type: "evm_wallet" as const, supportedChains: CHAINS }),
      { open: true, response: { 200: statusAnswer }, detail: { tags, summary: "What managed wallets are" } },
    )
    .post(
      "/api/wallet/managed",
      ({ identity, body: { privateKey }, request }) => {
        const userId = identity.user.id;
        return idempotency.respond({ request, userId }, async () => {
          const { address } = await wallets.fromKey(userId, privateKey ?? undefined);
          return Response.json({ success: true, address, network: NETWORK });
        });
      },
      {
        signedIn: "write",
        body: clientBody,
        response: { 200: clientAnswer },
        detail: {
          tags,
          summary: "Make a wallet from a private key, or from a new one",
          description: "Spend from it by naming its address as `from`.",
          ...mayAnswer({ 400: "INVALID_PRIVATE_KEY", 409: ["TOO_MANY_WALLETS", ...KEPT_ANSWER] }),
        },
      },
    );
}

const NOT_CONFIGURED = "The managed wallet platform is not configured.";
