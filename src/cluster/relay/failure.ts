// Answers with an error as the surfaces do, for a node that has none now.
import { errorBody } from "../../kernel/error-body.ts";
import type { AppError } from "../../kernel/errors.ts";
import { createRequestId } from "../../kernel/http/request-context.ts";

export function failure(error: AppError): Response {
  const { status, body } = errorBody(error);
  const headers = new Headers({ "x-request-id": createRequestId(), "x-content-type-options": "nosniff" });
  if (status === 503) headers.set("retry-after", "3");
  return Response.json(body, { status, headers });
}
