// A program made of a copy of the source, which a test changes, as another version of Berth.
import { chmodSync, cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { bun } from "./process.ts";

const root = resolve(import.meta.dir, "../..");
const PARTS = ["src", "plugins", "channels", "migrations", "web", "package.json", "tsconfig.json"];

/** Copies the source to `folder`. Returns the path of a program that runs the copy as it is when the program starts. */
export function copySource(folder: string): string {
  for (const part of PARTS) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const program = join(folder, "berth");
  writeFileSync(program, `#!/bin/sh\nexec "${bun}" "${join(folder, "src/server/main.ts")}" "$@"\n`);
  chmodSync(program, 0o755);
  return program;
}
