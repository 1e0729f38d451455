// Compiles the contracts in tests/support/contracts with solc, each file once in a checkout.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import solcPackage from "solc/package.json";
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

const CACHE = resolve(import.meta.dir, "../../node_modules/.cache/contracts");
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

/** Loading solc and compiling takes seconds of a processor, and some twenty test files, each a process, use contracts: they share the results. */
async function compileFile(file: string): Promise<Record<string, Contract>> {
  const content = readFileSync(join(import.meta.dir, "contracts", file), "utf8");
  const input = JSON.stringify({
    language: "Solidity",
    sources: { [file]: { content } },
    settings: { optimizer: { enabled: true }, outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } },
  });
  const kept = join(CACHE, `${file}-${Bun.hash(solcPackage.version + input).toString(36)}.json`);
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, "utf8"));
  const compiled = await runCompiler(file, input);
  mkdirSync(CACHE, { recursive: true });
  // Another process finds the whole file, or none.
  const whole = `${kept}.${process.pid}`;
  writeFileSync(whole, JSON.stringify(compiled));
  renameSync(whole, kept);
  return compiled;
}

async function runCompiler(file: string, input: string): Promise<Record<string, Contract>> {
  const { default: solc } = await import("solc");
  const { contracts = {}, errors = [] }: Compiled = JSON.parse(solc.compile(input));
  const fatal = errors.filter(({ severity }) => severity === "error");
  if (fatal.length > 0) throw new Error(fatal.map(({ formattedMessage }) => formattedMessage).join("\n"));
  return Object.fromEntries(
    Object.entries(contracts[file] ?? {}).map(([name, { abi, evm }]) => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}` },
    ]),
  );
}
