// Stored keys: whose address they have, that nothing of them is in clear, and that none opens in another's place.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createVault } from "../../../src/kernel/security/vault.ts";
import { type House, openHouse } from "../../../tests/support/house.ts";
import { createKeyring } from "./keyring.ts";
import { createLocalPlatform } from "./local-platform.ts";
import { createWallets, type Wallet } from "./wallets.ts";

const NONE = () => [];
let house: House;
let keys: ReturnType<typeof createKeyring>;
let wallets: ReturnType<typeof createWallets>;
beforeAll(async () => {
  house = await openHouse();
  keys = createKeyring(house.kernel);
  wallets = createWallets({ ...house.kernel, keys });
});
afterAll(() => house?.[Symbol.asyncDispose]());

const sealedOf = (wallet: Wallet) => wallet.sealed ?? expect.unreachable();
const keyOf = (wallet: Wallet) => house.kernel.vault.open(sealedOf(wallet), `wallet:${wallet.id}`);
const signing = ({ id, address, ...wallet }: Wallet) => ({ id, address, sealed: sealedOf({ id, address, ...wallet }) });

test("of 1,000 wallets each has the address of its own key, and no file has a key in clear", async () => {
  const made = await Promise.all(Array.from({ length: 1000 }, (_, at) => wallets.create(`user ${at}`, NONE)));
  expect(new Set(made.map(({ address }) => address)).size).toBe(1000);
  const files = readdirSync(join(house.dir, "data"), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name !== "secret.key" && !file.name.endsWith("-shm"))
    .map((file) => readFileSync(join(file.parentPath, file.name)).toString("latin1").toLowerCase());
  for (const wallet of made) {
    const stored = (await wallets.byId(wallet.id)) ?? expect.unreachable();
    expect(stored).toEqual(wallet);
    expect(stored.keyId).toBe(house.kernel.vault.keyId);
    const key = keyOf(stored) as `0x${string}`;
    expect(privateKeyToAccount(key).address).toBe(stored.address as `0x${string}`);
    for (const text of files) expect(text.includes(key.slice(2))).toBe(false);
  }
}, 60_000);

describe("a stored key", () => {
  test("signs for its wallet, and for none that it was copied to", async () => {
    const [ada, eve] = [await wallets.create("ada", NONE), await wallets.create("eve", NONE)];
    expect((await keys.openAccount(signing(ada))).address).toBe(ada.address as `0x${string}`);
    expect(keys.openAccount({ ...signing(eve), sealed: sealedOf(ada) })).rejects.toThrow(/belongs to another place/);
    expect(keys.openAccount({ ...signing(ada), address: eve.address })).rejects.toThrow(/does not match its address/);
    const text = sealedOf(ada);
    const changed = `${text.slice(0, -2)}${text.endsWith("AA") ? "BB" : "AA"}`;
    expect(keys.openAccount({ ...signing(ada), sealed: changed })).rejects.toThrow(/was changed/);
  });

  test("opens under no other root key", async () => {
    const ada = await wallets.create("ada of another key", NONE);
    const vault = createVault({ key: "another key" });
    const strange = createKeyring({ vault, keyRotation: house.kernel.keyRotation });
    expect(strange.openAccount(signing(ada))).rejects.toThrow(/which is not here/);
  });
});

describe("a wallet from a given key", () => {
  test("is the same one when it is given again", async () => {
    const key = `0x${"ab".repeat(32)}`;
    const [first, again] = [
      await wallets.createFromKey("bob", key),
      await wallets.createFromKey("bob", key.toUpperCase().replace("0X", "0x")),
    ];
    expect(again).toEqual(first);
    expect(keyOf(first)).toBe(key);
  });

  test.each([`0x${"00".repeat(32)}`, `0x${"ff".repeat(32)}`])(
    "is refused where %s is on no curve, without telling it",
    async (key) => {
      const error = await wallets.createFromKey("bob", key).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ status: 400, code: "INVALID_PRIVATE_KEY" });
      expect(Bun.inspect(error)).not.toContain(key.slice(2));
    },
  );

  test("finds room for a hundred in one account, however many come at once", async () => {
    for (let count = 0; count < 95; count++) await wallets.createFromKey("carl");
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => wallets.createFromKey("carl")));
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    for (const answer of answers) {
      if (answer.status === "rejected") expect(answer.reason).toMatchObject({ status: 409, code: "TOO_MANY_WALLETS" });
    }
    const { rows } = await house.kernel.database.read("SELECT count(*) AS n FROM wallets WHERE user_id = 'carl'");
    expect(Number(rows[0]?.n)).toBe(100);
  });
});

test("of many that are made at once for one user, one is", async () => {
  const answers = await Promise.allSettled(Array.from({ length: 20 }, () => wallets.create("dora", NONE)));
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const own = (await wallets.findOwn("dora")) ?? expect.unreachable();
  for (const answer of answers) {
    if (answer.status === "fulfilled") expect(answer.value).toEqual(own);
    else expect(answer.reason).toMatchObject({ status: 400, code: "WALLET_EXISTS", extras: { address: own.address } });
  }
});

describe("when an account", () => {
  async function user(): Promise<string> {
    const id = Bun.randomUUIDv7();
    const sql =
      "INSERT INTO users (id, email, name, referral_code, created_at, updated_at) VALUES (?1, ?1, 'Ada', ?1, 1, 1)";
    await house.kernel.database.write([{ sql, args: [id] }]);
    return id;
  }

  test("goes, the keys stay for whoever comes back for the money, and name nobody", async () => {
    const id = await user();
    const own = await wallets.create(id, NONE);
    const managed = await wallets.findOrCreateManaged(createLocalPlatform(keys), id, "ada@example.com");
    await house.kernel.database.write([{ sql: "DELETE FROM users WHERE id = ?", args: [id] }]);
    expect(await wallets.byId(own.id)).toEqual({ ...own, userId: null });
    expect(await wallets.byId(managed.id)).toEqual({ ...managed, userId: null, name: "" });
    expect(await wallets.findOwn(id)).toBeUndefined();
  });

  test("is taken over, what somebody brought the key of is not its own any more; what nobody ever saw stays", async () => {
    const id = await user();
    const [own, made] = [await wallets.create(id, NONE), await wallets.createFromKey(id)];
    const brought = await wallets.createFromKey(id, generatePrivateKey());
    await house.kernel.database.write([wallets.disownStatement(id)]);
    expect(await wallets.require(id)).toEqual(own);
    expect(await wallets.require(id, made.address)).toEqual(made);
    expect(wallets.require(id, brought.address)).rejects.toMatchObject({ status: 404, code: "NO_WALLET" });
  });
});
