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
    expect(messages({ name: "a", approvals: {}, modle: "b", purple: 1 })).toEqual([
      'approvals: This was ignored: it belongs into "config".',
      'modle: This was ignored: there is no such field here. Is "model" meant?',
      "purple: This was ignored: there is no such field here.",
    ]);
  });

  test("is named also if nothing tells what is meant", () => {
    expect(messages({ name: "a", purple: 1 })).toEqual(["purple: This was ignored: there is no such field here."]);
    expect(messages({ name: "a", md: 1, constructor: 1 })).toHaveLength(2);
  });

  test("is not named if the answer has it, such as an id that a client sends back", () => {
    const item = t.Object({ id: t.String(), createdAt: t.String(), owner: t.Object({ email: t.String() }) });
    const answers = [
      { 201: item },
      { 200: t.Object({ items: t.Array(item), count: t.Number() }) },
      { 200: t.Union([t.Object({ item }), t.Null()]) },
      item,
    ];
    for (const answer of answers) {
      const found = createIgnoredFieldFinder(t.Object({ name: t.String() }), answer);
      expect(found?.({ id: "1", createdAt: "now" })).toBeUndefined();
      expect(found?.({ id: "1", purple: 1 })).toEqual([
        { path: "purple", message: "This was ignored: there is no such field here." },
      ]);
    }
    const refusing = createIgnoredFieldFinder(t.Object({ name: t.String() }), { 400: item });
    expect(refusing?.({ owner: "Ada" })).toHaveLength(1);
  });

  test("is not named if all resources have it, nor with a name too long to be one", () => {
    expect(messages({ name: "a", id: 1, createdAt: 1, updatedAt: 1, ["x".repeat(500)]: 1 })).toBeUndefined();
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
