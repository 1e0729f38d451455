// The signature of a release's checksums, verified by OpenSSL as docs/security.md says and by the install script; and the other files of deploy/.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publicKeyOf, signFile } from "../scripts/release-signature.mjs";
import { testedBlocks } from "../site/tested-blocks.ts";
import { temporaryDir } from "./support/process.ts";

const privateKey = (type: "ed25519" | "x25519") =>
  (type === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("x25519")).privateKey
    .export({ type: "pkcs8", format: "pem" })
    .toString();

const [verification] = testedBlocks(import.meta.path, "docs/security.md", 1);

test("the commands of the guide accept it, and refuse it for a changed file", () => {
  const folder = temporaryDir();
  try {
    const name = "berth-1.0.0-linux-x64";
    const [binary, sums] = [join(folder.path, name), join(folder.path, `${name}.sha256`)];
    const pem = privateKey("ed25519");
    writeFileSync(binary, "the program");
    writeFileSync(sums, `${new Bun.CryptoHasher("sha256").update("the program").digest("hex")}  ${name}\n`);
    writeFileSync(join(folder.path, "release-key.pem"), publicKeyOf(pem));
    expect(statSync(signFile(sums, pem)).size).toBe(64);
    const verify = () => Bun.spawnSync(["sh", "-ec", verification.code], { cwd: folder.path }).exitCode;
    expect(verify()).toBe(0);
    appendFileSync(binary, "x");
    expect(verify()).not.toBe(0);
    writeFileSync(binary, "the program");
    expect(verify()).toBe(0);
    appendFileSync(sums, "x");
    expect(verify()).not.toBe(0);
  } finally {
    folder.remove();
  }
});

test("no other kind of key signs", () => {
  expect(() => signFile("/dev/null", privateKey("x25519"))).toThrow("Ed25519");
});

describe("deploy/install.sh", () => {
  const script = join(import.meta.dir, "../deploy/install.sh");
  const name = "berth-1.0.0-linux-x64";
  let folder: ReturnType<typeof temporaryDir>;
  beforeEach(() => {
    folder = temporaryDir();
    const pem = privateKey("ed25519");
    const program = "#!/bin/sh\necho 1.0.0\n";
    writeFileSync(join(folder.path, name), program);
    const sums = join(folder.path, `${name}.sha256`);
    writeFileSync(sums, `${new Bun.CryptoHasher("sha256").update(program).digest("hex")}  ${name}\n`);
    writeFileSync(join(folder.path, "release-key.pem"), publicKeyOf(pem));
    signFile(sums, pem);
  });
  afterEach(() => folder.remove());

  const install = (...args: string[]) => {
    const command = ["sh", script, name, "--prefix", join(folder.path, "usr"), ...args];
    const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: folder.path });
    return { exitCode, says: `${stdout}${stderr}`, isInstalled: existsSync(join(folder.path, "usr/bin/berth")) };
  };

  test("is run as the guide says", () => {
    const [{ code }] = testedBlocks(import.meta.path, "docs/deploy.md", 1);
    const command = `${code.trim().replace("deploy/install.sh", script)} --prefix usr`;
    const { exitCode } = Bun.spawnSync(["sh", "-c", command], { cwd: folder.path });
    expect({ exitCode, isInstalled: existsSync(join(folder.path, "usr/bin/berth")) }).toEqual({
      exitCode: 0,
      isInstalled: true,
    });
  });

  test("installs what is signed, and says its version", () => {
    const { says, ...rest } = install("--key", "release-key.pem");
    expect(rest).toEqual({ exitCode: 0, isInstalled: true });
    expect(says).toContain("berth 1.0.0 is at");
  });

  test("installs nothing without a key", () => {
    expect(install()).toMatchObject({ exitCode: 1, isInstalled: false, says: expect.stringContaining("--key") });
  });

  test.each([
    ["a changed binary", name, "The checksum"],
    ["a changed checksum", `${name}.sha256`, "The signature"],
    ["a changed signature", `${name}.sha256.sig`, "The signature"],
  ])("installs nothing from %s", (_, changed, says) => {
    appendFileSync(join(folder.path, changed), "x");
    const result = install("--key", "release-key.pem");
    expect(result).toMatchObject({ exitCode: 1, isInstalled: false, says: expect.stringContaining(says) });
  });

  test("installs nothing that another key has signed", () => {
    writeFileSync(join(folder.path, "release-key.pem"), publicKeyOf(privateKey("ed25519")));
    expect(install("--key", "release-key.pem")).toMatchObject({ exitCode: 1, isInstalled: false });
  });
});

test.skipIf(!Bun.which("systemd-analyze"))("systemd accepts the unit, and finds it little exposed", () => {
  const folder = temporaryDir();
  try {
    const unit = join(folder.path, "berth.service");
    const text = readFileSync(join(import.meta.dir, "../deploy/berth.service"), "utf8");
    writeFileSync(unit, text.replace("/usr/local/bin/berth", "/bin/true"));
    const analyze = (...args: string[]) => Bun.spawnSync(["systemd-analyze", ...args, unit]);
    const verified = analyze("verify");
    expect([verified.exitCode, verified.stderr.toString()]).toEqual([0, ""]);
    const exposure = /level for berth.service: ([\d.]+)/.exec(analyze("security", "--offline=yes").stdout.toString());
    expect(Number(exposure?.[1])).toBeLessThan(2);
  } finally {
    folder.remove();
  }
});

test.skipIf(!Bun.which("caddy"))("Caddy accepts its files", () => {
  for (const name of ["Caddyfile", "Caddyfile.compose"]) {
    const file = join(import.meta.dir, "../deploy", name);
    expect(Bun.spawnSync(["caddy", "validate", "--adapter", "caddyfile", "--config", file]).exitCode).toBe(0);
  }
});
