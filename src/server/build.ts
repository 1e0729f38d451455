// Compiles the self-contained binary dist/berth, then tests it by running a copy from an empty folder.

import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import type { BunPlugin } from "bun";
import { buildSite } from "../../site/build.ts";
import { buildConsole } from "../../web/build/build.ts";
import { languageEmbedder } from "./language-embedder.ts";
import { latePlaceEmbedder } from "./late-place-embedder.ts";

const root = join(import.meta.dir, "../..");
/** The public key that CONTRIBUTING.md has the project commit; a copy of the source may be without. */
const releaseKey = join(root, "release-key.pem");

/** Returns the libSQL addon's package for this machine. Cross-compiling is not supported, since Bun's own runtime is used. */
function addonPackage(): string {
  const { platform, arch } = process;
  if ((platform !== "linux" && platform !== "darwin") || (arch !== "x64" && arch !== "arm64")) {
    throw new Error(`No libSQL addon for ${platform} ${arch}: linux and darwin on x64 and arm64 have one.`);
  }
  if (platform === "darwin") return `@libsql/darwin-${arch}`;
  return `@libsql/linux-${arch}-${usesGlibc() ? "gnu" : "musl"}`;
}

function usesGlibc(): boolean {
  const report: unknown = process.report.getReport();
  return JSON.stringify(report).includes("glibcVersionRuntime");
}

/**
 * libSQL computes the name of its addon at run time, which a bundler can't follow. This replaces it by a literal name in
 * both entry points of libsql (synchronous, and on threads of the addon).
 */
function createAddonEmbedder(addon: string): BunPlugin & { isEmbedded(): boolean } {
  const replacements = [
    ['require("@neon-rs/load")', `{ load() {}, currentTarget: () => "${addon.slice("@libsql/".length)}" }`],
    ['require("detect-libc")', '{ familySync: () => "", GLIBC: "glibc", MUSL: "musl" }'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of libsql's own source
    ["require(`@libsql/${target}`)", `require("${addon}/index.node")`],
  ] as const;
  let isEmbedded = false;
  return {
    name: "embed-libsql-addon",
    isEmbedded: () => isEmbedded,
    setup(build) {
      build.onLoad({ filter: /node_modules[\\/]libsql[\\/](?:index|promise)\.js$/ }, async ({ path }) => {
        let contents = await Bun.file(path).text();
        for (const [original, literal] of replacements) {
          if (contents.split(original).length !== 2)
            throw new Error(`${path} has changed: it should hold ${original} once.`);
          contents = contents.replace(original, () => literal);
        }
        isEmbedded = true;
        return { contents, loader: "js" };
      });
    },
  };
}

/** Files that run as threads. */
const THREADS = [
  "channels/email/mail/mail-worker.ts",
  "plugins/document-writer/writing-worker.ts",
  "plugins/documents/document-worker.ts",
  "plugins/lifecycle/import-export/import-worker.ts",
  "plugins/sandbox/runner/sandbox-thread.ts",
  "plugins/sandbox/sending/svg-worker.ts",
  "plugins/skill-folders/reading/folder-worker.ts",
];

/** Compiles `entry` to `outfile`. Throws if the addon can't be embedded. */
export async function compile(entry: string, outfile: string): Promise<void> {
  mkdirSync(dirname(outfile), { recursive: true });
  const addon = createAddonEmbedder(addonPackage());
  await Bun.build({
    // The codes of threads are entries of their own, found by their paths in the project.
    entrypoints: [entry, ...THREADS.map((path) => join(root, path))],
    root,
    target: "bun",
    // Bytecode halves the start time. With splitting, dynamic imports are separate chunks; in one chunk, all code would be
    // read at each start (6 MiB of memory and 10 ms more).
    format: "esm",
    splitting: true,
    bytecode: true,
    // Elysia reads the source of its handlers, so identifiers must keep their names.
    minify: { whitespace: true, syntax: true, identifiers: false },
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
    // `berth upgrade` checks the signatures of later versions with it.
    define: {
      BERTH_RELEASE_PUBLIC_KEY: JSON.stringify(existsSync(releaseKey) ? readFileSync(releaseKey, "utf8") : ""),
    },
    plugins: [addon, languageEmbedder, latePlaceEmbedder],
  });
  if (!addon.isEmbedded()) throw new Error("libSQL is not in the bundle, so its addon could not be embedded.");
}

interface Addresses {
  web: string;
  backend: string;
}

/**
 * Runs a copy of the binary in an empty folder, with only ports in its environment: it must report that it is ready,
 * respond on both surfaces, and exit with 0 at SIGTERM; then `berth demo` must succeed.
 * Returns the milliseconds from start to ready.
 */
export async function smokeTest(binary: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "berth-build-"));
  const binaryCopy = join(folder, "berth");
  copyFileSync(binary, binaryCopy);
  const cwd = join(folder, "empty");
  mkdirSync(cwd);
  try {
    const readyMs = await checkServe(binaryCopy, cwd);
    const help = await run(binaryCopy, ["help"], cwd);
    if (/^\s*(berth )?demo\b/m.test(help)) await run(binaryCopy, ["demo"], cwd);
    return readyMs;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const freePorts = { PORT: "0", BACKEND_PORT: "0" };

async function checkServe(binary: string, cwd: string): Promise<number> {
  const started = performance.now();
  const child = startProcess(binary, ["serve", "--ready-fd", "3"], cwd);
  try {
    const line = await withTimeout(
      20_000,
      "the ready line",
      Promise.race([child.readyLine, child.ended.then(exitedEarly)]),
    );
    const readyMs = performance.now() - started;
    for (const [surface, url] of Object.entries(parseAddresses(line))) {
      for (const path of ["/healthz", "/readyz"]) {
        const { status } = await fetch(url + path, { signal: AbortSignal.timeout(5000) });
        if (status !== 200) throw new Error(`${path} on the ${surface} surface answered ${status}.`);
      }
    }
    child.signal("SIGTERM");
    const code = await withTimeout(30_000, "the end after SIGTERM", child.ended);
    if (code !== 0) throw new Error(`After SIGTERM it ended with ${code}.`);
    return readyMs;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`Alone in an empty folder the binary does not serve: ${why}\n${child.output()}`, { cause: error });
  } finally {
    child.signal("SIGKILL");
  }
}

