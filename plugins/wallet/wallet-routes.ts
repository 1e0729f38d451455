// The web routes of wallets: the user's own wallet, managed wallets, and wallets from a private key.

import { Elysia } from "elysia";
import type { Address } from "viem";
import { AppError, forbidden, notFound } from "../../src/kernel/errors.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { auth, Identity } from "../auth/index.ts";
import type { Chains } from "../chains/index.ts";
import { readFormattedBalances } from "./chain/token-contract.ts";
import type { PlatformSelection } from "./keys/platform-selection.ts";
import type { Wallet, Wallets } from "./keys/wallets.ts";
import {
  actionBody,
  actionResponse,
  addressResponse,
  CHAINS,
  clientBody,
  clientResponse,
  FEATURES,
  managedBody,
  managedResponse,
  type OwnWallet,
  statusResponse,
  walletResponse,
} from "./model.ts";
import { walletSettings } from "./settings.ts";

export const tags = ["Wallets"];
const NETWORK = "testnet_chain";
const IDEMPOTENCY_ERRORS = ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"];
const NO_WALLET = "You have no wallet yet. Make one: POST /api/wallet with the action create.";

interface Deps extends Pick<Kernel, "config" | "idempotency"> {
  chains: Chains;
  identities: ServiceOf<typeof auth>["identities"];
  wallets: Wallets;
  platformSelection: PlatformSelection;
}

