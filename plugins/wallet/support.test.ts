// What the lanes' tests stand on: a real chain behind a proxy, a wallet from a key that the test has too, and spends from it.

import { type Address, encodeFunctionData } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Anvil, askAnvil, startAnvil } from "../../tests/support/anvil.ts";
import { type House, openHouse } from "../../tests/support/house.ts";
import { type RpcProxy, startRpcProxy } from "../../tests/support/rpc-proxy.ts";
import { deployToken, giveEther, type Token } from "../../tests/support/tokens.ts";
import { TOKEN } from "./contracts.ts";
import { createKeyring } from "./keys.ts";
import { createLaneWorker, type LaneOptions } from "./lane.ts";
import { createLedger, type Lane, type NewSpend, type Spend, type Transaction } from "./ledger.ts";
import { writePlan } from "./plan.ts";
import { createLocalPlatform, type Signer } from "./platform.ts";
import { createWallets, type Wallet, type Wallets } from "./wallets.ts";

export const USD = 1_000_000n;

export interface Harbour extends AsyncDisposable {
  readonly chain: Anvil;
  readonly rpc: RpcProxy;
  readonly usd: Token;
  readonly house: House;
  readonly wallets: Wallets;
  readonly ledger: ReturnType<typeof createLedger>;
  /** The key that every wallet here is made from, also outside. */
  readonly outside: ReturnType<typeof privateKeyToAccount>;
  signerOf(wallet: Wallet): Promise<Signer>;
  /** A wallet from that key, of a new account. */
  wallet(): Promise<Wallet & { userId: string }>;
  worker(options?: LaneOptions, signerOf?: (wallet: Wallet) => Promise<Signer>): (lane: Lane) => Promise<boolean>;
  /** One USD to this address, reserved. */
  reserved(wallet: Wallet & { userId: string }, to: Address, but?: Partial<NewSpend>): Promise<Spend>;
  now(spend: Pick<Spend, "id">): Promise<Spend>;
  /** The newest of its present step. */
  transactionOf(spend: Spend): Promise<Transaction>;
  automine(on: boolean): Promise<unknown>;
  mine(): Promise<unknown>;
}

export const laneOf = ({ address }: Wallet): Lane => ({ network: "testnet_chain", address });

export async function openHarbour(): Promise<Harbour> {
  const chain = await startAnvil({ chainId: 84_532 });
  const rpc = startRpcProxy(chain.url);
  const usd = await deployToken(chain);
  const house = await openHouse({ env: { TESTNET_RPC_URL: rpc.url, STABLECOIN_ADDRESS_TESTNET: usd.address } });
  const { kernel } = house;
  const keys = createKeyring(kernel);
  const wallets = createWallets({ ...kernel, keys });
  const ledger = createLedger(kernel);
  const { signer: signerOf } = createLocalPlatform(keys);
  const key = generatePrivateKey();
  const outside = privateKeyToAccount(key);
  await giveEther(chain, outside.address, "10");
  await usd.mint(outside.address, 1000n * USD);

  return {
    chain,
    rpc,
    usd,
    house,
    wallets,
    ledger,
    outside,
    signerOf,
    async wallet() {
      const userId: string = crypto.randomUUID();
      return { ...(await wallets.fromKey(userId, key)), userId };
    },
    worker(options = {}, signer = signerOf) {
      const chainOf = () => kernel.chains.testnet;
      return createLaneWorker({ ...kernel, chainOf, ledger, walletOf: wallets.byId, signerOf: signer }, options);
    },
    reserved(wallet, to, but = {}) {
      const data = encodeFunctionData({ abi: TOKEN, functionName: "transfer", args: [to, USD] });
      const spend: NewSpend = {
        userId: wallet.userId,
        walletId: wallet.id,
        requestKey: null,
        requestHash: "",
        kind: "send",
        ...laneOf(wallet),
        asset: usd.address,
        units: String(USD),
        usd: Number(USD),
        amount: "1",
        recipient: to,
        details: JSON.stringify({ assets: [] }),
        plan: writePlan({ calls: [{ to: usd.address, data }] }),
        ...but,
      };
      return ledger.reserve(spend, { usd: spend.usd, recipient: to.toLowerCase(), assets: [] }, []);
    },
    now: async ({ id }) => (await ledger.find(id)) ?? missing("a spend"),
    transactionOf: async (spend) => (await ledger.transactionsOf(spend))[0] ?? missing("a transaction"),
    automine: (on) => askAnvil(chain, "evm_setAutomine", [on]),
    mine: () => askAnvil(chain, "evm_mine"),
    async [Symbol.asyncDispose]() {
      await house[Symbol.asyncDispose]();
      await rpc.stop();
      await chain[Symbol.asyncDispose]();
    },
  };
}

function missing(what: string): never {
  throw new Error(`There is no such thing as ${what} here.`);
}
