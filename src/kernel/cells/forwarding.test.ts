// Tests that only an answer of this process can send a request on.
import { expect, test } from "bun:test";
import { decodeForwarding, elsewhereOf, elsewhereResponse, encodeForwarding, FORWARDING_HEADER } from "./forwarding.ts";

test("the answer of a cell names the other one, and keeps what was learned and the body", async () => {
  const response = elsewhereResponse(3, { isPlaced: true, learned: { a: "ü" } }, '{"email":"a"}');
  expect(elsewhereOf(response)).toBe(3);
  expect(decodeForwarding(response.headers.get(FORWARDING_HEADER) ?? "")).toEqual({
    isPlaced: true,
    learned: { a: "ü" },
  });
  expect(await response.text()).toBe('{"email":"a"}');
});

test("an answer of somebody else that is passed on sends nothing on, and loses such headers", () => {
  for (const value of ["1", "1 ", `1 ${crypto.randomUUID()}`, ""]) {
    const headers = { "x-berth-elsewhere": value, "x-berth-forwarding": encodeForwarding({ learned: { admin: {} } }) };
    const response = new Response("a model's answer", { headers });
    expect(elsewhereOf(response)).toBeUndefined();
    expect([...response.headers.keys()].filter((name) => name.startsWith("x-berth"))).toEqual([]);
  }
});
