// Reads transfers of the stablecoin to the operator's address from the chain: from the logs of blocks, or from one transaction.

import type { Address, Hex } from "viem";
import { type Chain, readChain } from "../../chains/index.ts";
import { readDecimals } from "../../wallet/index.ts";

/** A transfer as the chain has it now; its block may still be replaced. */
export interface Transfer {
  /** `chain:84532:0x…`, with `:1` and so on for further ones of the transaction. */
  id: string;
  hash: Hex;
  /** Lower case. */
  payer: string;
  units: bigint;
  block: number;
}

/** A mined transaction, with the authorizations (EIP-3009) of the stablecoin that it used. */
export interface TransactionFacts {
  isSuccess: boolean;
  block: number;
  transfers: Transfer[];
  /** Authorizers are in lower case. */
  authorizations: { payer: string; nonce: Hex }[];
}

/** How the token signs (EIP-712), and its smallest unit. */
export interface TokenFacts {
  name: string;
  version: string;
  decimals: number;
}

const indexedAddress = <const Name extends string>(name: Name) => ({ name, type: "address", indexed: true }) as const;
const named = <const Name extends string>(name: Name) =>
  ({ type: "function", stateMutability: "view", name, inputs: [], outputs: [{ name: "", type: "string" }] }) as const;

const ABI = [
  named("name"),
  named("version"),
  {
    type: "event",
    name: "Transfer",
    inputs: [indexedAddress("from"), indexedAddress("to"), { name: "value", type: "uint256" }],
  },
  {
    type: "event",
    name: "AuthorizationUsed",
    inputs: [indexedAddress("authorizer"), { name: "nonce", type: "bytes32", indexed: true }],
  },
] as const;

interface TransferLog {
  address: string;
  transactionHash: Hex;
  blockNumber: bigint;
  logIndex: number;
  args: { from: Address; to: Address; value: bigint };
}

export type TransferReader = ReturnType<typeof createTransferReader>;

/** @param token and `payTo` in any case */
export function createTransferReader(chain: Chain, { token, payTo }: { token: Address; payTo: Address }) {
  const isToken = ({ address }: { address: string }) => address.toLowerCase() === token.toLowerCase();

  /** Numbers the transfers of a transaction by their order in it, since a block's numbers change with the block. */
  function toTransfers(logs: readonly TransferLog[]): Transfer[] {
    const counts = new Map<string, number>();
    return logs
      .filter(isToken)
      .toSorted((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex)
      .flatMap(({ transactionHash: hash, blockNumber, args }) => {
        const payer = args.from.toLowerCase();
        // What the address sends to itself is no payment, and costs nothing.
        if (args.to.toLowerCase() !== payTo.toLowerCase() || payer === payTo.toLowerCase()) return [];
        const count = counts.get(hash) ?? 0;
        counts.set(hash, count + 1);
        const id = `chain:${chain.id}:${hash.toLowerCase()}${count === 0 ? "" : `:${count}`}`;
        return [{ id, hash, payer, units: args.value, block: Number(blockNumber) }];
      });
  }

  return {
    head: async (): Promise<number> => Number(await readChain(chain, (client) => client.getBlockNumber())),

    token: (): Promise<TokenFacts> =>
      readChain(chain, async (client) => {
        const read = (functionName: "name" | "version") =>
          client.readContract({ address: token, abi: ABI, functionName });
        const [name, version, decimals] = await Promise.all([
          read("name"),
          read("version").catch(() => ""),
          readDecimals(client, token),
        ]);
        return { name, version, decimals };
      }),

    /** Both blocks included. */
    async inBlocks(from: number, to: number): Promise<Transfer[]> {
      const logs = await readChain(chain, (client) =>
        client.getContractEvents({
          address: token,
          abi: ABI,
          eventName: "Transfer",
          args: { to: payTo },
          fromBlock: BigInt(from),
          toBlock: BigInt(to),
          strict: true,
        }),
      );
      return toTransfers(logs);
    },

    /** Undefined while no block has it. */
    async ofTransaction(hash: Hex): Promise<TransactionFacts | undefined> {
      const { parseEventLogs, TransactionReceiptNotFoundError } = await import("viem");
      const receipt = await readChain(chain, (client) =>
        client.getTransactionReceipt({ hash }).catch((error: unknown) => {
          if (error instanceof TransactionReceiptNotFoundError) return undefined;
          throw error;
        }),
      );
      if (!receipt) return undefined;
      const logs = receipt.logs.filter(isToken);
      const used = parseEventLogs({ abi: ABI, eventName: "AuthorizationUsed", logs });
      return {
        isSuccess: receipt.status === "success",
        block: Number(receipt.blockNumber),
        transfers: toTransfers(parseEventLogs({ abi: ABI, eventName: "Transfer", logs })),
        authorizations: used.map(({ args }) => ({ payer: args.authorizer.toLowerCase(), nonce: args.nonce })),
      };
    },
  };
}
