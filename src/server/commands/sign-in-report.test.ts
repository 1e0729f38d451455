// What `berth doctor` says about the providers of sign-in, and about their settings.
import { describe, expect, test } from "bun:test";
import { testedBlocks } from "../../../site/tested-blocks.ts";
import { startOidc } from "../../../tests/support/oidc.ts";
import { oidcEnv } from "../../../tests/support/openid-pair.ts";
import { loadConfig } from "../../kernel/config/config.ts";
import { doctorReport } from "../doctor.ts";
import { allSettings } from "../settings.ts";
import { signInReport } from "./sign-in-report.ts";

const configOf = (env: Record<string, string>) => loadConfig(env, { settings: allSettings, dotenv: false });
const complete = (prefix: string, more: Record<string, string> = {}) => ({
  [`${prefix}_ISSUER`]: "https://id.example",
  [`${prefix}_CLIENT_ID`]: "berth",
  [`${prefix}_CLIENT_SECRET`]: "canary-secret",
  ...Object.fromEntries(Object.entries(more).map(([name, value]) => [`${prefix}_${name}`, value])),
});
const doctor = (env: Record<string, string>, all = false) => doctorReport(env, "/tmp", { dotenv: false, all }).text;

describe("the providers", () => {
  test("are asked for their metadata; one that is down or names another issuer is a warning", async () => {
    await using harbour = await startOidc([]);
    await using other = await startOidc([], { issuer: () => "http://127.0.0.1:1/another" });
    await using gone = await startOidc([]);
    gone.trouble.set("/.well-known/openid-configuration", "down");
    const report = await signInReport(
      configOf({
        BASE_URL: "https://berth.example",
        ...oidcEnv("OIDC", harbour, "Harbour ID"),
        ...oidcEnv("OIDC_2", other, "Marina"),
        ...oidcEnv("OIDC_3", gone, "Lighthouse"),
      }),
    );
    const [shown] = testedBlocks(import.meta.path, "docs/sign-in.md", 1);
    expect(report.split("\n")).toEqual([
      ...shown.code.split("\n"),
      "! Sign-in with Lighthouse (OIDC_3_ISSUER): the provider can't be used now: discovery: OAUTH_RESPONSE_IS_NOT_CONFORM.",
      "",
    ]);
  });

  test("are not mentioned if there are none", async () => {
    expect(await signInReport(configOf({}))).toBe("");
  });
});

describe("the settings", () => {
  test("of further providers are shown where they are set, with their secrets masked", () => {
    const text = doctor(complete("OIDC_4"));
    expect(text).toMatch(/OIDC_4_ISSUER +environment +https:\/\/id\.example/);
    expect(text).toMatch(/OIDC_4_CLIENT_SECRET +environment +\*\*\*/);
    expect(text).not.toContain("canary-secret");
    expect(doctor({}, true)).toContain("OIDC_ADMIN_GROUPS");
    expect(doctor({}, true)).not.toContain("OIDC_2_");
  });

  test.each<[string, Record<string, string>, string]>([
    ["a half of a client", { OIDC_2_CLIENT_ID: "berth" }, "OIDC_2_CLIENT_ID: is set without OIDC_2_CLIENT_SECRET"],
    [
      "groups without a client",
      { OIDC_3_ADMIN_GROUPS: "admins" },
      "OIDC_3_ADMIN_GROUPS: is set without OIDC_3_CLIENT_ID",
    ],
    [
      "two buttons of one name",
      { ...complete("OIDC"), ...complete("OIDC_2") },
      "OIDC_2_NAME: is the name of another provider too",
    ],
    ["an issuer without TLS", complete("OIDC", { ISSUER: "http://id.example" }), "OIDC_ISSUER: is not https"],
    ["a name that no setting has", { OIDC_2_CLIENT_IDD: "x" }, "Did you mean OIDC_2_CLIENT_ID?"],
  ])("warn of %s", (_, env, finding) => {
    expect(doctor(env)).toContain(`! ${finding}`.replace("! Did", "Did"));
  });

  test.each<[string, string]>([
    ["OIDC_2_SCOPES", "email profile"],
    ["OIDC_SCOPES", 'openid "email"'],
    ["OIDC_ADMIN_GROUPS", '["admins", 7]'],
    ["OIDC_ADMIN_GROUPS", '["admins"'],
    ["OIDC_TRUST_EMAIL", "yes"],
    ["OIDC_9_ISSUER", "id.example"],
  ])("refuse %s=%s", (name, value) => {
    expect(doctor({ [name]: value })).toContain(`✗ ${name}: found`);
  });
});
