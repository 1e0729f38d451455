// Fields in the wrong place or misspelt: which are named, what is said about them, and where the warnings go.
import { describe, expect, test } from "bun:test";
import { t } from "elysia";
import { documentedAs } from "../openapi/schema-simplifier.ts";
import { createIgnoredFieldFinder, withWarnings } from "./ignored-fields.ts";

const find = createIgnoredFieldFinder(
  t.Object({
    name: t.String(),
    model: t.Optional(t.String()),
    config: t.Any(documentedAs({ type: "object", properties: { approvals: { type: "object" } } })),
  }),
);
const messages = (body: unknown) => find?.(body)?.map(({ path, message }) => `${path}: ${message}`);

describe("a field that the route does not know", () => {
  test("is named, with the place where it belongs or the name that is meant", () => {
    expect(messages({ name: "a", approvals: {}, modle: "b", purple: 1, ["__proto__"]: 2 })).toEqual([
      'approvals: This was ignored: it belongs into "config".',
      'modle: This was ignored: there is no such field here. Is "model" meant?',
    ]);
  });

  test("is not named if nothing tells what is meant, such as an id that a client sends back", () => {
    for (const body of [{ id: "1", createdAt: "now" }, { constructor: 1 }, { ["x".repeat(500)]: 1 }, { md: 1 }]) {
      expect(messages(body)).toBeUndefined();
    }
  });

  test("is one of twenty at most", () => {
    const letters = "abcdefghijklmnopqrstuvwxyz".split("");
    const found = find?.(Object.fromEntries(letters.map((letter) => [`model${letter}`, 1]))) ?? [];
    expect(found).toHaveLength(20);
  });

  test("does not exist where all are known, nor for a body that is no object, nor for a route that takes any field", () => {
    for (const body of [{ name: "a" }, {}, null, [1], "name", 5]) expect(find?.(body)).toBeUndefined();
    expect(createIgnoredFieldFinder(undefined)).toBeUndefined();
    expect(createIgnoredFieldFinder(t.Any())).toBeUndefined();
    expect(createIgnoredFieldFinder(t.Object({ a: t.String() }, { additionalProperties: true }))).toBeUndefined();
  });
});

describe("the warnings", () => {
  const warnings = [{ path: "a", message: "ignored" }];
  const json = (text: string, status = 200) =>
    new Response(text, { status, headers: { "content-type": "application/json", "x-other": "kept" } });
  const answer = async (response: Response) => (await withWarnings(response, warnings)).text();

  test("are added to an object, whose text stays as it is", async () => {
    expect(await answer(json('{"config":{ "b":1.0,"a":1}}'))).toBe(
      '{"config":{ "b":1.0,"a":1},"warnings":[{"path":"a","message":"ignored"}]}',
    );
    expect(JSON.parse(await answer(json("{}")))).toEqual({ warnings });
    expect((await withWarnings(json("{}"), warnings)).headers.get("x-other")).toBe("kept");
  });

  test("are added to others, each path once", async () => {
    const known = { path: "config.b", message: "no effect" };
    expect(JSON.parse(await answer(json(JSON.stringify({ warnings: [known] }))))).toEqual({
      warnings: [known, ...warnings],
    });
    expect(JSON.parse(await answer(json(JSON.stringify({ warnings }))))).toEqual({ warnings });
  });

  test("leave errors, lists and other types alone", async () => {
    for (const response of [json('{"error":"x"}', 400), json("[1]"), json('{"warnings":3}'), new Response("{}")]) {
      const text = await response.clone().text();
      expect(await answer(response)).toBe(text);
    }
  });
});
