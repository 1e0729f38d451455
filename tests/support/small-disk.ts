// A disk of a few MiB in memory, which a test can fill. Needs root, who mounts it.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "./process.ts";

export interface SmallDisk extends AsyncDisposable {
  /** Leaves no byte free. */
  fill(): Promise<void>;
  /** Takes back what `fill` has taken. */
  free(): void;
}

/** Mounts it at this path, which is made. */
export async function createSmallDisk(path: string, mib: number): Promise<SmallDisk> {
  mkdirSync(path, { recursive: true });
  await mustRun(["/bin/mount", "-t", "tmpfs", "-o", `size=${mib}m`, "berth-test", path]);
  const ballast = join(path, "ballast");
  return {
    async fill() {
      const { stderr } = await run(["/bin/dd", "if=/dev/zero", `of=${ballast}`, "bs=64k"], { LC_ALL: "C" }, "/");
      if (!stderr.includes("No space left")) throw new Error(`The disk is not full: ${stderr}`);
    },
    free: () => rmSync(ballast, { force: true }),
    [Symbol.asyncDispose]: () => mustRun(["/bin/umount", "--lazy", path]),
  };
}

async function mustRun(command: string[]): Promise<void> {
  const { exitCode, stderr } = await run(command, {}, "/");
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}
