// The committed types are those of the API.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { OpenApiDocument } from "../../src/kernel/http/openapi/document.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { apiTypes, typesPath } from "./build/api-types.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

test("src/api-types.ts is made from the API document; if not: bun packages/client/build/api-types.ts", async () => {
  const document = (await (await fetch(`${server.web}/swagger/json`)).json()) as OpenApiDocument;
  expect(readFileSync(typesPath, "utf8")).toBe(apiTypes(document));
});
