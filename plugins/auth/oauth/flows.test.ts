// What a browser brings back from a provider: everything but its own answer, once and in time, is refused.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import {
  expectFailure,
  expectSignedIn,
  leave,
  type OAuthHouse,
  openOAuthHouse,
  signInWith,
} from "../../../tests/support/providers.ts";
import { sweepUsedOnceStatement } from "../sign-in/replay-protection.ts";

const MINUTE = 60_000;
let house: OAuthHouse;
beforeAll(async () => {
  house = await openOAuthHouse();
});
afterAll(() => house?.[Symbol.asyncDispose]());
beforeEach(() => house.calm());
afterEach(() => void setSystemTime());

describe("the state", () => {
  const changed = (way: string, change: (query: URLSearchParams) => void) => {
    const url = new URL(way, "http://x");
    change(url.searchParams);
    return url.pathname + url.search;
  };
  const asked = () => house.google.asked.filter((path) => path === "/token").length;

  test("missing, foreign, swapped, tampered with or of another provider: nothing is exchanged, and the right one still counts", async () => {
    const [ada, eve] = [house.browser(), house.browser()];
    const [adas, eves] = [await leave(ada, "google"), await leave(eve, "google")];
    const before = asked();
    const [name, sealed = ""] = ada.cookie.split("=");
    const cookies = [
      "",
      `${name}=`,
      `${name}=x`,
      `${name}=${sealed.slice(0, -2)}`,
      `${name}=${sealed.slice(0, 20)}${sealed[20] === "A" ? "B" : "A"}${sealed.slice(21)}`,
      eve.cookie,
      `__Host-${ada.cookie}`,
    ];
    for (const cookie of cookies) expectFailure(await ada.get(adas, { headers: { cookie } }), "STATE_INVALID");
    const ways = [
      "/api/auth/callback/google",
      changed(adas, (query) => query.delete("state")),
      changed(adas, (query) => query.set("state", "")),
      changed(adas, (query) => query.set("state", new URL(eves, "http://x").searchParams.get("state") ?? "")),
      changed(adas, (query) => query.set("state", `${query.get("state")}x`)),
      eves,
      adas.replace("/google", "/github"),
    ];
    for (const way of ways) {
      const answer = await ada.get(way);
      expectFailure(answer, "STATE_INVALID");
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(asked()).toBe(before);
    expectSignedIn(await ada.get(adas));
  });

  test("is good once, of twenty at once too", async () => {
    const ada = house.browser();
    const way = await leave(ada, "google");
    const { cookie } = ada;
    const before = asked();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ada.get(way, { headers: { cookie } })));
    const codes = answers.map(({ headers }) => headers.get("location")).sort();
    expect(codes).toEqual(["/", ...Array(19).fill("/login?error=STATE_INVALID")]);
    expectFailure(await ada.get(way, { headers: { cookie } }), "STATE_INVALID");
    expect(asked() - before).toBe(1);
  });

  test("is used up by a sign-in that fails too, and its cookie goes", async () => {
    house.google.person = undefined;
    const ada = house.browser();
    const way = await leave(ada, "google");
    const { cookie } = ada;
    const answer = await ada.get(way);
    expectFailure(answer, "ACCESS_DENIED");
    expect(answer.headers.getSetCookie()).toEqual([
      "berth_oauth=; Max-Age=0; Path=/api/auth/callback; HttpOnly; SameSite=Lax",
    ]);
    expectFailure(await ada.get(way, { headers: { cookie } }), "STATE_INVALID");
  });

  test("is too old after ten minutes", async () => {
    const ada = house.browser();
    const way = await leave(ada, "google");
    setSystemTime(Date.now() + 10 * MINUTE);
    expectFailure(await ada.get(way), "STATE_INVALID");
  });

  test("with an answer that names another issuer, or none, is a mix-up", async () => {
    for (const change of [
      (query: URLSearchParams) => query.set("iss", "https://evil.example"),
      (query: URLSearchParams) => query.delete("iss"),
    ]) {
      const ada = house.browser();
      const before = asked();
      expectFailure(await ada.get(changed(await leave(ada, "google"), change)), "STATE_INVALID");
      expect(asked()).toBe(before);
    }
  });

  test("with a code of somebody else's flow gets nowhere: its verifier is another", async () => {
    const [ada, eve] = [house.browser(), house.browser()];
    const [adas, eves] = [await leave(ada, "google"), await leave(eve, "google")];
    const code = new URL(eves, "http://x").searchParams.get("code") ?? "";
    expectFailure(await ada.get(changed(adas, (query) => query.set("code", code))), "SIGN_IN_FAILED");
    for (const change of [
      (query: URLSearchParams) => query.append("code", code),
      (query: URLSearchParams) => query.delete("code"),
      (query: URLSearchParams) => query.append("state", "x"),
    ]) {
      const client = house.browser();
      expectFailure(await client.get(changed(await leave(client, "google"), change)), "SIGN_IN_FAILED");
    }
  });

  test("that was used is remembered for as long as it could come again, and no longer", async () => {
    const kept = () => house.rows("SELECT value FROM auth_used_once");
    expectSignedIn(await signInWith(house.browser(), "google"));
    const before = (await kept()).length;
    expect(before).toBeGreaterThan(0);
    const sweep = async () => {
      const { sql, args } = sweepUsedOnceStatement();
      await house.write("", sql, ...args.map(Number));
    };
    await sweep();
    expect(await kept()).toHaveLength(before);
    setSystemTime(Date.now() + 11 * MINUTE);
    await sweep();
    expect(await kept()).toEqual([]);
  });
});
