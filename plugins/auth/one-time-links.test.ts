// One-time links: validity, single use, and what is stored of them.

import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from "bun:test";
import { createMarks } from "../../src/kernel/cells/create-marks.ts";
import { HOUR } from "../../src/kernel/util/time.ts";
import { fileDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { insertUser } from "../../tests/support/records.ts";
import { createOneTimeLinks, invalidLink, type OneTimeLinks } from "./one-time-links.ts";

let store: TestDatabase;
let links: OneTimeLinks;
beforeAll(async () => {
  store = await fileDatabase();
  links = createOneTimeLinks({ database: store.database, marks: createMarks(0) });
});
afterAll(() => store?.remove());
afterEach(() => setSystemTime());

let users = 0;
async function user(): Promise<string> {
  return insertUser(store.database, { id: `user-${++users}` });
}

async function issue(userId: string, kind: "verify-email" | "reset-password" = "reset-password", email?: string) {
  const { token, statements } = links.issue(kind, { userId, lifetimeMs: HOUR, ...(email && { email }) });
  await store.database.write(statements);
  return token;
}
const use = (token: string, kind: "verify-email" | "reset-password" = "reset-password") =>
  store.database.write(links.useStatements(kind, token));
const rows = async (id: string) =>
  (await store.database.read("SELECT * FROM auth_links WHERE user_id = ?", [id])).rows.length;

test("a link has an account and an address, and works once", async () => {
  const id = await user();
  const token = await issue(id, "reset-password", "ada@example.com");
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(await links.find("reset-password", token)).toEqual({ userId: id, email: "ada@example.com" });
  await use(token);
  expect(await links.find("reset-password", token)).toBeUndefined();
  await expect(use(token)).rejects.toMatchObject({ guard: "link" });
});

test("the use of a link is undone if its batch fails", async () => {
  const token = await issue(await user());
  const broken = { sql: "INSERT INTO no_such_table VALUES (1)", args: [] };
  await expect(store.database.write([...links.useStatements("reset-password", token), broken])).rejects.toThrow();
  expect(await links.find("reset-password", token)).toBeDefined();
});

test("a new link ends older links of the same kind and user only", async () => {
  const [ada, bob] = [await user(), await user()];
  const [first, other, bobs] = [await issue(ada), await issue(ada, "verify-email"), await issue(bob)];
  const second = await issue(ada);
  expect(await links.find("reset-password", first)).toBeUndefined();
  for (const token of [second, bobs]) expect(await links.find("reset-password", token)).toBeDefined();
  expect(await links.find("verify-email", other)).toBeDefined();
  await store.database.write([links.revokeStatement("reset-password", ada)]);
  expect(await links.find("reset-password", second)).toBeUndefined();
  expect(await links.find("reset-password", bobs)).toBeDefined();
});

test("a link is valid for its kind only", async () => {
  const token = await issue(await user(), "verify-email");
  expect(await links.find("reset-password", token)).toBeUndefined();
  await expect(use(token)).rejects.toMatchObject({ guard: "link" });
  await use(token, "verify-email");
});

test("a link expires at its end, and is then swept", async () => {
  const now = Date.now();
  setSystemTime(now);
  const id = await user();
  const token = await issue(id);
  setSystemTime(now + HOUR - 1);
  expect(await links.find("reset-password", token)).toBeDefined();
  await store.database.write([links.sweepStatement()]);
  expect(await rows(id)).toBe(1);
  setSystemTime(now + HOUR);
  expect(await links.find("reset-password", token)).toBeUndefined();
  await expect(use(token)).rejects.toMatchObject({ guard: "link" });
  await store.database.write([links.sweepStatement()]);
  expect(await rows(id)).toBe(0);
});

test("a link is stored as a hash, and deleted with its user", async () => {
  const id = await user();
  const token = await issue(id);
  const kept = await store.database.read("SELECT * FROM auth_links WHERE user_id = ?", [id]);
  expect(JSON.stringify(kept.rows)).not.toContain(token);
  await store.database.write([{ sql: "DELETE FROM users WHERE id = ?", args: [id] }]);
  expect(await rows(id)).toBe(0);
});

test.each(["", "x", "%", "' OR 1=1 --", "x".repeat(10_000)])("an unknown token is not a link (%#)", async (token) => {
  await issue(await user());
  expect(await links.find("reset-password", token)).toBeUndefined();
  await expect(use(token)).rejects.toMatchObject({ guard: "link" });
});

test("the error does not tell why a link is invalid", () => {
  expect(invalidLink(new Error("secret reason"))).toMatchObject({ status: 400, code: "INVALID_LINK", extras: {} });
  expect(invalidLink(new Error("secret reason")).message).not.toContain("secret");
});

test("reset links of a deleted account stay valid without a user; its other links are deleted", async () => {
  const id = await user();
  const [reset, verify] = [await issue(id, "reset-password", "ada@example.com"), await issue(id, "verify-email")];
  await store.database.write([links.orphanStatement(id), { sql: "DELETE FROM users WHERE id = ?", args: [id] }]);
  expect(await links.find("reset-password", reset)).toEqual({ userId: null, email: null });
  expect(await links.find("verify-email", verify)).toBeUndefined();
});
