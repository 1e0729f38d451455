// Sends authorized transfers (EIP-3009) to the chain with the operator's settling wallet, which pays their gas.

import type { FacilitatorEvmSigner } from "@x402/evm";
import type { Abi, Hex, PublicClient } from "viem";
import { AppError } from "../../../src/kernel/errors.ts";
import { createKeyedQueue } from "../../../src/kernel/util/keyed-queue.ts";
import type { Chain } from "../../chains/index.ts";

/** How long a request waits for a block. */
const RECEIPT_MS = 8_000;
const RECEIPT_POLL_MS = 250;
const MAX_GAS = 500_000n;

export interface Settler {
  signer: FacilitatorEvmSigner;
  /** Throws what the chain's silence threw, which the protocol's library takes for a refusal. */
  throwFailure(): void;
}

export type CreateSettler = ReturnType<typeof createSettlers>;

/** Each payment gets a settler of its own; their transactions are signed one after the other. */
export function createSettlers(chain: Chain, privateKey: string) {
  const inOrder = createKeyedQueue();

  async function sign(
    client: PublicClient,
    call: Pick<Parameters<FacilitatorEvmSigner["writeContract"]>[0], "address" | "abi" | "functionName" | "args">,
  ): Promise<{ hash: Hex; raw: Hex }> {
    const { encodeFunctionData, keccak256 } = await import("viem");
    const { privateKeyToAccount } = await import("viem/accounts");
    const account = privateKeyToAccount(privateKey as Hex);
    const { address: to } = call;
    const data = encodeFunctionData({ abi: call.abi as Abi, functionName: call.functionName, args: call.args });
    const [gas, fees, nonce] = await Promise.all([
      client.estimateGas({ account: account.address, to, data }),
      client.estimateFeesPerGas(),
      client.getTransactionCount({ address: account.address, blockTag: "pending" }),
    ]);
    if (gas > MAX_GAS) throw new Error(`A payment would need ${gas} gas.`);
    const raw = await account.signTransaction({
      ...{ type: "eip1559", chainId: chain.id, to, data, nonce, gas: (gas * 6n) / 5n },
      // A transaction that is too cheap would hold up all later ones.
      ...{ maxFeePerGas: fees.maxFeePerGas * 2n, maxPriorityFeePerGas: fees.maxPriorityFeePerGas },
    });
    return { hash: keccak256(raw), raw };
  }

  /** @param onSigned runs before a node gets the transaction */
  return async (onSigned: (hash: Hex) => Promise<void>): Promise<Settler> => {
    const { privateKeyToAddress } = await import("viem/accounts");
    const address = privateKeyToAddress(privateKey as Hex);
    let failure: { error: unknown } | undefined;
    const ask = async <T>(read: (client: PublicClient) => Promise<T>): Promise<T> => {
      try {
        return await chain.withClient(read);
      } catch (error) {
        if (error instanceof AppError) failure ??= { error };
        throw error;
      }
    };

    const signer: FacilitatorEvmSigner = {
      getAddresses: () => [address],
      readContract: (args) => ask((client) => client.readContract(args as Parameters<typeof client.readContract>[0])),
      verifyTypedData: (args) =>
        ask((client) => client.verifyTypedData(args as Parameters<typeof client.verifyTypedData>[0])),
      getCode: (args) => ask((client) => client.getCode(args)),
      writeContract: (call) =>
        inOrder("", async () => {
          const { hash, raw } = await ask((client) => sign(client, call));
          await onSigned(hash);
          await ask((client) => client.request({ method: "eth_sendRawTransaction", params: [raw] }));
          return hash;
        }),
      sendTransaction: () => Promise.reject(new Error("Wallets that are not deployed can't pay here.")),
      async waitForTransactionReceipt({ hash }) {
        const { TransactionReceiptNotFoundError } = await import("viem");
        for (const end = Date.now() + RECEIPT_MS; ; await Bun.sleep(RECEIPT_POLL_MS)) {
          try {
            const { status, logs } = await chain.withClient((client) => client.getTransactionReceipt({ hash }));
            return { status, logs };
          } catch (error) {
            if (!(error instanceof TransactionReceiptNotFoundError) || Date.now() > end) throw error;
          }
        }
      },
    };
    return {
      signer,
      throwFailure() {
        if (failure) throw failure.error;
      },
    };
  };
}
