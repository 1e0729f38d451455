// Runs programs of the documentation in this process, with the packages of this repository.

import { join } from "node:path";

/** Writes a program beside the packages, imports it, and removes it when `use` has ended. */
export async function withProgram<Exports>(
  code: string,
  use: (exports: Exports) => Promise<void> | void,
): Promise<void> {
  const file = join(import.meta.dir, `../../node_modules/.cache/program-${crypto.randomUUID()}.ts`);
  await Bun.write(file, code);
  try {
    await use((await import(file)) as Exports);
  } finally {
    await Bun.file(file).delete();
  }
}

/** Replaces what stands in a program for something of the reader's. Throws if it is not there. */
export function changed(code: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`There is no ${from} in\n${code}`);
    return text.replaceAll(from, to);
  }, code);
}
