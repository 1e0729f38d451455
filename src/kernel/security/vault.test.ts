// Tests that sealed texts can be opened only in their context and with their key.

import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartError } from "../errors.ts";
import { createVault, loadOrCreateSecretKey, VaultError } from "./vault.ts";

const dir = mkdtempSync(join(tmpdir(), "berth-vault-"));
afterAll(() => rmSync(dir, { recursive: true }));

const vault = createVault({ key: "first root key" });
const CONTEXT = "agent:1:credential:provider_1";

describe("sealing", () => {
  test.each(["", "sk-secret", "päßwörd 🔑", "x".repeat(100_000)])("what was sealed opens again", (text) => {
    const sealed = vault.seal(text, CONTEXT);
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/);
    expect(vault.open(sealed, CONTEXT)).toBe(text);
    if (text) expect(sealed).not.toContain(text);
  });

  test("the same text is never sealed the same way twice", () => {
    expect(vault.seal("a", CONTEXT)).not.toBe(vault.seal("a", CONTEXT));
  });

  test("it can't be opened in another context", () => {
    const sealed = vault.seal("sk-secret", CONTEXT);
    expect(() => vault.open(sealed, "agent:2:credential:provider_1")).toThrow(VaultError);
  });

  test("any changed bit is detected", () => {
    const sealed = vault.seal("sk-secret", CONTEXT);
    const [version, id, payload] = sealed.split(".");
    const bytes = Buffer.from(payload ?? "", "base64url");
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i] = (changed[i] ?? 0) ^ 1;
      expect(() => vault.open(`${version}.${id}.${changed.toString("base64url")}`, CONTEXT)).toThrow(VaultError);
    }
  });

  test.each(["", "plain", "v1.a", "v1..", "v2.00000000.AAAA", "v1.00000000.AAAA", "v1.a.b.c"])(
    "a text that is not sealed is refused: %s",
    (text) => {
      expect(() => vault.open(text, CONTEXT)).toThrow(VaultError);
    },
  );

  test("a truncated text is refused, and the error does not contain it", () => {
    const sealed = vault.seal("sk-secret", CONTEXT);
    const cut = sealed.slice(0, -30);
    expect(() => vault.open(cut, CONTEXT)).toThrow(/^(?!.*sk-secret)/);
    expect(() => vault.open(cut, CONTEXT)).toThrow(VaultError);
  });
});

describe("keys", () => {
  test("are the same for the same root and purpose, as text or bytes, and differ otherwise", () => {
    const same = createVault({ key: new TextEncoder().encode("first root key") });
    const other = createVault({ key: "second root key" });
    expect(same.deriveKey("session")).toEqual(vault.deriveKey("session"));
    expect(vault.deriveKey("session")).toHaveLength(32);
    expect(vault.deriveKey("service")).not.toEqual(vault.deriveKey("session"));
    expect(other.deriveKey("session")).not.toEqual(vault.deriveKey("session"));
  });

  test("after a rotation the previous key still opens its texts, which are stale", () => {
    const sealed = vault.seal("sk-secret", CONTEXT);
    const rotated = createVault({ key: "second root key", previous: "first root key" });
    expect(rotated.open(sealed, CONTEXT)).toBe("sk-secret");
    expect(rotated.isStale(sealed)).toBe(true);
    const again = rotated.seal("sk-secret", CONTEXT);
    expect(rotated.isStale(again)).toBe(false);
    expect(() => vault.open(again, CONTEXT)).toThrow(VaultError);
    expect(() => createVault({ key: "third" }).open(sealed, CONTEXT)).toThrow(/key [0-9a-f]{8}, which is not here/);
  });

  test("the fingerprint identifies a root key", () => {
    const rotated = createVault({ key: "second root key", previous: "first root key" });
    expect(rotated.fingerprint()).not.toBe(vault.fingerprint());
    expect(rotated.previousFingerprint()).toBe(vault.fingerprint());
    expect(vault.previousFingerprint()).toBeUndefined();
    expect(vault.fingerprint()).not.toContain(Buffer.from(vault.deriveKey("fingerprint")).toString("hex").slice(0, 16));
  });

  test("an empty key is refused", () => {
    expect(() => createVault({ key: "" })).toThrow(VaultError);
  });
});

describe("signing", () => {
  test("is HMAC-SHA256 under the purpose's key", async () => {
    const usage = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", Buffer.from(vault.deriveKey("session")), usage, false, ["sign"]);
    const expected = Buffer.from(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode("data")));
    expect(vault.sign("session", "data")).toBe(expected.toString("base64url"));
    expect(vault.verify("session", new TextEncoder().encode("data"), expected.toString("base64url"))).toBe(true);
  });

  test("is valid only for that purpose, that data and the current key", () => {
    const signature = vault.sign("session", "data");
    expect(vault.verify("session", "data", signature)).toBe(true);
    expect(vault.verify("service", "data", signature)).toBe(false);
    expect(vault.verify("session", "date", signature)).toBe(false);
    expect(vault.verify("session", "data", signature.slice(1))).toBe(false);
    expect(vault.verify("session", "data", "")).toBe(false);
    expect(vault.verify("session", "data", "é".repeat(43))).toBe(false);
    const rotated = createVault({ key: "second root key", previous: "first root key" });
    expect(rotated.verify("session", "data", signature)).toBe(false);
  });
});

describe("the key file", () => {
  const unexpected = {
    warn(message: string) {
      throw new Error(`unexpected warning: ${message}`);
    },
  };

  test("is created once, readable only by its owner, and read afterwards", () => {
    const home = join(dir, "new", "data");
    const key = loadOrCreateSecretKey(home, unexpected);
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(loadOrCreateSecretKey(home, unexpected)).toBe(key);
    expect(statSync(join(home, "secret.key")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(home, "secret.key"), "utf8")).toBe(`${key}\n`);
  });

  test("that others can read causes a warning", () => {
    const home = join(dir, "open");
    const key = loadOrCreateSecretKey(home, unexpected);
    chmodSync(join(home, "secret.key"), 0o644);
    const warnings: string[] = [];
    expect(loadOrCreateSecretKey(home, { warn: (message) => warnings.push(message) })).toBe(key);
    expect(warnings).toEqual([expect.stringContaining("chmod 600")]);
    expect(warnings.join()).not.toContain(key);
  });

  test("with other content stops the start with its path, not its content, and is not changed", () => {
    const home = mkdtempSync(join(dir, "bad-"));
    writeFileSync(join(home, "secret.key"), "half a key", { mode: 0o600 });
    expect(() => loadOrCreateSecretKey(home, unexpected)).toThrow(/secret\.key holds no key/);
    expect(() => loadOrCreateSecretKey(home, unexpected)).not.toThrow(/half a key/);
    expect(readFileSync(join(home, "secret.key"), "utf8")).toBe("half a key");
  });

  test("in a place that is not a folder gives an error of one line", () => {
    writeFileSync(join(dir, "file"), "");
    expect(() => loadOrCreateSecretKey(join(dir, "file"), unexpected)).toThrow(StartError);
    expect(() => loadOrCreateSecretKey(join(dir, "file"), unexpected)).toThrow(/can't be read or created \(\w+\)\.$/);
  });
});
