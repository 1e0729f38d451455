// Starts anvil, a real Ethereum node from npm, with its own chain. It keeps its state over stop and start.

import { join } from "node:path";
import { type Address, createWalletClient, defineChain, http, publicActions } from "viem";
import { eventually } from "./eventually.ts";
import { type Child, launch, temporaryDir } from "./process.ts";
import type { Contract } from "./solidity.ts";

export interface AnvilOptions {
  /** Default: 8453, the id of `mainnet_chain`. */
  chainId?: number;
}

/** A running node; its address stays the same over `stop()` and `start()`. */
export interface Anvil extends AsyncDisposable {
  readonly url: string;
  /** Reads and writes as a funded account. */
  readonly client: ReturnType<typeof clientOf>;
  /** Deploys a contract and returns its address. */
  deploy(contract: Contract, ...args: unknown[]): Promise<Address>;
  /** Stops the node; the state of the chain is saved for `start()`. */
  stop(): Promise<void>;
  start(options?: AnvilOptions): Promise<void>;
}

/**
 * Starts a node on a free port.
 *
 * @example
 * await using chain = await startAnvil();
 * const factory = await chain.deploy(await compileContract("SmartWallet.sol", "SmartWalletFactory"));
 */
export async function startAnvil({ chainId = 8453 }: AnvilOptions = {}): Promise<Anvil> {
  const binary = require.resolve("@foundry-rs/anvil-linux-amd64/bin/anvil");
  const dir = temporaryDir("anvil-");
  let port = "0";
  let child: Child | undefined;

  const start = async (id: number) => {
    // One state file for each chain id, so that a chain with another id starts empty.
    const state = join(dir.path, `state-${id}.json`);
    const command = [binary, "--host", "127.0.0.1", "--port", port, "--chain-id", String(id), "--state", state];
    const started = launch({ command, env: { HOME: dir.path }, dir: dir.path });
    child = started;
    const listening = () => /Listening on 127\.0\.0\.1:(\d+)/.exec(started.output().stdout)?.[1];
    port = await eventually(listening, { timeoutMs: 15_000, what: "anvil listens" });
  };
  const stop = async () => {
    if (!child?.running) return;
    child.signal("SIGTERM");
    await child.exited;
  };

  await start(chainId);
  const url = `http://127.0.0.1:${port}`;
  const [account] = await createWalletClient({ transport: http(url) }).getAddresses();
  if (!account) throw new Error("anvil has no accounts.");
  const client = clientOf(url, chainId, account);

  return {
    url,
    client,
    async deploy({ abi, bytecode }, ...args) {
      const hash = await client.deployContract({ abi, bytecode, args });
      const { contractAddress } = await client.waitForTransactionReceipt({ hash });
      if (!contractAddress) throw new Error("The contract could not be deployed.");
      return contractAddress;
    },
    stop,
    start: (options = {}) => start(options.chainId ?? chainId),
    async [Symbol.asyncDispose]() {
      await stop();
      dir.remove();
    },
  };
}

function clientOf(url: string, id: number, account: Address) {
  const chain = defineChain({
    id,
    name: "anvil",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  });
  return createWalletClient({ account, chain, transport: http(url), pollingInterval: 20 }).extend(publicActions);
}

/** Calls one of anvil's own RPC methods, such as `evm_mine`. Throws with the RPC error's message. */
export async function callAnvil({ url }: Pick<Anvil, "url">, method: string, params: unknown[] = []): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { result, error } = (await answer.json()) as { result?: unknown; error?: { message: string } };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}
