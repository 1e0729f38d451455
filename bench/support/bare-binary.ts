// Compiles the bare server the way the service is compiled, into a folder that is thrown away.

import { join } from "node:path";
import { temporaryDir } from "../../tests/support/process.ts";

/** `command(port)` starts it. */
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
