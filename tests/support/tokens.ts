// Deploys ERC-20 tokens that anyone may mint to a test chain, and funds addresses with tokens and ether.
import { type Address, encodeFunctionData, erc20Abi, getAddress, type Hex, parseEther } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAddress } from "viem/accounts";
import { type Anvil, callAnvil } from "./anvil.ts";
import { compileContract } from "./solidity.ts";

export interface Token {
  readonly address: Address;
  readonly decimals: number;
  /** In smallest units. */
  balanceOf(owner: string): Promise<bigint>;
  mint(to: string, units: bigint): Promise<void>;
}

export async function deployToken(chain: Anvil, decimals = 6, name = "USD Coin"): Promise<Token> {
  const contract = await compileContract("Tokens.sol", "Stablecoin");
  return tokenOf(chain, getAddress(await chain.deploy(contract, name, decimals)), decimals);
}

/** Puts the code of a deployed token at a fixed address, with empty storage: the address that a real chain uses. */
export async function tokenAt(chain: Anvil, address: Address, { address: like, decimals }: Token): Promise<Token> {
  await callAnvil(chain, "anvil_setCode", [address, await chain.client.getCode({ address: like })]);
  return tokenOf(chain, address, decimals);
}

async function tokenOf(chain: Anvil, address: Address, decimals: number): Promise<Token> {
  const { abi } = await compileContract("Tokens.sol", "Stablecoin");
  return {
    address,
    decimals,
    async balanceOf(owner) {
      const args = [getAddress(owner)];
      return (await chain.client.readContract({ address, abi, functionName: "balanceOf", args })) as bigint;
    },
    async mint(to, units) {
      const hash = await chain.client.writeContract({
        address,
        abi,
        functionName: "mint",
        args: [getAddress(to), units],
      });
      await chain.client.waitForTransactionReceipt({ hash });
    },
  };
}

/** Sends ether (default: 1), for fees. */
export async function giveEther(chain: Anvil, to: string, ether = "1"): Promise<void> {
  const hash = await chain.client.sendTransaction({ to: getAddress(to), value: parseEther(ether) });
  await chain.client.waitForTransactionReceipt({ hash });
}

/** Transfers tokens from a wallet that has ether for the fee; returns the transaction. */
export async function transferToken(
  { client }: Anvil,
  { address }: Pick<Token, "address">,
  { from, to, units }: { from: PrivateKeyAccount; to: Address; units: bigint },
): Promise<Hex> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, units] });
  // A gas limit of its own, so that a transfer which fails is mined, too.
  const hash = await client.sendTransaction({ account: from, to: address, data, gas: 100_000n });
  await client.waitForTransactionReceipt({ hash });
  return hash;
}

/** A new, unused address. */
export const freshAddress = (): Address => privateKeyToAddress(generatePrivateKey());
