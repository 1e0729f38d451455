// Sessions of fids in time: how long their tokens are good, and what is kept of them.
import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from "bun:test";
import { createVault } from "../../src/kernel/security/vault.ts";
import { fileDatabase, silent, type TestDatabase } from "../../tests/support/database.ts";
import { createSocialSessions, type SocialSessions } from "./social-sessions.ts";

const DAY = 86_400_000;
const ADDRESS = `0x${"Ab".repeat(20)}`;
let store: TestDatabase;
let sessions: SocialSessions;
let foreign: SocialSessions;
beforeAll(async () => {
  store = await fileDatabase();
  const { database } = store;
  sessions = createSocialSessions({ database, log: silent, vault: createVault({ key: "one key" }) });
  foreign = createSocialSessions({ database, log: silent, vault: createVault({ key: "another key" }) });
});
afterAll(() => store?.remove());
afterEach(() => setSystemTime());

const later = (ms: number) => setSystemTime(Date.now() + ms);
const rows = async () => (await store.database.read("SELECT fid, address, generation FROM social_sessions")).rows;
const expectInvalid = (answer: Promise<unknown>) =>
  expect(answer).rejects.toMatchObject({ status: 401, code: "INVALID_TOKEN" });

test("a session token is good for a day, and says whose it is", async () => {
  const { sessionToken } = await sessions.start("1", ADDRESS);
  const { fid, address, expiresAt } = (await sessions.find(sessionToken)) ?? expect.unreachable();
  expect({ fid, address }).toEqual({ fid: "1", address: ADDRESS.toLowerCase() });
  expect(Math.abs(expiresAt - Date.now() - DAY)).toBeLessThan(5_000);
  later(DAY - 5_000);
  expect(await sessions.find(sessionToken)).toBeDefined();
  later(10_000);
  expect(await sessions.find(sessionToken)).toBeUndefined();
});

test("a refresh token is good for thirty days from the one before", async () => {
  let { refreshToken } = await sessions.start("2", "");
  for (let i = 0; i < 3; i++) {
    later(29 * DAY);
    ({ refreshToken } = await sessions.refresh(refreshToken));
  }
  later(30 * DAY);
  await expectInvalid(sessions.refresh(refreshToken));
});

test("of a session a row is kept until it can't be refreshed any more", async () => {
  await store.database.write([{ sql: "DELETE FROM social_sessions", args: [] }]);
  const { refreshToken } = await sessions.start("3", "");
  await sessions.refresh(refreshToken);
  expect(await rows()).toEqual([expect.objectContaining({ fid: "3", address: "", generation: 1 })]);
  later(30 * DAY - 5_000);
  await store.database.write([sessions.sweepStatement()]);
  expect(await rows()).toHaveLength(1);
  later(10_000);
  await store.database.write([sessions.sweepStatement()]);
  expect(await rows()).toEqual([]);
});

test("tokens under another root key are none, and end nothing", async () => {
  const { sessionToken, refreshToken } = await sessions.start("4", "");
  expect(await foreign.find(sessionToken)).toBeUndefined();
  await expectInvalid(foreign.refresh(refreshToken));
  expect(await sessions.find(sessionToken)).toBeDefined();
});

test("of many that begin at once twenty go on", async () => {
  const begun = await Promise.all(Array.from({ length: 25 }, () => sessions.start("5", "")));
  const good = await Promise.all(begun.map(({ sessionToken }) => sessions.find(sessionToken)));
  expect(good.filter((one) => one !== undefined)).toHaveLength(20);
});
