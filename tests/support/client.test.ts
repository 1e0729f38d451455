import { afterAll, expect, test } from "bun:test";
import { createClient } from "./client.ts";
import { eventually } from "./eventually.ts";
import { rawRequest } from "./raw.ts";

let gone = 0;
const server = Bun.serve({
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const cookie = request.headers.get("cookie");
    if (pathname === "/api/register") {
      const { email, name } = (await request.json()) as { email: string; name: string };
      return Response.json({ id: "u1", email, name }, { status: 201 });
    }
    if (pathname === "/api/auth/callback/credentials") {
      return Response.json({ ok: true }, { headers: { "set-cookie": "berth_session=abc; HttpOnly; Path=/" } });
    }
    if (pathname === "/api/auth/signout") {
      return Response.json({ ok: true }, { headers: { "set-cookie": "berth_session=; Max-Age=0; Path=/" } });
    }
    if (pathname === "/stream") {
      const encoder = new TextEncoder();
      const parts = ["event: delta\nid: 1\nda", 'ta: {"a":\ndata: 1}\n\n: ping\n\ndata: é', "\r\n\r\n", "data: open"];
      let next = 0;
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          const part = parts[next++];
          if (part) controller.enqueue(encoder.encode(part));
          else if (request.method === "GET") controller.close();
          else return new Promise<never>(() => undefined);
        },
        cancel() {
          gone += 1;
        },
      });
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    }
    const seen = { method: request.method, url: request.url, cookie, body: await request.text() };
    return Response.json(seen, { status: pathname === "/teapot" ? 418 : 200 });
  },
});
afterAll(() => server.stop(true));
const origin = server.url.origin;

test("keeps one user's cookie from sign-up to sign-out", async () => {
  const client = createClient(origin);
  expect(await client.join({ name: "Bo" })).toBe("u1");
  expect(client.account).toMatchObject({ name: "Bo", email: expect.stringMatching(/^user-.*@example\.com$/) });
  expect(client.cookie).toBe("berth_session=abc");
  const { body } = await client.post<{ cookie: string; body: string }>("/echo", { a: 1 });
  expect(body).toMatchObject({ method: "POST", cookie: "berth_session=abc", body: '{"a":1}' });
  await client.signOut();
  expect((await client.get<{ cookie: null }>("/echo")).body.cookie).toBeNull();
});

test("returns every status and throws for none", async () => {
  const { status, body } = await createClient(origin).delete("/teapot");
  expect(status).toBe(418);
  expect(body).toMatchObject({ method: "DELETE", body: "" });
});

test("reads server-sent events however their bytes are split", async () => {
  const events = await Array.fromAsync(createClient(origin).sse("/stream"));
  expect(events).toEqual([
    { event: "delta", id: "1", data: '{"a":\n1}' },
    { event: "message", data: "é" },
  ]);
});

test("closes the connection when the loop over events ends early", async () => {
  for await (const _ of createClient(origin).sse("/stream", {})) break;
  await eventually(() => gone > 0, { what: "the server saw the client go" });
  expect(gone).toBe(1);
});

test("sends raw requests byte for byte", async () => {
  const answer = await rawRequest(origin, { path: "/a%2Fb/../c%00", method: "PUT", body: "{" });
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.body)).toMatchObject({ method: "PUT", body: "{" });
  expect((await rawRequest(origin, "NONSENSE\r\n\r\n")).status).toBe(400);
  const chunked = await rawRequest(origin, { path: "/stream" });
  expect(chunked.body).toStartWith("event: delta");
  expect(chunked.body).toEndWith("data: open");
});