export function walletRoutes({ config, chains, idempotency, identities, wallets, platformSelection }: Deps) {
  const { contracts, platform } = config.of(walletSettings);

  async function readOwnWallet({ user }: Identity): Promise<OwnWallet> {
    const wallet = await wallets.findOwn(user.id);
    if (!wallet) return { address: null, balance: "0", network: NETWORK, hasWallet: false, message: NO_WALLET };
    const { address } = wallet;
    const balances = await readFormattedBalances(
      chains.testnet,
      contracts.testnet.stablecoin as Address,
      address as Address,
    );
    const createdAt = new Date(wallet.createdAt).toISOString();
    return { address, ...balances, network: NETWORK, hasWallet: true, createdAt };
  }

  const platformStatus = (kind: string) => ({
    agenticWallet: {
      status: "configured" as const,
      projectId: `${(platform.projectId ?? kind).slice(0, 8)}...`,
      features: [...FEATURES],
    },
    instructions:
      "Make a wallet with POST /api/wallet/create { email }, then spend with POST /api/wallet/send, /trade and /pay within your policy (GET and PUT /api/wallet/policy).",
  });

  async function readSeedInfo({ user }: Identity) {
    const wallet = await wallets.findOwn(user.id);
    if (!wallet) throw notFound(NO_WALLET, "NO_WALLET");
    return {
      address: wallet.address,
      network: NETWORK,
      createdAt: new Date(wallet.createdAt).toISOString(),
      warning: "Private keys and seeds are kept encrypted on the server and are never shown.",
    };
  }

  const toManagedResponse = ({ id, address }: Wallet) => ({
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
        if (!platformSelection.platform) return readOwnWallet(await identities.authenticate(request, "read"));
        const identity = await identities.authenticateOptional(request, "read");
        return { ...platformStatus(platformSelection.kind), ...(identity && (await readOwnWallet(identity))) };
      },
      {
        open: true,
        response: { 200: walletResponse },
        detail: {
          tags,
          summary: "Get the caller's wallet, and the managed platform's status",
          operationId: "getWalletStatus",
          description:
            "If the platform is configured, anyone gets its status, and a signed-in caller also gets their own wallet. Otherwise a session is required.",
          ...documentErrors({ 401: "UNAUTHORIZED", 403: "MISSING_SCOPE", 500: "CHAIN_UNAVAILABLE" }),
        },
      },
    )
    .post(
      "/api/wallet",
      async ({ identity, body: { action }, request }) => {
        if (action === "export_seed") throw forbidden("SEED_EXPORT_DISABLED", "Seed export is disabled.");
        if (action === "get_seed") return Response.json(await readSeedInfo(identity));
        const userId = identity.user.id;
        return idempotency.respond({ request, userId }, async (keep) => {
          const toCreatedResponse = ({ address }: Wallet) => ({
            address,
            network: NETWORK,
            message: "Your wallet was created.",
          });
          const storeResponse = (wallet: Wallet) =>
            keep({ status: 200, body: JSON.stringify(toCreatedResponse(wallet)) });
          return Response.json(toCreatedResponse(await wallets.create(userId, storeResponse)));
        });
      },
      {
        signedIn: "write",
        body: actionBody,
        response: { 200: actionResponse },
        detail: {
          tags,
          summary: "Create the caller's wallet, or get its details",
          operationId: "ensureWallet",
          description: "`create`, `get_seed` (which shows no seed) or `export_seed` (always refused).",
          ...documentErrors({
            400: "WALLET_EXISTS",
            403: "SEED_EXPORT_DISABLED",
            404: "NO_WALLET",
            409: IDEMPOTENCY_ERRORS,
          }),
        },
      },
    )
    .get(
      "/api/wallet/address",
      async ({ request }) => {
        const none = { authenticated: false, needsAuth: true as const };
        if (!platformSelection.platform) return { ...none, error: NOT_CONFIGURED, setup: platformSelection.setup };
        const identity = await identities.authenticateOptional(request, "read");
        if (!identity) return { ...none, message: "Sign in to see the address of your managed wallet." };
        const wallet = await wallets.findManaged(identity.user.id, identity.user.email);
        if (wallet) return { authenticated: true, address: wallet.address };
        return { ...none, message: "You have no managed wallet yet. Make one: POST /api/wallet/create." };
      },
      {
        open: true,
        response: { 200: addressResponse },
        detail: {
          tags,
          summary: "Get the address of the caller's managed wallet",
          description:
            "Answers 200 for callers without a wallet or a session, too: `authenticated`, `needsAuth` and `setup` say what is missing.",
          operationId: "getWalletAddress",
          ...documentErrors({ 401: "UNAUTHORIZED" }),
        },
      },
    )
    .post(
      "/api/wallet/create",
      ({ identity, body, request }) => {
        const { platform } = platformSelection;
        if (!platform)
          throw new AppError(500, "WALLET_PLATFORM_NOT_CONFIGURED", NOT_CONFIGURED, { setup: platformSelection.setup });
        const userId = identity.user.id;
        const email = body.email.trim().toLowerCase();
        return idempotency.respond({ request, userId }, async () =>
          Response.json(toManagedResponse(await wallets.findOrCreateManaged(platform, userId, email))),
        );
      },
      {
        signedIn: "write",
        body: managedBody,
        response: { 200: managedResponse },
        detail: {
          tags,
          summary: "Create a managed wallet for an email address",
          operationId: "createManagedWallet",
          description: "A repeated request for the same email returns the same wallet.",
          ...documentErrors({
            409: ["TOO_MANY_WALLETS", ...IDEMPOTENCY_ERRORS],
            500: "WALLET_PLATFORM_NOT_CONFIGURED",
            502: "WALLET_PLATFORM_UNAVAILABLE",
          }),
        },
      },
    )
    .get(
      "/api/wallet/managed",
      () => ({ status: "ok" as const, type: "evm_wallet" as const, supportedChains: CHAINS }),
      {
        open: true,
        response: { 200: statusResponse },
        detail: {
          tags,
          summary: "Get the type and chains of managed wallets",
          description: "`type` is that of the platform which holds the keys of managed wallets.",
          operationId: "getManagedWalletInfo",
        },
      },
    )
    .post(
      "/api/wallet/managed",
      ({ identity, body: { privateKey }, request }) => {
        const userId = identity.user.id;
        return idempotency.respond({ request, userId }, async () => {
          const { address } = await wallets.createFromKey(userId, privateKey ?? undefined);
          return Response.json({ success: true, address, network: NETWORK });
        });
      },
      {
        signedIn: "write",
        body: clientBody,
        response: { 200: clientResponse },
        detail: {
          tags,
          summary: "Create a wallet from a given or a new private key",
          operationId: "importWallet",
          description: "To spend from it, give its address as `from`.",
          ...documentErrors({ 400: "INVALID_PRIVATE_KEY", 409: ["TOO_MANY_WALLETS", ...IDEMPOTENCY_ERRORS] }),
        },
      },
    );
}

const NOT_CONFIGURED = "The managed wallet platform is not configured.";
