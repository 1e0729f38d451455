// A request whose body takes its time: who may come in is decided by what holds when the body is there.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { type Client, createClient } from "../../tests/support/client.ts";
import { type House, openHouse } from "../../tests/support/house.ts";

let house: House;
let ada: Client;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house?.[Symbol.asyncDispose]());

/** Sends the head, does something, waits, then sends the body; gives the status line's code. */
async function slowly(path: string, who: string, body: string, meanwhile: () => Promise<unknown>): Promise<number> {
  const { hostname, port } = new URL(house.web);
  const socket = connect(Number(port), hostname);
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const answer = new Promise<string>((resolve, reject) => {
    socket.once("data", (data) => resolve(String(data)));
    socket.once("error", reject);
  });
  socket.write(`${head}\r\n${who}\r\n\r\n${body.slice(0, 3)}`);
  // Slowness is what is tested here: first the head is read and its sender let in, then something changes.
  await Bun.sleep(100);
  await meanwhile();
  await Bun.sleep(300);
  socket.write(body.slice(3));
  const status = Number((await answer).split(" ")[1]);
  socket.destroy();
  return status;
}

test("a session that ends meanwhile makes no key, one that goes on does", async () => {
  ada = createClient(house.web);
  await ada.join();
  const cookie = `Cookie: ${ada.cookie}`;
  expect(await slowly("/api/keys", cookie, '{"name":"slow"}', async () => undefined)).toBe(201);
  expect(await slowly("/api/keys", cookie, '{"name":"stolen"}', () => ada.signOut())).toBe(401);
  await ada.signIn();
  expect((await ada.get<{ count: number }>("/api/keys")).body.count).toBe(1);
});

test("an API key that is revoked meanwhile changes nothing", async () => {
  const { body } = await ada.post<{ id: string; key: string }>("/api/keys", { name: "soon gone" });
  const revoke = () => ada.delete(`/api/keys/${body.id}`);
  const bearer = `Authorization: Bearer ${body.key}`;
  expect(await slowly("/api/settings", bearer, '{"name":"Mallory"}', revoke)).toBe(401);
  expect((await ada.get<{ name: string }>("/api/settings")).body.name).not.toBe("Mallory");
});
