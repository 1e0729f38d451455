// Compiles the bare server into a temporary folder, with the options that compile the service.

import { join } from "node:path";
import { temporaryDir } from "../../tests/support/process.ts";

/** Builds the binary; `command(port)` is the command that starts it. */
export async function buildBare(): Promise<{ command(port: number): string[]; dir: string; remove(): void }> {
  const folder = temporaryDir("berth-bench-");
  const outfile = join(folder.path, "bare");
  await Bun.build({
    entrypoints: [join(import.meta.dir, "bare-health.ts")],
    target: "bun",
    format: "cjs",
    bytecode: true,
    minify: { whitespace: true, syntax: true, identifiers: false },
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  });
  return { command: (port) => [outfile, String(port)], dir: folder.path, remove: folder.remove };
}
