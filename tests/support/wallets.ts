// Wallets that sign in with Ethereum (EIP-4361): an ordinary key, a contract wallet, and one that is not deployed yet.

import { type Address, encodeFunctionData, type Hex, hashMessage, serializeErc6492Signature } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import type { Anvil } from "./anvil.ts";
import type { Berth } from "./berth.ts";
import type { Client } from "./client.ts";
import { compileContract } from "./solidity.ts";

export interface Wallet {
  /** With the EIP-55 checksum. */
  readonly address: Address;
  sign(message: string): Promise<Hex>;
}

export interface SmartWallets {
  /** Deploys a contract wallet (ERC-1271). */
  deployed(): Promise<Wallet>;
  /** Makes a wallet that is not deployed, whose signatures contain its deployment call (ERC-6492). */
  predeployed(): Promise<Wallet>;
}

/** The fields of a message, as written there. */
export interface SiweFields {
  domain?: string;
  scheme?: string;
  address?: string;
  statement?: string;
  uri?: string;
  version?: string | number;
  chainId?: string | number;
  nonce?: string;
  issuedAt?: string;
  expirationTime?: string;
  notBefore?: string;
}

/** Makes a wallet with an ordinary key. */
export function createWallet(): Wallet {
  const { address, signMessage } = privateKeyToAccount(generatePrivateKey());
  return { address, sign: (message) => signMessage({ message }) };
}

/** A nonce that the client made, not Berth. */
export const foreignNonce = () => crypto.randomUUID().replaceAll("-", "");

/**
 * A valid message for the service at `baseUrl`; `fields` override its parts.
 *
 * @example siweMessage("https://berth.example", wallet, { chainId: 1 })
 */
export function siweMessage(baseUrl: string, wallet: Pick<Wallet, "address">, fields: SiweFields = {}): string {
  const { host, origin } = new URL(baseUrl);
  const { domain = host, scheme, address = wallet.address, statement = "Sign in to Berth." } = fields;
  const { uri = origin, version = 1, chainId = 8453, nonce = foreignNonce() } = fields;
  const { issuedAt = new Date().toISOString(), expirationTime, notBefore } = fields;
  return [
    `${scheme === undefined ? "" : `${scheme}://`}${domain} wants you to sign in with your Ethereum account:`,
    `${address}\n\n${statement}\n`,
    `URI: ${uri}`,
    `Version: ${version}`,
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    ...(expirationTime === undefined ? [] : [`Expiration Time: ${expirationTime}`]),
    ...(notBefore === undefined ? [] : [`Not Before: ${notBefore}`]),
  ].join("\n");
}

/** Links a wallet to the client's account, as the console does. */
export async function linkWallet(
  { web }: Pick<Berth, "web">,
  client: Client,
  { address, signMessage }: Pick<PrivateKeyAccount, "address" | "signMessage">,
): Promise<void> {
  const message = siweMessage(web.replace("127.0.0.1", "localhost"), { address });
  const body = { message, signature: await signMessage({ message }), currentPassword: client.account.password };
  const { status, text } = await client.post("/api/settings/sign-ins/wallet", body);
  if (status !== 201) throw new Error(`link the wallet: ${status} ${text}`);
}

/** Deploys a factory of contract wallets, each with its own key. */
export async function createSmartWallets(chain: Anvil): Promise<SmartWallets> {
  const contract = await compileContract("SmartWallet.sol", "SmartWalletFactory");
  const { abi } = contract;
  const factory = await chain.deploy(contract);

  async function make() {
    const owner = privateKeyToAccount(generatePrivateKey());
    const args = [owner.address, generatePrivateKey()];
    const address = await chain.client.readContract({ address: factory, abi, functionName: "addressOf", args });
    const sign = (message: string) => owner.sign({ hash: hashMessage(message) });
    return { address: address as Address, args, sign };
  }

  return {
    async deployed() {
      const { args, ...wallet } = await make();
      const hash = await chain.client.writeContract({ address: factory, abi, functionName: "deploy", args });
      await chain.client.waitForTransactionReceipt({ hash });
      return wallet;
    },
    async predeployed() {
      const { args, address, sign } = await make();
      const data = encodeFunctionData({ abi, functionName: "deploy", args });
      return {
        address,
        sign: async (message) => serializeErc6492Signature({ address: factory, data, signature: await sign(message) }),
      };
    },
  };
}
