// Tests the validation of tool input: valid input, problems, and malformed schemas.
import { describe, expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import { validateInput } from "./input-validation.ts";

const person = t.Object({
  name: t.String({ minLength: 2, maxLength: 5 }),
  age: t.Optional(t.Integer({ minimum: 0 })),
  kind: t.Optional(t.Union([t.Literal("a"), t.Literal("b")])),
  tags: t.Optional(t.Array(t.String(), { maxItems: 2 })),
});

test("valid input is returned unchanged", () => {
  const input = { name: "Ada", age: 36, kind: "b", tags: ["x"], more: 1 };
  expect(validateInput(person, input)).toEqual({ value: input });
});

test("null for an optional property is dropped", () => {
  expect(validateInput(person, { name: "Ada", age: null, kind: null })).toEqual({ value: { name: "Ada" } });
  expect(validateInput(person, { name: null })).toEqual({ problems: ["name: must be string"] });
  const nullable = { type: "object", properties: { note: { type: ["string", "null"] } } };
  expect(validateInput(nullable, { note: null })).toEqual({ value: { note: null } });
});

test("missing input is an empty object", () => {
  expect(validateInput({ type: "object" }, undefined)).toEqual({ value: {} });
});

describe("names the problem", () => {
  test.each<[unknown, string]>([
    ["text", "input: must be object"],
    [[], "input: must be object"],
    [{}, "name: is missing"],
    [{ name: "A" }, "name: must have at least 2 characters"],
    [{ name: "Adalbert" }, "name: must have at most 5 characters"],
    [{ name: "Ada", age: "36" }, "age: must be integer"],
    [{ name: "Ada", age: 1.5 }, "age: must be integer"],
    [{ name: "Ada", age: -1 }, "age: must be at least 0"],
    [{ name: "Ada", kind: "c" }, 'kind: must be one of: "a", "b"'],
    [{ name: "Ada", tags: ["x", 1] }, "tags[1]: must be string"],
    [{ name: "Ada", tags: ["x", "y", "z"] }, "tags: must have at most 2 items"],
  ])("%j: %s", (input, problem) => {
    expect(validateInput(person, input)).toEqual({ problems: [problem] });
  });

  test("of unknown properties, where none are allowed", () => {
    const strict = { type: "object", properties: {}, additionalProperties: false };
    const input = JSON.parse('{ "__proto__": 1, "constructor": 2 }');
    expect(validateInput(strict, input)).toEqual({
      problems: ["__proto__: is not known", "constructor: is not known"],
    });
  });

  test("in nested objects, and at most five at once", () => {
    const schema = { type: "object", additionalProperties: { type: "object", required: ["x"] } };
    expect(validateInput(schema, { a: {} })).toEqual({ problems: ["a.x: is missing"] });
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, 1]));
    const checked = validateInput(schema, many);
    expect("problems" in checked && checked.problems.length).toBe(5);
  });
});

test("a malformed schema can't make it throw, hang, or run a regular expression", () => {
  const odd = {
    type: "object",
    required: "x",
    properties: { a: { $ref: "#" }, b: { pattern: "^(a+)+$" }, c: 7, d: { enum: "x" }, e: { type: "unheard-of" } },
  };
  expect(validateInput(odd, { a: {}, b: `${"a".repeat(50)}!`, c: 1, d: 2 })).toHaveProperty("value");
  expect(validateInput(odd, { e: 1 })).toHaveProperty("problems");
});
