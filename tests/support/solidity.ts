// Compiles the contracts in tests/support/contracts with solc, each file once in a process.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Abi, Hex } from "viem";

/** A compiled contract. */
export interface Contract {
  abi: Abi;
  /** Creation code, without constructor arguments. */
  bytecode: Hex;
}

interface Compiled {
  contracts?: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
  errors?: { severity: string; formattedMessage: string }[];
}

const files = new Map<string, Promise<Record<string, Contract>>>();

/**
 * Compiles one contract of a file. Throws with the compiler's messages if the file has errors.
 *
 * @example const { abi, bytecode } = await compileContract("SmartWallet.sol", "SmartWalletFactory");
 */
export async function compileContract(file: string, name: string): Promise<Contract> {
  let compiled = files.get(file);
  if (!compiled) {
    compiled = compileFile(file);
    files.set(file, compiled);
  }
  const contract = (await compiled)[name];
  if (!contract) throw new Error(`${file} holds no contract ${name}.`);
  return contract;
}

async function compileFile(file: string): Promise<Record<string, Contract>> {
  // Loading solc takes half a second and much memory, so only tests that compile do it.
  const { default: solc } = await import("solc");
  const content = readFileSync(join(import.meta.dir, "contracts", file), "utf8");
  const input = {
    language: "Solidity",
    sources: { [file]: { content } },
    settings: { optimizer: { enabled: true }, outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } },
  };
  const { contracts = {}, errors = [] }: Compiled = JSON.parse(solc.compile(JSON.stringify(input)));
  const fatal = errors.filter(({ severity }) => severity === "error");
  if (fatal.length > 0) throw new Error(fatal.map(({ formattedMessage }) => formattedMessage).join("\n"));
  return Object.fromEntries(
    Object.entries(contracts[file] ?? {}).map(([name, { abi, evm }]) => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}` },
    ]),
  );
}
