// Builds the binary of another commit, to measure it beside the present one. Each commit is built once with each version of Bun.

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bun } from "../../tests/support/process.ts";
import { root } from "../support/service.ts";

const CACHE = join(root, "node_modules/.cache/bench");

export interface OtherBuild {
  /** Path of the binary. */
  binary: string;
  /** The commit's short hash and subject. */
  title: string;
}

/** Builds `ref`, a commit, branch or tag of this repository. Throws with the output of the step that failed. */
export async function buildOther(ref: string): Promise<OtherBuild> {
  const commit = (
    await run(["git", "rev-parse", "--verify", "--quiet", `${ref}^{commit}`], root, `There is no ${ref}`)
  ).trim();
  const title = (await run(["git", "log", "-1", "--format=%h %s", commit], root, "git log failed")).trim();
  const kept = join(CACHE, `${commit.slice(0, 12)}-bun-${Bun.version}`);
  const binary = join(kept, "berth");
  if (existsSync(binary)) return { binary, title };
  console.log(`Building ${title} …`);
  mkdirSync(kept, { recursive: true });
  const tree = mkdtempSync(join(tmpdir(), "berth-compare-"));
  try {
    await run(["git", "worktree", "add", "--detach", tree, commit], root, "git worktree failed");
    await addPackages(tree);
    await run([bun, join(tree, "src/server/build.ts"), "--fast"], tree, "The build failed");
    // Renamed when it is whole, so that an interrupted copy is never measured.
    const copy = `${binary}-${process.pid}`;
    cpSync(join(tree, "dist/berth"), copy);
    renameSync(copy, binary);
  } finally {
    rmSync(tree, { recursive: true, force: true });
    await run(["git", "worktree", "prune"], root, "git worktree failed");
  }
  return { binary, title };
}

/** Uses the packages of the present tree where both trees lock the same ones. */
async function addPackages(tree: string): Promise<void> {
  const lock = (dir: string) => readFileSync(join(dir, "bun.lock"), "utf8");
  if (lock(tree) === lock(root)) symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  else await run([bun, "install", "--frozen-lockfile"], tree, "bun install failed");
}

async function run(command: string[], cwd: string, failure: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${failure}. ${(err || out).trim().slice(-2_000)}`);
  return out;
}
