// The signature of a release's checksums, made by the script and verified by OpenSSL as docs/security.md says.
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { appendFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publicKeyOf, signFile } from "../scripts/release-signature.mjs";
import { temporaryDir } from "./support/process.ts";

const privateKey = (type: "ed25519" | "x25519") =>
  (type === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("x25519")).privateKey
    .export({ type: "pkcs8", format: "pem" })
    .toString();

test("OpenSSL accepts it, and refuses it for a changed file", () => {
  const folder = temporaryDir();
  try {
    const [sums, key] = [join(folder.path, "berth-1.0.0-linux-x64.sha256"), join(folder.path, "release-key.pem")];
    const pem = privateKey("ed25519");
    writeFileSync(sums, `${"0".repeat(64)}  berth-1.0.0-linux-x64\n`);
    writeFileSync(key, publicKeyOf(pem));
    const signature = signFile(sums, pem);
    expect(statSync(signature).size).toBe(64);
    const verify = () =>
      Bun.spawnSync([
        "openssl",
        "pkeyutl",
        "-verify",
        "-pubin",
        "-inkey",
        key,
        "-rawin",
        "-in",
        sums,
        "-sigfile",
        signature,
      ]);
    expect(verify().exitCode).toBe(0);
    appendFileSync(sums, "x");
    expect(verify().exitCode).not.toBe(0);
  } finally {
    folder.remove();
  }
});

test("no other kind of key signs", () => {
  expect(() => signFile("/dev/null", privateKey("x25519"))).toThrow("Ed25519");
});
