// Checks the format that every error response must have.

import { expect } from "bun:test";

export interface ErrorBody {
  error: string;
  message: string;
  code: string;
  issues?: { path: string; message: string }[];
  current?: number;
  limit?: number;
}

/** Text that no response may contain: exceptions, SQL, stack traces, local paths, names of libraries. */
const INTERNALS =
  /\bat \S+[:(]|SQLITE|\bSELECT\b|node_modules|\$bunfs|\/(?:work|tmp|root|home)\/|\.ts\b|elysia|typebox|TypeError|SyntaxError|JSON Parse|undefined is not|"on":"/i;

/**
 * Expects an error response: this status, a JSON body with `error`, `message` and `code`, a request id, no internals. Returns the
 * body; of an error under /v1 in the form of OpenAI or Anthropic, what it says.
 */
export function expectRefusal(
  answer: { status: number; headers: Headers; text?: string; body: unknown },
  status: number,
  code?: string,
): ErrorBody {
  const text = answer.text ?? String(answer.body);
  expect({ status: answer.status, text }).toEqual({ status, text });
  expect(answer.headers.get("content-type")).toStartWith("application/json");
  expect(answer.headers.get("x-request-id")).toMatch(/^[\w-]{4,64}$/);
  expect(text).not.toMatch(INTERNALS);
  const body = errorIn(JSON.parse(text));
  expect(body.error).toMatch(/\S/);
  expect(body.message).toBe(body.error);
  expect(body.code).toMatch(/^[A-Z][A-Z0-9_]*$/);
  if (code !== undefined) expect(body.code).toBe(code);
  return body;
}

type OtherError = { error: Omit<ErrorBody, "error"> & { type: string } };

function errorIn(body: ErrorBody | OtherError): ErrorBody {
  if (!isOfOthers(body)) return body;
  const { error } = body;
  const isAnthropic = "type" in body;
  expect(Object.keys(body)).toEqual(isAnthropic ? ["type", "error", "request_id"] : ["error"]);
  expect(error.type).toMatch(/^[a-z_]+$/);
  if (!isAnthropic) expect(error).toHaveProperty("param");
  return { ...error, error: error.message };
}

const isOfOthers = (body: ErrorBody | OtherError): body is OtherError => typeof body.error === "object";
