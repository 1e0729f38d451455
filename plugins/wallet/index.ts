// Wallets: keys that never leave the server in clear, what they hold, and what may be spent from them.
import { Elysia } from "elysia";
import { plugin } from "../../src/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { skills } from "../skills/index.ts";
import { createApproval } from "./approval.ts";
import { choosePlatform } from "./drivers.ts";
import { createKeyring } from "./keys.ts";
import { createLaneWorker } from "./lane.ts";
import { createLanes } from "./lanes.ts";
import { createLedger } from "./ledger.ts";
import { createPay } from "./pay.ts";
import { createLocalPlatform, type Signer } from "./platform.ts";
import { createPolicies } from "./policy.ts";
import { walletRoutes } from "./routes.ts";
import { createWalletSkill } from "./skill.ts";
import { spendRoutes } from "./spend-routes.ts";
import { createSpending } from "./spending.ts";
import { createUniswap } from "./swap.ts";
import { createTrade } from "./trade.ts";
import { createWallets, type Wallet } from "./wallets.ts";

export const wallet = plugin("wallet", ({ kernel, use }) => {
  const accounts = use(auth);
  const hosted = use(agents);
  const { identities } = accounts;
  const keys = createKeyring(kernel);
  const wallets = createWallets({ ...kernel, keys });
  const configured = choosePlatform(kernel.config, keys);
  const local = createLocalPlatform(keys);

  /** A wallet without a key here is one of the platform's. */
  async function signerOf(wallet: Wallet): Promise<Signer> {
    if (wallet.sealed !== null) return local.signer(wallet);
    if (!configured.platform) throw new Error(`Wallet ${wallet.id} is of a platform that is not configured any more.`);
    return configured.platform.signer(wallet);
  }

  const policies = createPolicies(kernel);
  const ledger = createLedger(kernel);
  const chainOf = ({ network }: { network: string }) =>
    network === "mainnet_chain" ? kernel.chains.mainnet : kernel.chains.testnet;
  const work = createLaneWorker({ ...kernel, chainOf, ledger, walletOf: wallets.byId, signerOf });
  const lanes = createLanes({ ...kernel, ledger, work });
  const spending = createSpending({ ...kernel, ledger, wallets, lanes });
  const { steps } = spending;
  const venue = createUniswap({ ...kernel, chainOf: steps.chainOf });
  const trading = createTrade({ steps, wallets, venue });
  const { trade } = trading;
  const pay = createPay({ ...kernel, steps, wallets, ledger, signerOf });

  const approve = createApproval({ ledger, steps, trading, wake: lanes.wake });

  const approvals = async (agentId: string) => (await hosted.settings(agentId)).approvals;
  const skill = createWalletSkill({ wallets, spending, trade, pay, approvals });
  const offered = [skill];
  use(skills).register({ id: "wallet", skillsFor: () => offered });

  // Whoever had the account before may hold the keys that they brought, and may have asked for spends.
  accounts.onTakeover((userId) => [wallets.disown(userId), ledger.cancel(userId), policies.reset(userId)]);

  // What is not signed yet can't be by then either; so that it is not taken up when the account is enabled again.
  accounts.administration.onDisabled(async (userId) => {
    const owner = await accounts.users.byId(userId);
    if (owner && owner.disabledAt !== null) await kernel.database.write([ledger.cancel(userId)]);
  });

  return {
    service: {},
    web: new Elysia({ name: "wallets" })
      .use(walletRoutes({ ...kernel, identities, wallets, configured }))
      .use(spendRoutes({ ...kernel, identities, policies, ledger, spending, trade, pay, approve })),
    start: lanes.start,
    stop: lanes.stop,
  };
});
