// Tests the end of a visitor's token, and that its parts can't be exchanged.
import { expect, test } from "bun:test";
import { createVault } from "../../src/kernel/security/vault.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { createVisitorTokens } from "./visitor-tokens.ts";

const vault = createVault({ key: "root-key-0123456789abcdef-0123456789" });
const START = 1_800_000_000_000;
const at = (now: number) => createVisitorTokens(vault, () => now);
const SITE = "https://shop.example.com";

test("a token is valid for 30 days", () => {
  const visitor = at(START).readVisitor(undefined, "agent", SITE);
  expect(visitor.isReturning).toBe(false);
  const token = at(START).issue(visitor, "agent", SITE);
  expect(at(START + 30 * DAY - 1_000).readVisitor(token, "agent", SITE)).toEqual({ id: visitor.id, isReturning: true });
  const late = at(START + 30 * DAY + 1_000).readVisitor(token, "agent", SITE);
  expect(late.isReturning).toBe(false);
  expect(late.id).not.toBe(visitor.id);
});

test("a token with another id, another end, or of another root key is not valid", () => {
  const tokens = at(START);
  const token = tokens.issue({ id: "A".repeat(22), isReturning: true }, "agent", SITE);
  const [id = "", end = "", mac = ""] = token.split(".");
  const others = [
    [`B${id.slice(1)}`, end, mac],
    [id, String(Number(end) + 1), mac],
    [id, end, `B${mac.slice(1)}`],
    [id, end],
  ].map((parts) => parts.join("."));
  for (const other of [...others, "", "..", "x".repeat(200)]) {
    expect({ other, known: tokens.readVisitor(other, "agent", SITE).isReturning }).toEqual({ other, known: false });
  }
  expect(tokens.readVisitor(token, "agent 2", SITE).isReturning).toBe(false);
  expect(tokens.readVisitor(token, "agent", `${SITE}:8443`).isReturning).toBe(false);
  expect(tokens.readVisitor(token, "agent", SITE).isReturning).toBe(true);
});
