// The fixture of the nonce queue's tests: a real chain behind a proxy, and wallets from a key that the test also has.

import { type Address, encodeFunctionData } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Anvil, callAnvil, startAnvil } from "../../tests/support/anvil.ts";
import { type RpcProxy, startRpcProxy } from "../../tests/support/rpc-proxy.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { deployToken, giveEther, type Token } from "../../tests/support/tokens.ts";
import { createChains } from "../chains/index.ts";
import { createNonceQueueWorker, type NonceQueueOptions } from "./chain/nonce-queue-worker.ts";
import { serializePlan } from "./chain/spend-plan.ts";
import { TOKEN_ABI } from "./chain/token-contract.ts";
import { createKeyring } from "./keys/keyring.ts";
import { createLocalPlatform } from "./keys/local-platform.ts";
import type { Signer } from "./keys/wallet-platform.ts";
import { createWallets, type Wallet, type Wallets } from "./keys/wallets.ts";
import { createLedger, type NewSpend, type NonceQueue, type Spend, type Transaction } from "./spending/ledger.ts";

export const USD = 1_000_000n;

export interface WalletFixture extends AsyncDisposable {
  readonly chain: Anvil;
  readonly rpc: RpcProxy;
  readonly usd: Token;
  readonly server: TestServer;
  readonly wallets: Wallets;
  readonly ledger: ReturnType<typeof createLedger>;
  /** The key of every wallet of the fixture, used as another program would use it. */
  readonly externalAccount: ReturnType<typeof privateKeyToAccount>;
  signerOf(wallet: Wallet): Promise<Signer>;
  /** Creates a wallet from that key for a new user id. */
  wallet(): Promise<Wallet & { userId: string }>;
  worker(
    options?: NonceQueueOptions,
    signerOf?: (wallet: Wallet) => Promise<Signer>,
  ): (queue: NonceQueue) => Promise<boolean>;
  /** Reserves a send of one USD to this address. */
  reserveSpend(wallet: Wallet & { userId: string }, to: Address, change?: Partial<NewSpend>): Promise<Spend>;
  reload(spend: Pick<Spend, "id">): Promise<Spend>;
  /** The newest transaction of the spend's current step. */
  transactionOf(spend: Spend): Promise<Transaction>;
  automine(on: boolean): Promise<unknown>;
  mine(): Promise<unknown>;
}

export const queueOf = ({ address }: Wallet): NonceQueue => ({ network: "testnet_chain", address });

export async function createWalletFixture(): Promise<WalletFixture> {
  const chain = await startAnvil({ chainId: 84_532 });
  let isAutomining = true;
  const rpc = startRpcProxy(chain.url, { isAutomining: () => isAutomining });
  const usd = await deployToken(chain);
  const server = await openServer({ env: { TESTNET_RPC_URL: rpc.url, STABLECOIN_ADDRESS_TESTNET: usd.address } });
  const { kernel } = server;
  const keys = createKeyring(kernel);
  const wallets = createWallets({ ...kernel, keys });
  const ledger = createLedger(kernel);
  const { signer: signerOf } = createLocalPlatform(keys);
  const key = generatePrivateKey();
  const externalAccount = privateKeyToAccount(key);
  await giveEther(chain, externalAccount.address, "10");
  await usd.mint(externalAccount.address, 1000n * USD);

  return {
    chain,
    rpc,
    usd,
    server,
    wallets,
    ledger,
    externalAccount,
    signerOf,
    async wallet() {
      const userId: string = crypto.randomUUID();
      return { ...(await wallets.createFromKey(userId, key)), userId };
    },
    worker(options = {}, signer = signerOf) {
      const chainOf = () => createChains(kernel.config).testnet;
      return createNonceQueueWorker({ ...kernel, chainOf, ledger, walletOf: wallets.byId, signerOf: signer }, options);
    },
    reserveSpend(wallet, to, change = {}) {
      const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args: [to, USD] });
      const spend: NewSpend = {
        userId: wallet.userId,
        walletId: wallet.id,
        requestKey: null,
        requestHash: "",
        kind: "send",
        ...queueOf(wallet),
        asset: usd.address,
        units: String(USD),
        usd: Number(USD),
        amount: "1",
        recipient: to,
        details: JSON.stringify({ assets: [] }),
        plan: serializePlan({ calls: [{ to: usd.address, data }] }),
        ...change,
      };
      return ledger.reserve(spend, { usd: spend.usd, recipient: to.toLowerCase(), assets: [] }, []);
    },
    reload: async ({ id }) => (await ledger.find(id)) ?? missing("a spend"),
    transactionOf: async (spend) => (await ledger.listTransactions(spend))[0] ?? missing("a transaction"),
    automine(on) {
      isAutomining = on;
      return callAnvil(chain, "evm_setAutomine", [on]);
    },
    mine: () => callAnvil(chain, "evm_mine"),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rpc.stop();
      await chain[Symbol.asyncDispose]();
    },
  };
}

function missing(what: string): never {
  throw new Error(`The test expected ${what} in the ledger.`);
}
