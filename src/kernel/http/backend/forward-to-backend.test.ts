// Tests what is sent on to the backend, and what of its response reaches the caller.
import { expect, test } from "bun:test";
import { attachContext } from "../request-context.ts";
import { forwardToBackend } from "./forward-to-backend.ts";

const grant = { userId: "u", isAdmin: false, action: "agent.change", address: "127.0.0.1" };

async function forward(method: string, bodyText?: string) {
  const request = new Request("http://localhost/api/agents/a", { method });
  const context = { id: "1", address: "127.0.0.1", socketAddress: "127.0.0.1", cookies: [] };
  attachContext(request, { ...context, ...(bodyText !== undefined && { bodyText }) });
  const sent: { path: string; init: RequestInit }[] = [];
  const backend = {
    async fetch(_: typeof grant, path: string, init: RequestInit) {
      sent.push({ path, init });
      const headers = { "content-type": "text/plain", "retry-after": "5", "set-cookie": "a=b" };
      return new Response("busy", { status: 429, headers });
    },
  };
  const response = await forwardToBackend(backend, grant, request, "/api/agents/a", {
    responseHeaders: ({ status }) => (status === 429 ? ["retry-after", "ratelimit"] : []),
  });
  return { sent, response };
}

test("sends the method and the body byte for byte, with its length in bytes", async () => {
  const { sent } = await forward("PATCH", ' {"ü":1.0}');
  const headers = { "content-type": "application/json", "content-length": "11" };
  expect(sent).toEqual([{ path: "/api/agents/a", init: { method: "PATCH", body: ' {"ü":1.0}', headers } }]);
});

test.each(["GET", "DELETE"])("sends no body with %s", async (method) => {
  const { sent } = await forward(method);
  expect(sent).toEqual([{ path: "/api/agents/a", init: { method, headers: {} } }]);
});

test("answers with the backend's status, type and body, and with the named headers only", async () => {
  const { response } = await forward("GET");
  expect({ status: response.status, text: await response.text() }).toEqual({ status: 429, text: "busy" });
  expect(Object.fromEntries(response.headers)).toEqual({ "content-type": "text/plain", "retry-after": "5" });
});
