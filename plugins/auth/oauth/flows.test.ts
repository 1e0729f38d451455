// OAuth flows: only the browser that started a flow can complete it, once and within ten minutes.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import {
  completeAtProvider,
  expectFailure,
  expectSignedIn,
  type OAuthServer,
  openOAuthServer,
  signInWith,
} from "../../../tests/support/providers.ts";
import { sweepUsedOnceStatement } from "../sign-in/replay-protection.ts";

let server: OAuthServer;
beforeAll(async () => {
  server = await openOAuthServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(() => server.reset());
afterEach(() => void setSystemTime());

describe("the state", () => {
  const changed = (callback: string, change: (query: URLSearchParams) => void) => {
    const url = new URL(callback, "http://x");
    change(url.searchParams);
    return url.pathname + url.search;
  };
  const tokenRequests = () => server.google.requestedPaths.filter((path) => path === "/token").length;

  test("is refused if missing, foreign, swapped, tampered with or of another provider; the correct one stays valid", async () => {
    const [ada, eve] = [server.browser(), server.browser()];
    const [adaCallback, eveCallback] = [
      await completeAtProvider(ada, "google"),
      await completeAtProvider(eve, "google"),
    ];
    const before = tokenRequests();
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
    for (const cookie of cookies) expectFailure(await ada.get(adaCallback, { headers: { cookie } }), "STATE_INVALID");
    const callbacks = [
      "/api/auth/callback/google",
      changed(adaCallback, (query) => query.delete("state")),
      changed(adaCallback, (query) => query.set("state", "")),
      changed(adaCallback, (query) =>
        query.set("state", new URL(eveCallback, "http://x").searchParams.get("state") ?? ""),
      ),
      changed(adaCallback, (query) => query.set("state", `${query.get("state")}x`)),
      eveCallback,
      adaCallback.replace("/google", "/github"),
    ];
    for (const callback of callbacks) {
      const answer = await ada.get(callback);
      expectFailure(answer, "STATE_INVALID");
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(tokenRequests()).toBe(before);
    expectSignedIn(await ada.get(adaCallback));
  });

  test("works once, also for twenty concurrent requests", async () => {
    const ada = server.browser();
    const callback = await completeAtProvider(ada, "google");
    const { cookie } = ada;
    const before = tokenRequests();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ada.get(callback, { headers: { cookie } })));
    const codes = answers.map(({ headers }) => headers.get("location")).sort();
    expect(codes).toEqual(["/", ...Array(19).fill("/login?error=STATE_INVALID")]);
    expectFailure(await ada.get(callback, { headers: { cookie } }), "STATE_INVALID");
    expect(tokenRequests() - before).toBe(1);
  });

  test("is consumed by a failed sign-in too, which clears the cookie", async () => {
    server.google.person = undefined;
    const ada = server.browser();
    const callback = await completeAtProvider(ada, "google");
    const { cookie } = ada;
    const answer = await ada.get(callback);
    expectFailure(answer, "ACCESS_DENIED");
    expect(answer.headers.getSetCookie()).toEqual([
      "berth_oauth=; Max-Age=0; Path=/api/auth/callback; HttpOnly; SameSite=Lax",
    ]);
    expectFailure(await ada.get(callback, { headers: { cookie } }), "STATE_INVALID");
  });

  test("expires after ten minutes", async () => {
    const ada = server.browser();
    const callback = await completeAtProvider(ada, "google");
    setSystemTime(Date.now() + 10 * MINUTE);
    expectFailure(await ada.get(callback), "STATE_INVALID");
  });

  test("is refused with a response that names another issuer, or none (mix-up attack)", async () => {
    for (const change of [
      (query: URLSearchParams) => query.set("iss", "https://evil.example"),
      (query: URLSearchParams) => query.delete("iss"),
    ]) {
      const ada = server.browser();
      const before = tokenRequests();
      expectFailure(await ada.get(changed(await completeAtProvider(ada, "google"), change)), "STATE_INVALID");
      expect(tokenRequests()).toBe(before);
    }
  });

  test("is refused with the code of another flow, whose PKCE verifier differs", async () => {
    const [ada, eve] = [server.browser(), server.browser()];
    const [adaCallback, eveCallback] = [
      await completeAtProvider(ada, "google"),
      await completeAtProvider(eve, "google"),
    ];
    const code = new URL(eveCallback, "http://x").searchParams.get("code") ?? "";
    expectFailure(await ada.get(changed(adaCallback, (query) => query.set("code", code))), "SIGN_IN_FAILED");
    for (const change of [
      (query: URLSearchParams) => query.append("code", code),
      (query: URLSearchParams) => query.delete("code"),
      (query: URLSearchParams) => query.append("state", "x"),
    ]) {
      const client = server.browser();
      expectFailure(await client.get(changed(await completeAtProvider(client, "google"), change)), "SIGN_IN_FAILED");
    }
  });

  test("is stored after its use until it has expired", async () => {
    const usedStates = () => server.rows("SELECT value FROM auth_used_once");
    expectSignedIn(await signInWith(server.browser(), "google"));
    const before = (await usedStates()).length;
    expect(before).toBeGreaterThan(0);
    const sweep = async () => {
      const { sql, args } = sweepUsedOnceStatement();
      await server.write("", sql, ...args.map(Number));
    };
    await sweep();
    expect(await usedStates()).toHaveLength(before);
    setSystemTime(Date.now() + 11 * MINUTE);
    await sweep();
    expect(await usedStates()).toEqual([]);
  });
});
