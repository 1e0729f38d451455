// The wallet plugin keeps sealed keys for users, shows balances, and spends from wallets within a policy. Every spend
// is a ledger row before it is signed by its nonce queue.

import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { auth } from "../auth/index.ts";
import { chains } from "../chains/index.ts";
import { skills } from "../skills/index.ts";
import { createNonceQueues } from "./chain/nonce-queues.ts";
import { createKeyring } from "./keys/keyring.ts";
import { createLocalPlatform } from "./keys/local-platform.ts";
import { selectPlatform } from "./keys/platform-selection.ts";
import type { Signer } from "./keys/wallet-platform.ts";
import { createWallets, type Wallet } from "./keys/wallets.ts";
import { walletSettings } from "./settings.ts";
import { createLedger } from "./spending/ledger.ts";
import { createPolicies } from "./spending/policy.ts";
import { createWalletSkill } from "./wallet-skill.ts";

export { formatDecimalUnits, USD_DECIMALS } from "./amounts.ts";
export { readDecimals } from "./chain/token-contract.ts";

export const wallet = plugin("wallet", ({ kernel, use }) => {
  const authService = use(auth);
  const { identities } = authService;
  const evmChains = use(chains);
  const keys = createKeyring(kernel);
  const wallets = createWallets({ ...kernel, keys });
  const platformSelection = selectPlatform(kernel.config.of(walletSettings), keys);
  const localPlatform = createLocalPlatform(keys);

  /** A wallet without a sealed key was made by a managed platform, which signs for it. */
  async function signerOf(wallet: Wallet): Promise<Signer> {
    if (wallet.sealed !== null) return localPlatform.signer(wallet);
    if (!platformSelection.platform)
      throw new Error(`Wallet ${wallet.id} belongs to a managed platform that is not configured any more.`);
    return platformSelection.platform.signer(wallet);
  }

  const policies = createPolicies(kernel);
  const ledger = createLedger(kernel);
  const chainOf = ({ network }: { network: string }) =>
    network === "mainnet_chain" ? evmChains.mainnet : evmChains.testnet;
  const worker = once(async () =>
    (await import("./chain/nonce-queue-worker.ts")).createNonceQueueWorker({
      ...kernel,
      chainOf,
      ledger,
      walletOf: wallets.byId,
      signerOf,
    }),
  );
  const nonceQueues = createNonceQueues({ ...kernel, ledger, work: async (queue) => (await worker())(queue) });
  const spending = once(async () =>
    (await import("./spending/spending.ts")).createSpending({
      ...kernel,
      chains: evmChains,
      wallets,
      ledger,
      nonceQueues,
      signerOf,
    }),
  );

  const skill = createWalletSkill({ wallets, spending });
  const walletSkills = [skill];
  use(skills).register({ id: "built-in", skillsFor: () => walletSkills });

  // The former holder may still have the keys they imported, and may have requested spends.
  authService.onAccountReclaim((userId) => [
    wallets.disownStatement(userId),
    ledger.cancelStatement(userId),
    policies.resetStatement(userId),
  ]);

  // Unsigned spends are cancelled, so that enabling the account again does not execute them.
  authService.administration.onDisabled(async (userId) => {
    const owner = await authService.users.byId(userId);
    if (owner && owner.disabledAt !== null) await kernel.database.write([ledger.cancelStatement(userId)]);
  });

  return {
    service: {},
    lateRoutes: {
      web: [
        async () =>
          (await import("./wallet-routes.ts")).walletRoutes({
            ...kernel,
            chains: evmChains,
            identities,
            wallets,
            platformSelection,
          }),
        async () =>
          (await import("./wallet-list-routes.ts")).walletListRoutes({
            ...kernel,
            chains: evmChains,
            identities,
            wallets,
          }),
        async () =>
          (await import("./spend-routes.ts")).spendRoutes({
            ...kernel,
            identities,
            policies,
            ledger,
            ...(await spending()),
          }),
      ],
    },
    start: nonceQueues.start,
    stop: nonceQueues.stop,
  };
});
