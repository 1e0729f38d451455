// Tests that the body of a call within this process is the same bytes for the one who reads it.
import { expect, test } from "bun:test";
import { attachContext } from "../request-context.ts";
import { requestWithin } from "./body-within.ts";
import { MAX_BODY_BYTES, readFileBody } from "./json-body.ts";

const context = (maxBodyBytes?: number) => ({
  ...{ id: "1", address: "", socketAddress: "", cookies: [] },
  ...(maxBodyBytes !== undefined && { maxBodyBytes }),
});
const post = (body: Uint8Array<ArrayBuffer>) => requestWithin("http://localhost/", { method: "POST" }, body);

test("it is handed over, and not copied", async () => {
  const bytes = new Uint8Array(3 * MAX_BODY_BYTES);
  const request = post(bytes);
  const kept: { bodyBytes?: Uint8Array<ArrayBuffer> } & ReturnType<typeof context> = context(bytes.length);
  attachContext(request, kept);
  await readFileBody({ request });
  expect(kept.bodyBytes).toBe(bytes);
});

test("it has the limits of its route", () => {
  const request = post(new Uint8Array(MAX_BODY_BYTES + 1));
  attachContext(request, context());
  expect(readFileBody({ request })).rejects.toMatchObject({ status: 413, code: "BODY_TOO_LARGE" });
});
