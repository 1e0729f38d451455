// Schema types of answers. Elysia's own `t.Integer` also reads numbers from text, which an answer has none of; with one of them anywhere
// in a schema, Elysia walks through every value of the answer instead of checking it by compiled code.
import { Type } from "@sinclair/typebox";

/** A whole number in an answer. */
export const integer = Type.Integer;

/** In the query of a list. */
export const cursor = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 100,
    description: "The `nextCursor` of the page before",
    error: "Give the nextCursor of the page before, or leave it out.",
  }),
);
/** In the answer of a list. */
export const nextCursor = Type.Union([Type.String({ description: "For the next page" }), Type.Null()]);
