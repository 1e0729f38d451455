// Tests how long the tokens of a social session are valid, and how long its row is kept.
import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from "bun:test";
import { createVault } from "../../src/kernel/security/vault.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { fileDatabase, silent, type TestDatabase } from "../../tests/support/database.ts";
import { createSocialSessions, type SocialSessions } from "./social-sessions.ts";

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

test("a session token is valid for a day, and identifies fid and address", async () => {
  const { sessionToken } = await sessions.start("1", ADDRESS);
  const { fid, address, expiresAt } = (await sessions.find(sessionToken)) ?? expect.unreachable();
  expect({ fid, address }).toEqual({ fid: "1", address: ADDRESS.toLowerCase() });
  expect(Math.abs(expiresAt - Date.now() - DAY)).toBeLessThan(5_000);
  later(DAY - 5_000);
  expect(await sessions.find(sessionToken)).toBeDefined();
  later(10_000);
  expect(await sessions.find(sessionToken)).toBeUndefined();
});

test("a refresh token is valid for thirty days from the previous refresh", async () => {
  let { refreshToken } = await sessions.start("2", "");
  for (let i = 0; i < 3; i++) {
    later(29 * DAY);
    ({ refreshToken } = await sessions.refresh(refreshToken));
  }
  later(30 * DAY);
  await expectInvalid(sessions.refresh(refreshToken));
});

test("the row of a session is kept until its refresh token expires", async () => {
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

test("tokens signed under another root key are refused, and end no session", async () => {
  const { sessionToken, refreshToken } = await sessions.start("4", "");
  expect(await foreign.find(sessionToken)).toBeUndefined();
  await expectInvalid(foreign.refresh(refreshToken));
  expect(await sessions.find(sessionToken)).toBeDefined();
});

test("twenty of the sessions that start at once for one fid stay valid", async () => {
  const started = await Promise.all(Array.from({ length: 25 }, () => sessions.start("5", "")));
  const found = await Promise.all(started.map(({ sessionToken }) => sessions.find(sessionToken)));
  expect(found.filter((session) => session !== undefined)).toHaveLength(20);
});
