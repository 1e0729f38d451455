// Tests the types of events of third-party plugins: readers of the stream and webhooks choose them by name and by group.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createMember } from "../../tests/support/account-setup.ts";
import type { Client } from "../../tests/support/client.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { takeEvents } from "../../tests/support/sse.ts";
import { plugin } from "../kernel/plugin.ts";

const harbour = (eventTypes: readonly string[]) => plugin("harbour", () => ({ service: undefined, eventTypes }));

let server: TestServer;
let ada: Client;
let userId: string;
beforeAll(async () => {
  server = await openServer({
    plugins: [harbour(["tide.entered", "tide.removed"])],
    env: { OUTBOUND_ALLOW: "127.0.0.1/32" },
  });
  ({ client: ada, id: userId } = await createMember(server));
});
afterAll(() => server?.[Symbol.asyncDispose]());

test("the stream can be narrowed to them", async () => {
  const { events, database } = server.kernel;
  await database.write(
    ["tide.entered", "agent.status", "tide.removed"].map((type) => events.recordStatement(type, { userId, data: {} })),
  );
  const typesOf = async (types: string, count: number) =>
    (await takeEvents(ada, `/api/events?lastEventId=0&types=${types}`, count)).map(({ event }) => event);
  expect(await typesOf("tide.removed", 1)).toEqual(["tide.removed"]);
  expect(await typesOf("tide.*", 2)).toEqual(["tide.entered", "tide.removed"]);
});

test("a webhook can name them; another name is refused with the list", async () => {
  const url = "http://127.0.0.1:9/tides";
  const created = await ada.post("/api/webhooks", { url, types: ["tide.entered", "tide.*"] });
  expect(created).toMatchObject({ status: 201, body: { types: ["tide.entered", "tide.*"] } });
  const refused = await ada.post<{ message: string }>("/api/webhooks", { url, types: ["tide.lowered"] });
  expect(refused.status).toBe(400);
  expect(refused.body.message).toContain("tide.entered, tide.removed");
});

test("the API document lists them", async () => {
  const document = await (await fetch(`${server.web}/swagger/json`)).text();
  expect(document).toContain('","tide.entered","tide.removed"]');
});

test("a name that is no noun and verb stops the start", async () => {
  await expect(openServer({ plugins: [harbour(["Tide"])] })).rejects.toThrow(
    "The plugin harbour can't be set up: the event type Tide is not a noun and a verb, such as tide.entered.",
  );
});
