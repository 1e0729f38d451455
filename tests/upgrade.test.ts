// Upgrades of the running binary by `berth upgrade`: signed, tried, put in place, handed over to, and back.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { appendFileSync, copyFileSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { publicKeyOf, signFile } from "../scripts/release-signature.mjs";
import { testedBlocks } from "../site/tested-blocks.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { seeded } from "./support/eventually.ts";
import { launch, run, temporaryDir } from "./support/process.ts";

const built = resolve(import.meta.dir, "../dist/berth");
const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
/** Kills during upgrades: few, unless BERTH_KILLS wants more. */
const KILLS = Number(process.env.BERTH_KILLS ?? 3);

const dir = temporaryDir();
const at = (name: string) => join(dir.path, name);
const program = at("berth");
/** The names are those of the guide. */
const release = at("berth-1.0.0-linux-x64");
const [upgradeBlock, backBlock] = testedBlocks(import.meta.path, "docs/upgrade.md", 2);
const shared = { RATE_LIMITS: "off", BUN_JSC_useDFGJIT: "0", PORT: "0", BACKEND_PORT: "0", RTMP_PORT: "0" };
let berth: Berth;

/** A new file each time, since an upgrade is known by its file. */
function publish(path = release): void {
  rmSync(path, { force: true });
  copyFileSync(built, path);
  writeFileSync(`${path}.sha256`, `${digest}  ${path.split("/").at(-1)}\n`);
  signFile(`${path}.sha256`, pem);
}
let digest = "";
const start = (env: Record<string, string> = {}) =>
  startBerth({ binary: program, dir: dir.path, env: { ...shared, ...env }, isAsShipped: true });

beforeAll(async () => {
  digest = new Bun.CryptoHasher("sha256").update(await Bun.file(built).bytes()).digest("hex");
  copyFileSync(built, program);
  writeFileSync(at("release-key.pem"), publicKeyOf(pem));
  writeFileSync(
    at("plugin.js"),
    `import { existsSync, rmSync } from "node:fs";
    export default ({ plugin }) => plugin("once", () => ({ service: {}, start() {
      if (!existsSync("fail-once")) return;
      rmSync("fail-once");
      throw new Error("it fails once");
    } }));`,
  );
  berth = await start({ PLUGINS: "./plugin.js" });
});
afterAll(async () => {
  await berth[Symbol.asyncDispose]();
  dir.remove();
});

/** A block of the guide, as a reader runs it. */
const runBlock = ({ code }: { code: string }) => run(["/bin/sh", "-ec", code], berth.env, dir.path, 60_000);
const upgrade = (...args: string[]) => berth.command("upgrade", ...args);
const inode = () => statSync(program).ino;

describe("a file", () => {
  test("that is not signed, signed by another, or changed is refused, and nothing changes", async () => {
    publish();
    const before = inode();
    const refusal = async (...args: string[]) => {
      const { exitCode, stderr } = await upgrade(release, ...args);
      expect(exitCode).toBe(1);
      return stderr;
    };
    expect(await refusal()).toMatch(/--key FILE, or --unsigned|not one of this key/);
    const other = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    writeFileSync(at("other.pem"), publicKeyOf(other));
    expect(await refusal("--key", "other.pem")).toContain("is not one of this key");
    appendFileSync(release, "x");
    expect(await refusal("--key", "release-key.pem")).toContain("another checksum");
    rmSync(`${release}.sha256.sig`);
    expect(await refusal("--key", "release-key.pem")).toContain("is missing beside the program");
    writeFileSync(release, "#!/bin/sh\necho no\n");
    rmSync(`${release}.sha256`);
    expect(await refusal("--unsigned")).toContain("can't tell its version");
    expect(inode()).toBe(before);
    expect(readdirSync(dir.path).filter((name) => /\.(new|previous)$/.test(name))).toEqual([]);
  });
});

describe("a signed file", () => {
  test("is put in place, and the running service goes on with it in its process", async () => {
    publish();
    const before = inode();
    const pid = berth.pid;
    const { exitCode, stdout, stderr } = await runBlock(upgradeBlock);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(new RegExp(`runs version [\\d.]+ as process ${pid}; requests waited for \\d+ ms`));
    console.info(stdout.trim().split("\n").at(-1));
    expect(inode()).not.toBe(before);
    expect(statSync(`${program}.previous`).ino).toBe(before);
    expect((await createClient(berth).get("/readyz")).status).toBe(200);
  });

  test("that fails at its start is taken back by itself, and the command says so", async () => {
    publish();
    const before = inode();
    writeFileSync(at("fail-once"), "");
    const { exitCode, stderr } = await upgrade(release, "--key", "release-key.pem");
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("it fails once")]);
    expect(stderr).toContain("did not start");
    expect(inode()).toBe(before);
    expect((await createClient(berth).get("/readyz")).status).toBe(200);
  });

  test("can be taken back by hand", async () => {
    publish();
    const before = inode();
    expect((await upgrade(release, "--key", "release-key.pem")).exitCode).toBe(0);
    const { exitCode, stderr } = await runBlock(backBlock);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(inode()).toBe(before);
    expect((await createClient(berth).get("/readyz")).status).toBe(200);
  });
});

test("going back with the database puts the copy in place, says what goes, and keeps the present one beside it", async () => {
  await berth.stop();
  const file = join(dir.path, "data/berth.db");
  copyFileSync(file, `${file}.before-0.1.0-0001_kernel`);
  await berth.restart();
  publish();
  expect((await upgrade(release, "--key", "release-key.pem")).exitCode).toBe(0);
  await createClient(berth).signUp();
  const { exitCode, stdout, stderr } = await upgrade("--back", "--with-database");
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("among it 1 users, 0 agents, 0 messages");
  expect((await createClient(berth).get("/readyz")).status).toBe(200);
  const accounts = (path: string) => {
    using database = new Database(path);
    return database.query<{ n: number }, []>("SELECT count(*) AS n FROM users").get()?.n;
  };
  expect([accounts(file), accounts(`${file}.failed`)]).toEqual([0, 1]);
});

test(
  `after ${KILLS} kills of the service and the command during upgrades, what is in place starts`,
  async () => {
    const random = seeded(process.env.CRASH_SEED === undefined ? undefined : Number(process.env.CRASH_SEED));
    for (let kill = 0; kill < KILLS; kill++) {
      publish();
      const command = launch({
        command: [program, "upgrade", release, "--key", "release-key.pem"],
        env: berth.env,
        dir: dir.path,
      });
      const victim = random.integer(0, 1) === 0 ? "service" : "command";
      await Promise.race([Bun.sleep(random.integer(100, 2_500)), command.exited]);
      if (victim === "service") await berth.kill();
      command.signal("SIGKILL");
      await command.exited;
      await berth.kill();
      await berth.restart();
      expect([kill, (await createClient(berth).get("/readyz")).status]).toEqual([kill, 200]);
      expect(existsSync(program)).toBe(true);
    }
  },
  60_000 + KILLS * 20_000,
);
