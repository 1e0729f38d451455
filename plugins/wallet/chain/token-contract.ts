// The ABI of tokens (ERC-20, EIP-3009), and reads of a wallet's balances.
import type { Address } from "viem";
import type { Chain } from "../../chains/index.ts";
import { readChain } from "../../chains/index.ts";
import { formatDecimalUnits } from "../amounts.ts";

const view = { type: "function", stateMutability: "view" } as const;
const call = { type: "function", stateMutability: "nonpayable" } as const;
const unnamed = <Type extends string>(type: Type) => ({ name: "", type }) as const;

/** The used part of ERC-20, and the state and event of EIP-3009 that show whether an authorization was used. */
export const TOKEN_ABI = [
  { ...view, name: "decimals", inputs: [], outputs: [unnamed("uint8")] },
  { ...view, name: "balanceOf", inputs: [unnamed("address")], outputs: [unnamed("uint256")] },
  { ...view, name: "authorizationState", inputs: [unnamed("address"), unnamed("bytes32")], outputs: [unnamed("bool")] },
  { ...call, name: "transfer", inputs: [unnamed("address"), unnamed("uint256")], outputs: [unnamed("bool")] },
  { ...call, name: "approve", inputs: [unnamed("address"), unnamed("uint256")], outputs: [unnamed("bool")] },
  {
    type: "event",
    name: "AuthorizationUsed",
    inputs: [
      { name: "authorizer", type: "address", indexed: true },
      { name: "nonce", type: "bytes32", indexed: true },
    ],
  },
] as const;

/** Whether the node reported that the contract reverted the call (JSON-RPC error code 3). */
export async function isReverted(error: unknown): Promise<boolean> {
  const { BaseError, RpcRequestError } = await import("viem");
  const rpcError = error instanceof BaseError ? error.walk((inner) => inner instanceof RpcRequestError) : undefined;
  return rpcError instanceof RpcRequestError && rpcError.code === 3;
}

/** 2^256 has 78 digits. */
const MAX_DECIMALS = 77;

/** The part of viem's client that `readDecimals` needs. */
interface DecimalsReader {
  readContract(call: { address: Address; abi: typeof TOKEN_ABI; functionName: "decimals" }): Promise<number>;
}

/**
 * Reads a token's decimals. Anybody can write a contract that answers millions, and padding an amount to that length
 * would block the event loop. Throws for such a contract, which `readChain` turns into 500 `CHAIN_UNAVAILABLE`.
 */
export async function readDecimals(client: DecimalsReader, address: Address): Promise<number> {
  const decimals = await client.readContract({ address, abi: TOKEN_ABI, functionName: "decimals" });
  if (Number.isInteger(decimals) && decimals >= 0 && decimals <= MAX_DECIMALS) return decimals;
  throw new Error(`A token names ${decimals} decimals.`);
}

export interface WalletBalances {
  decimals: number;
  balance: bigint;
  /** Wei, for fees. */
  ether: bigint;
}

/** Reads a wallet's balance of a token, the token's decimals, and the wallet's ether. */
export const readWalletBalances = (chain: Chain, token: Address, owner: Address): Promise<WalletBalances> =>
  readChain(chain, async (client) => {
    const read = { address: token, abi: TOKEN_ABI } as const;
    const [decimals, balance, ether] = await Promise.all([
      readDecimals(client, token),
      client.readContract({ ...read, functionName: "balanceOf", args: [owner] }),
      client.getBalance({ address: owner }),
    ]);
    return { decimals, balance, ether };
  });

/** A wallet's balances as decimal texts: ether, and the stablecoin if the token can be read on this chain. */
export async function readFormattedBalances(chain: Chain, token: Address, owner: Address) {
  const read = { address: token, abi: TOKEN_ABI } as const;
  const [ether, decimals, units] = await readChain(chain, (client) => {
    // An unreachable chain is an error nevertheless: `Chain.withClient` throws then, even if a read was caught here.
    const none = () => undefined;
    return Promise.all([
      client.getBalance({ address: owner }),
      readDecimals(client, token).catch(none),
      client.readContract({ ...read, functionName: "balanceOf", args: [owner] }).catch(none),
    ]);
  });
  const stablecoin = decimals !== undefined &&
    units !== undefined && { stablecoin: formatDecimalUnits(units, decimals) };
  return { balance: formatDecimalUnits(ether, 18), ...(stablecoin || {}) };
}
