// Compiles the contracts of tests/support/contracts with the real compiler, each file once in a run.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Abi, Hex } from "viem";

/** What a test deploys. */
export interface Contract {
  abi: Abi;
  /** Creation code; constructor arguments go behind it. */
  bytecode: Hex;
}

interface Compiled {
  contracts?: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
  errors?: { severity: string; formattedMessage: string }[];
}

const files = new Map<string, Promise<Record<string, Contract>>>();

/**
 * One contract of a file. Throws with what the compiler says when the file has errors.
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
  // Half a second and a good deal of memory: only for those who compile.
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
