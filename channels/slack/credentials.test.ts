import { describe, expect, test } from "bun:test";
import { tokensFor } from "../../tests/support/slack.ts";
import { writeCredentials } from "../shared/credential-text.ts";
import { appIdOf, CREDENTIAL_FIELDS, readTokens } from "./credentials.ts";

const { botToken, appToken } = tokensFor("A0B1C2D3E4");
const problemOf = (name: string, value: string) =>
  CREDENTIAL_FIELDS.find((field) => field.name === name)?.findProblem(value)?.code;

test("whole tokens have no problem", () => {
  expect(problemOf("botToken", botToken)).toBeUndefined();
  expect(problemOf("appToken", appToken)).toBeUndefined();
});

test.each([
  ["botToken", "x", "incomplete"],
  ["botToken", "xoxb-12", "incomplete"],
  ["botToken", botToken.slice(0, 20), "incomplete"],
  ["botToken", "hello", "start"],
  ["botToken", "my token", "spaces"],
  ["botToken", "xoxb-ä", "characters"],
  ["botToken", appToken, "other_field"],
  ["appToken", botToken, "other_field"],
  ["botToken", "xoxp-1-2-3", "invalid"],
  ["botToken", "xoxe.xoxb-1-2", "invalid"],
  ["botToken", "0123456789abcdef0123456789abcdef", "client_secret"],
  ["appToken", "A0B1C2D3E4", "id"],
  ["appToken", appToken.slice(0, 16), "incomplete"],
] as const)("%s %s: %s", (name, value, code) => {
  expect(problemOf(name, value)).toBe(code);
});

describe("the tokens of a text", () => {
  test("are read from what is stored", () => {
    expect(readTokens(writeCredentials(CREDENTIAL_FIELDS, { botToken, appToken }))).toEqual({ botToken, appToken });
    expect(appIdOf(appToken)).toBe("A0B1C2D3E4");
    expect(appIdOf("xapp-2")).toBeUndefined();
  });

  test.each([
    "",
    "xoxb-1-2-3",
    "{}",
    JSON.stringify({ botToken }),
    JSON.stringify({ botToken: `${botToken}\r\nx: y`, appToken }),
  ])("%j has none", (text) => {
    expect(() => readTokens(text)).toThrow("two tokens of a Slack app");
  });
});
