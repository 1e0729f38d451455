// Schema types of answers. Elysia's own `t.Integer` also reads numbers from text, which an answer has none of; with one of them anywhere
// in a schema, Elysia walks through every value of the answer instead of checking it by compiled code.
import { Type } from "@sinclair/typebox";

/** A whole number in an answer. */
export const integer = Type.Integer;
