// Showing once more who it is: the password where there is one, else a sign-in of the last ten minutes.
import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import { unauthorized } from "../../../src/kernel/errors.ts";
import type { SessionIdentity } from "../identity.ts";
import { createReauthenticate } from "./reauthentication.ts";
import type { SignIn } from "./sign-in.ts";

const MINUTE = 60_000;
afterEach(() => setSystemTime());

/** What was compared with whose hash, and from where. */
const checks: unknown[] = [];
const checkPassword: SignIn["checkPassword"] = async (email, user, password, address) => {
  checks.push({ email, hash: user?.passwordHash, password, address });
  if (!user || password !== "right") throw unauthorized("wrong");
  return user;
};
const confirm = createReauthenticate({ checkPassword });

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
const outcome = (...args: Parameters<typeof confirm>) =>
  confirm(...args).then<unknown, unknown>(
    () => "confirmed",
    ({ status, code, extras }) => ({ status, code, path: extras.issues?.[0]?.path }),
  );

describe("with a password", () => {
  test("the right one does, however old the session", async () => {
    checks.length = 0;
    expect(await outcome(owner("hash", 1_000 * MINUTE), "right", "203.0.113.9")).toBe("confirmed");
    expect(checks).toEqual([{ email: "ada@example.com", hash: "hash", password: "right", address: "203.0.113.9" }]);
  });

  test("a wrong one does not, however young the session", async () => {
    expect(await outcome(owner("hash"), "wrong", "")).toMatchObject({ status: 401 });
  });

  test.each([undefined, ""])("%j is 400, names the field, and is no guess", async (none) => {
    checks.length = 0;
    expect(await outcome(owner("hash"), none, "")).toMatchObject({ status: 400, path: "password" });
    expect(await outcome(owner("hash"), none, "", { field: "currentPassword" })).toMatchObject({
      path: "currentPassword",
    });
    expect(checks).toEqual([]);
  });
});

describe("with a password, where a sign-in of the last ten minutes will do", () => {
  const allowRecent = { allowRecentSignIn: true };

  test("a young session does without it, an old one does with it", async () => {
    for (const none of [undefined, ""]) {
      expect(await outcome(owner("hash", 10 * MINUTE - 1_000), none, "", allowRecent)).toBe("confirmed");
      const old = await outcome(owner("hash", 10 * MINUTE + 1_000), none, "", allowRecent);
      expect(old).toMatchObject({ status: 403, code: "RECENT_SIGN_IN_REQUIRED" });
    }
    expect(await outcome(owner("hash", 1_000 * MINUTE), "right", "", allowRecent)).toBe("confirmed");
  });

  test("a wrong one does not, however young the session", async () => {
    expect(await outcome(owner("hash"), "wrong", "", allowRecent)).toMatchObject({ status: 401 });
  });
});

describe("without one", () => {
  test("a session of the last ten minutes does, an older one does not, whatever is given", async () => {
    for (const given of [undefined, "", "right"]) {
      expect(await outcome(owner(null, 10 * MINUTE - 1_000), given, "")).toBe("confirmed");
      const old = await outcome(owner(null, 10 * MINUTE + 1_000), given, "");
      expect(old).toMatchObject({ status: 403, code: "RECENT_SIGN_IN_REQUIRED" });
    }
  });
});
