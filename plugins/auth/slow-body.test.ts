// Slow request bodies: authentication is checked again once the body has arrived.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { type Client, createClient } from "../../tests/support/client.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";

let server: TestServer;
let ada: Client;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

/** Sends the head, runs `meanwhile`, waits, then sends the body; resolves with the status code. */
async function sendSlowly(
  path: string,
  credential: string,
  body: string,
  meanwhile: () => Promise<unknown>,
): Promise<number> {
  const { hostname, port } = new URL(server.web);
  const socket = connect(Number(port), hostname);
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const answer = new Promise<string>((resolve, reject) => {
    socket.once("data", (data) => resolve(String(data)));
    socket.once("error", reject);
  });
  socket.write(`${head}\r\n${credential}\r\n\r\n${body.slice(0, 3)}`);
  // Fixed delays, since slowness is the subject: first the head is authenticated, then the credential changes.
  await Bun.sleep(100);
  await meanwhile();
  await Bun.sleep(300);
  socket.write(body.slice(3));
  const status = Number((await answer).split(" ")[1]);
  socket.destroy();
  return status;
}

test("a session that ends before the body arrives creates no key, one that lasts does", async () => {
  ada = createClient(server.web);
  await ada.join();
  const cookie = `Cookie: ${ada.cookie}`;
  expect(await sendSlowly("/api/keys", cookie, '{"name":"slow"}', async () => undefined)).toBe(201);
  expect(await sendSlowly("/api/keys", cookie, '{"name":"stolen"}', () => ada.signOut())).toBe(401);
  await ada.signIn();
  expect((await ada.get<{ count: number }>("/api/keys")).body.count).toBe(1);
});

test("an API key that is revoked before the body arrives changes nothing", async () => {
  const { body } = await ada.post<{ id: string; key: string }>("/api/keys", { name: "soon gone" });
  const revoke = () => ada.delete(`/api/keys/${body.id}`);
  const bearer = `Authorization: Bearer ${body.key}`;
  expect(await sendSlowly("/api/settings", bearer, '{"name":"Mallory"}', revoke)).toBe(401);
  expect((await ada.get<{ name: string }>("/api/settings")).body.name).not.toBe("Mallory");
});