const exitedEarly = (code: number): never => {
  throw new Error(`It ended with ${code} before it was ready.`);
};

function parseAddresses(line: string): Addresses {
  const parsed: unknown = JSON.parse(line);
  if (typeof parsed === "object" && parsed !== null && "web" in parsed && "backend" in parsed) {
    const { web, backend } = parsed;
    if (typeof web === "string" && typeof backend === "string") return { web, backend };
  }
  throw new Error(`The ready line should name both addresses: ${line}`);
}

/** Runs a command of the binary. Throws an Error with its output if its exit code is not 0. */
async function run(binary: string, args: string[], cwd: string): Promise<string> {
  const child = startProcess(binary, args, cwd);
  try {
    const code = await withTimeout(60_000, `the end of ${args.join(" ")}`, child.ended);
    if (code !== 0) throw new Error(`berth ${args.join(" ")} ended with ${code}.\n${child.output()}`);
    return child.output();
  } finally {
    child.signal("SIGKILL");
  }
}

/** Starts a child process with only ports in its environment. `readyLine` is its first line on descriptor 3. */
function startProcess(binary: string, args: string[], cwd: string) {
  const child = spawn(binary, args, { cwd, env: freePorts, stdio: ["ignore", "pipe", "pipe", "pipe"] });
  let output = "";
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout?.on("data", collect);
  child.stderr?.on("data", collect);
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? (signal ? 128 : 1)));
  });
  return {
    ended,
    readyLine: firstLine(child.stdio[3] as Readable),
    output: () => output,
    signal: (name: NodeJS.Signals) => child.kill(name),
  };
}

function firstLine(stream: Readable): Promise<string> {
  let text = "";
  return new Promise((resolve) => {
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    });
  });
}

function withTimeout<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: Timer | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${ms / 1000} s for ${what}.`)), ms);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

async function main(): Promise<void> {
  const outfile = join(root, "dist/berth");
  // The documentation is built by another process.
  await Promise.all([buildAndReportSite(), buildAndReportConsole()]);
  const startedAt = performance.now();
  await compile(join(root, "src/server/main.ts"), outfile);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const megabytes = (statSync(outfile).size / 1e6).toFixed(0);
  console.log(`dist/berth: ${megabytes} MB, compiled in ${seconds} s`);
  console.log(`dist/berth: ready ${Math.round(await smokeTest(outfile))} ms after its start, alone in an empty folder`);
}

/** Builds the console, whose files the binary embeds. With `--fast` they are compressed less. */
async function buildAndReportConsole(): Promise<void> {
  const startedAt = performance.now();
  const files = await buildConsole({ fast: process.argv.includes("--fast") });
  const kilobytes = Math.round(files.reduce((sum, { brotliBytes }) => sum + brotliBytes, 0) / 1000);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`dist/web: ${files.length} files, ${kilobytes} kB compressed, built in ${seconds} s`);
}

/** Builds the documentation, unless its pages are those of the last build. */
async function buildAndReportSite(): Promise<void> {
  const startedAt = performance.now();
  const { files, bytes, isKept } = await buildSite();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const how = isKept ? "unchanged" : `built in ${seconds} s`;
  console.log(`dist/site: ${files} files, ${Math.round(bytes / 1000)} kB compressed, ${how}`);
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    const message = error instanceof Error && !(error instanceof AggregateError) ? error.message : Bun.inspect(error);
    console.error(`The build failed. ${message}`);
    process.exitCode = 1;
  });
}
