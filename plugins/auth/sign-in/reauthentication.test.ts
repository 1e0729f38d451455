// Reauthentication: by password if the account has one, else by a sign-in within the last ten minutes.
import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import { unauthorized } from "../../../src/kernel/errors.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { SessionIdentity } from "../identity.ts";
import { createReauthenticate } from "./reauthentication.ts";
import type { SignIn } from "./sign-in.ts";

afterEach(() => setSystemTime());

/** The arguments of each password check. */
const checks: unknown[] = [];
const checkPassword: SignIn["checkPassword"] = async (email, user, password, address) => {
  checks.push({ email, hash: user?.passwordHash, password, address });
  if (!user || password !== "right") throw unauthorized("wrong");
  return user;
};
const reauthenticate = createReauthenticate({ checkPassword });

function owner(passwordHash: string | null, age = 0): SessionIdentity {
  const createdAt = Date.now() - age;
  const user = { email: "ada@example.com", passwordHash } as SessionIdentity["user"];
  return {
    user,
    session: { createdAt } as SessionIdentity["session"],
    credentialId: "s",
    isAdmin: false,
    scopes: new Set(),
  };
}
const outcome = (...args: Parameters<typeof reauthenticate>) =>
  reauthenticate(...args).then<unknown, unknown>(
    () => "confirmed",
    ({ status, code, extras }) => ({ status, code, path: extras.issues?.[0]?.path }),
  );

describe("an account with a password", () => {
  test("passes for the correct password, however old the session", async () => {
    checks.length = 0;
    expect(await outcome(owner("hash", 1_000 * MINUTE), "right", "203.0.113.9")).toBe("confirmed");
    expect(checks).toEqual([{ email: "ada@example.com", hash: "hash", password: "right", address: "203.0.113.9" }]);
  });

  test("fails for a wrong password, however young the session", async () => {
    expect(await outcome(owner("hash"), "wrong", "")).toMatchObject({ status: 401 });
  });

  test.each([undefined, ""])("gets 400 for %j, with the field, and no guess is counted", async (none) => {
    checks.length = 0;
    expect(await outcome(owner("hash"), none, "")).toMatchObject({ status: 400, path: "password" });
    expect(await outcome(owner("hash"), none, "", { field: "currentPassword" })).toMatchObject({
      path: "currentPassword",
    });
    expect(checks).toEqual([]);
  });
});

describe("an account with a password, with allowRecentSignIn", () => {
  const allowRecent = { allowRecentSignIn: true };

  test("passes without the password in a young session, and with it in an old one", async () => {
    for (const none of [undefined, ""]) {
      expect(await outcome(owner("hash", 10 * MINUTE - 1_000), none, "", allowRecent)).toBe("confirmed");
      const old = await outcome(owner("hash", 10 * MINUTE + 1_000), none, "", allowRecent);
      expect(old).toMatchObject({ status: 403, code: "RECENT_SIGN_IN_REQUIRED" });
    }
    expect(await outcome(owner("hash", 1_000 * MINUTE), "right", "", allowRecent)).toBe("confirmed");
  });

  test("fails for a wrong password, however young the session", async () => {
    expect(await outcome(owner("hash"), "wrong", "", allowRecent)).toMatchObject({ status: 401 });
  });
});

describe("an account without a password", () => {
  test("passes in a session younger than ten minutes only, whatever the password field", async () => {
    for (const given of [undefined, "", "right"]) {
      expect(await outcome(owner(null, 10 * MINUTE - 1_000), given, "")).toBe("confirmed");
      const old = await outcome(owner(null, 10 * MINUTE + 1_000), given, "");
      expect(old).toMatchObject({ status: 403, code: "RECENT_SIGN_IN_REQUIRED" });
    }
  });
});
