// Tests how long a listener keeps connections, and what it answers without a surface.
import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import type { Surface } from "../../kernel/http/surface.ts";
import { bind, type Listener } from "./listener.ts";

const listeners: Listener[] = [];
afterAll(() => Promise.all(listeners.map(({ server }) => server.stop(true))));

function listen(fetch?: Surface["fetch"]) {
  const listener = bind("PORT", "127.0.0.1", 0, { head: 4, idle: 4, stream: 40 });
  listeners.push(listener);
  if (fetch) listener.open({ name: "web", fetch, handle: () => Promise.reject(new Error("not used")) });
  return listener;
}

/** Sends text and further text one byte per second. `closed` resolves with what arrived. */
function open({ server: { port = 0 } }: Listener, text: string, drip = "") {
  let received = "";
  const socket = connect(port, "127.0.0.1", () => socket.write(text));
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < drip.length) socket.write(drip.charAt(sent++));
  }, 1_000);
  socket.on("data", (data) => {
    received += data;
  });
  socket.on("error", () => undefined);
  const closed = new Promise<string>((resolve) => {
    socket.on("close", () => {
      clearInterval(timer);
      resolve(received);
    });
  });
  return { closed, socket, received: () => received };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe("a connection", () => {
  test("is closed when it is idle or its head is slow, but not while a request is handled or a stream is silent", async () => {
    const idleAreClosed = Promise.withResolvers<void>();
    const listener = listen(async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/slow") {
        await idleAreClosed.promise;
        return new Response("at last");
      }
      if (pathname !== "/stream") return new Response("done");
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await idleAreClosed.promise;
          controller.enqueue(new TextEncoder().encode("data: at last\n\n"));
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    });
    const kept = [open(listener, get("/slow")), open(listener, get("/stream"))];
    const idle = [
      open(listener, ""),
      open(listener, "GET / HT"),
      open(listener, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", "x".repeat(60)),
      open(listener, get("/")),
      open(listener, `${get("/")}${get("/")}GET /`),
    ];
    const texts = await Promise.all(idle.map(({ closed }) => closed));
    expect(texts.map((text) => text.split("done").length - 1)).toEqual([0, 0, 0, 1, 2]);
    for (const { socket } of kept) expect(socket.destroyed).toBe(false);
    idleAreClosed.resolve();
    expect(await kept[0]?.closed).toContain("at last");
    kept[1]?.socket.end();
    expect(await kept[1]?.closed).toContain("at last");
  });
});

describe("a response without a surface", () => {
  test("has a request id: /healthz before the start is complete, and a failure of the surface", async () => {
    const [starting, failing] = [listen(), listen(() => Promise.reject(new Error("canary")))];
    const alive = await fetch(`${starting.address}/healthz`);
    const failed = await fetch(failing.address);
    expect([alive.status, failed.status]).toEqual([200, 500]);
    for (const { headers } of [alive, failed]) {
      expect(headers.get("x-request-id")).toMatch(/^[\w-]{4,64}$/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
    const text = await failed.text();
    expect(JSON.parse(text)).toMatchObject({ code: "INTERNAL" });
    expect(text).not.toContain("canary");
  });
});
