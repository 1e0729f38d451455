// Gets nats-server for the tests of a cluster. Debian 12's is too old, so it comes from Debian's unstable suite; nothing of the system changes.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, run } from "./bun.mjs";

const OLDEST = [2, 11];
const cache = join(root, "node_modules/.cache/nats");

/** Whether a nats-server that is new enough is on PATH or in the packages' cache. */
export function hasNats() {
  const folders = [cache, ...(process.env.PATH ?? "").split(":")];
  return folders.map((folder) => join(folder, "nats-server")).some((path) => existsSync(path) && isNewEnough(path));
}

function isNewEnough(path) {
  const found = /v(\d+)\.(\d+)\./.exec(spawnSync(path, ["--version"], { encoding: "utf8" }).stdout ?? "");
  const [major, minor] = [Number(found?.[1]), Number(found?.[2])];
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** Downloads it with apt, which checks the signature, into the packages' cache. Returns why it isn't possible, or undefined. */
export async function installNats(timeoutMs) {
  const mirror = debianMirror();
  if (mirror === undefined) return "no Debian mirror is configured in /etc/apt";
  const folder = mkdtempSync(join(tmpdir(), "berth-nats-"));
  try {
    for (const name of ["lists/partial", "cache/archives/partial", "out"])
      mkdirSync(join(folder, name), { recursive: true });
    const list = join(folder, "unstable.list");
    writeFileSync(list, `deb ${mirror.options}${mirror.uri} unstable main\n`);
    const options = [
      "-qq",
      `-oDir::Etc::sourcelist=${list}`,
      "-oDir::Etc::sourceparts=-",
      `-oDir::State::lists=${join(folder, "lists")}`,
      `-oDir::Cache=${join(folder, "cache")}`,
      // The temporary folder is root's own.
      "-oAPT::Sandbox::User=root",
    ];
    const inFolder = { cwd: join(folder, "out"), timeoutMs };
    if ((await run("apt-get", [...options, "update"], inFolder)) !== 0) return "apt can't read the unstable suite";
    if ((await run("apt-get", [...options, "download", "nats-server"], inFolder)) !== 0) return "apt can't download it";
    const deb = readdirSync(inFolder.cwd).find((name) => name.endsWith(".deb"));
    if (deb === undefined) return "apt downloaded nothing";
    const files = join(folder, "files");
    if ((await run("dpkg-deb", ["-x", join(inFolder.cwd, deb), files], { timeoutMs })) !== 0)
      return "the package is damaged";
    const program = ["usr/sbin", "usr/bin"]
      .map((path) => join(files, path, "nats-server"))
      .find((path) => existsSync(path));
    if (program === undefined || !isNewEnough(program)) return "the package has no program that runs here";
    mkdirSync(cache, { recursive: true });
    copyFileSync(program, join(cache, "nats-server"));
    chmodSync(join(cache, "nats-server"), 0o755);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first mirror of packages that this machine has configured, with its key. Mirrors of security fixes have no unstable suite. */
function debianMirror() {
  const parts = "/etc/apt/sources.list.d";
  const names = existsSync(parts) ? readdirSync(parts).filter((name) => name.endsWith(".sources")) : [];
  for (const name of names) {
    for (const stanza of readFileSync(join(parts, name), "utf8").split(/\n\s*\n/)) {
      const field = (key) => new RegExp(`^${key}:[ \\t]*(\\S+)`, "im").exec(stanza)?.[1];
      const [uri, key] = [field("URIs"), field("Signed-By")];
      if (uri && isOfPackages(uri)) return { uri, options: key?.startsWith("/") ? `[signed-by=${key}] ` : "" };
    }
  }
  const list = existsSync("/etc/apt/sources.list") ? readFileSync("/etc/apt/sources.list", "utf8") : "";
  for (const [, options, uri] of list.matchAll(/^deb\s+(\[[^\]]*\]\s+)?(\S+)/gm))
    if (isOfPackages(uri)) return { uri, options: options ?? "" };
  return undefined;
}

const isOfPackages = (uri) => /\/debian\/?$/.test(uri);
