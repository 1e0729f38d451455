// How often somebody may provision: counted once, on whichever surface they ask.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, createClient } from "../../tests/support/client.ts";
import { type House, openHouse } from "../../tests/support/house.ts";

let house: House;
let key: string;
beforeAll(async () => {
  house = await openHouse({ env: { RATE_LIMITS: '{"provision":"2/h"}' } });
  const ada = createClient(house.web);
  await ada.join();
  key = (await ada.post<{ key: string }>("/api/keys", { name: "hers" })).body.key;
});
afterAll(() => house?.[Symbol.asyncDispose]());

/** Asks for nothing that could be made: it counts all the same. */
const ask = async (by: Client) => {
  const headers = { authorization: `Bearer ${key}` };
  const { status, body } = await by.post<{ code: string }>("/api/provision", {}, { headers });
  return `${status} ${body.code}`;
};

test("with a key straight from the backend too, by the same count as on the web", async () => {
  const [web, backend] = [createClient(house.web), createClient(house.backend)];
  expect(await ask(web)).toBe("400 CHANNEL_TOKEN_REQUIRED");
  expect(await ask(backend)).toBe("400 CHANNEL_TOKEN_REQUIRED");
  expect([await ask(backend), await ask(web)]).toEqual(["429 RATE_LIMITED", "429 RATE_LIMITED"]);
});
