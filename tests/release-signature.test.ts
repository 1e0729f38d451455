// The signature of a release's checksums, made by the script and verified by OpenSSL as docs/security.md says.
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { appendFileSync, statSync, writeFileSync } from "node:fs";
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
