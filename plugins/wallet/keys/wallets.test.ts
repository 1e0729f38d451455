// Tests the storage of wallets and their keys: keys are encrypted and bound to their wallet, and limits hold under
// concurrency.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createVault } from "../../../src/kernel/security/vault.ts";
import { insertUser } from "../../../tests/support/records.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { createKeyring } from "./keyring.ts";
import { createLocalPlatform } from "./local-platform.ts";
import { createWallets, type Wallet } from "./wallets.ts";

const NONE = () => [];
let server: TestServer;
let keys: ReturnType<typeof createKeyring>;
let wallets: ReturnType<typeof createWallets>;
beforeAll(async () => {
  server = await openServer();
  keys = createKeyring(server.kernel);
  wallets = createWallets({ ...server.kernel, keys });
});
afterAll(() => server?.[Symbol.asyncDispose]());

const sealedOf = (wallet: Wallet) => wallet.sealed ?? expect.unreachable();
const keyOf = (wallet: Wallet) => server.kernel.vault.open(sealedOf(wallet), `wallet:${wallet.id}`);
const openable = ({ id, address, ...wallet }: Wallet) => ({
  id,
  address,
  sealed: sealedOf({ id, address, ...wallet }),
});

test("1,000 wallets have the addresses of their keys, and no file contains a key in plain text", async () => {
  const made = await Promise.all(Array.from({ length: 1000 }, (_, at) => wallets.create(`user ${at}`, NONE)));
  expect(new Set(made.map(({ address }) => address)).size).toBe(1000);
  const files = readdirSync(join(server.dir, "data"), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name !== "secret.key" && !file.name.endsWith("-shm"))
    .map((file) => readFileSync(join(file.parentPath, file.name)).toString("latin1").toLowerCase());
  for (const wallet of made) {
    const stored = (await wallets.byId(wallet.id)) ?? expect.unreachable();
    expect(stored).toEqual(wallet);
    expect(stored.keyId).toBe(server.kernel.vault.keyId);
    const key = keyOf(stored) as `0x${string}`;
    expect(privateKeyToAccount(key).address).toBe(stored.address as `0x${string}`);
    for (const text of files) expect(text.includes(key.slice(2))).toBe(false);
  }
});

describe("a stored key", () => {
  test("opens for its wallet, and not for another one that it was copied to", async () => {
    const [ada, eve] = [await wallets.create("ada", NONE), await wallets.create("eve", NONE)];
    expect((await keys.openAccount(openable(ada))).address).toBe(ada.address as `0x${string}`);
    expect(keys.openAccount({ ...openable(eve), sealed: sealedOf(ada) })).rejects.toThrow(/belongs to another place/);
    expect(keys.openAccount({ ...openable(ada), address: eve.address })).rejects.toThrow(/does not match its address/);
    const text = sealedOf(ada);
    const changed = `${text.slice(0, -2)}${text.endsWith("AA") ? "BB" : "AA"}`;
    expect(keys.openAccount({ ...openable(ada), sealed: changed })).rejects.toThrow(/was changed/);
  });

  test("does not open under another root key", async () => {
    const ada = await wallets.create("ada of another key", NONE);
    const vault = createVault({ key: "another key" });
    const foreignKeyring = createKeyring({ vault, keyRotation: server.kernel.keyRotation });
    expect(foreignKeyring.openAccount(openable(ada))).rejects.toThrow(/which is not here/);
  });
});

describe("a wallet from a given key", () => {
  test("is the same wallet if the key is given again", async () => {
    const key = `0x${"ab".repeat(32)}`;
    const [first, again] = [
      await wallets.createFromKey("bob", key),
      await wallets.createFromKey("bob", key.toUpperCase().replace("0X", "0x")),
    ];
    expect(again).toEqual(first);
    expect(keyOf(first)).toBe(key);
  });

  test.each([`0x${"00".repeat(32)}`, `0x${"ff".repeat(32)}`])(
    "is refused for the invalid key %s, without showing the key",
    async (key) => {
      const error = await wallets.createFromKey("bob", key).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ status: 400, code: "INVALID_PRIVATE_KEY" });
      expect(Bun.inspect(error)).not.toContain(key.slice(2));
    },
  );

  test("can be made a hundred times in one account, also by concurrent calls", async () => {
    for (let count = 0; count < 95; count++) await wallets.createFromKey("carl");
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => wallets.createFromKey("carl")));
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    for (const answer of answers) {
      if (answer.status === "rejected") expect(answer.reason).toMatchObject({ status: 409, code: "TOO_MANY_WALLETS" });
    }
    const { rows } = await server.kernel.database.read("SELECT count(*) AS n FROM wallets WHERE user_id = 'carl'");
    expect(Number(rows[0]?.n)).toBe(100);
  });
});

test("concurrent calls create one own wallet for a user", async () => {
  const answers = await Promise.allSettled(Array.from({ length: 20 }, () => wallets.create("dora", NONE)));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const own = (await wallets.findOwn("dora")) ?? expect.unreachable();
  for (const answer of answers) {
    if (answer.status === "fulfilled") expect(answer.value).toEqual(own);
    else expect(answer.reason).toMatchObject({ status: 400, code: "WALLET_EXISTS", extras: { address: own.address } });
  }
});

describe("when an account", () => {
  const user = () => insertUser(server.kernel.database);

  test("is deleted, its wallets keep their keys, and lose user and email", async () => {
    const id = await user();
    const own = await wallets.create(id, NONE);
    const managed = await wallets.findOrCreateManaged(createLocalPlatform(keys), id, "ada@example.com");
    await server.kernel.database.write([{ sql: "DELETE FROM users WHERE id = ?", args: [id] }]);
    expect(await wallets.byId(own.id)).toEqual({ ...own, userId: null });
    expect(await wallets.byId(managed.id)).toEqual({ ...managed, userId: null, name: "" });
    expect(await wallets.findOwn(id)).toBeUndefined();
  });

  test("is reclaimed, it loses wallets with imported keys, and keeps those with generated ones", async () => {
    const id = await user();
    const [own, made] = [await wallets.create(id, NONE), await wallets.createFromKey(id)];
    const imported = await wallets.createFromKey(id, generatePrivateKey());
    await server.kernel.database.write([wallets.disownStatement(id)]);
    expect(await wallets.require(id)).toEqual(own);
    expect(await wallets.require(id, made.address)).toEqual(made);
    expect(wallets.require(id, imported.address)).rejects.toMatchObject({ status: 404, code: "NO_WALLET" });
  });
});
