// Tests which requests are exempt from the default rate limit.
import { describe, expect, test } from "bun:test";
import { createSelfLimitedCheck } from "./self-limited-paths.ts";

const isSelfLimited = createSelfLimitedCheck("web", [
  { method: "POST", prefix: "/callbacks/" },
  { surface: "web", method: "GET", prefix: "/film/", deep: true },
  { surface: "backend", method: "GET", prefix: "/internal/" },
]);
const check = (method: string, url: string) => isSelfLimited(new Request(url, { method }));

describe("a request is exempt", () => {
  test.each([
    ["POST", "http://berth.example/callbacks/x"],
    ["POST", "https://berth.example:8443/callbacks/"],
    ["GET", "https://berth.example/film/one/2.ts"],
  ])("%s %s", (method, url) => expect(check(method, url)).toBe(true));
});

describe("a request is not exempt", () => {
  test.each([
    ["GET", "https://berth.example/callbacks/x"],
    ["POST", "https://berth.example/callbacks"],
    ["POST", "https://berth.example/x/callbacks/x"],
    ["POST", "https://berth.example/?/callbacks/x"],
    ["GET", "https://berth.example/film/one"],
    ["GET", "https://berth.example/internal/x"],
  ])("%s %s", (method, url) => expect(check(method, url)).toBe(false));
});
