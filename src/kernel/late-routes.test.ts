import { expect, test } from "bun:test";
import { type AnyElysia, Elysia, t } from "elysia";
import { AppError } from "./errors.ts";
import { errorHandler } from "./http/error-response.ts";
import { attachContext } from "./http/request-context.ts";
import { type LatePlaces, type LateRoutes, listLatePlaces } from "./late-apps.ts";
import { createLateRouter } from "./late-routes.ts";
import { createLog } from "./telemetry/log.ts";

const log = createLog({ level: "error", format: "json" });

const early = () =>
  new Elysia().get("/api/boats/:id", ({ params }) => `boat ${params.id}`).post("/api/boats", () => "built");

const docks: LateRoutes = () =>
  new Elysia()
    .get("/api/boats", () => ["Gannet"])
    .get("/api/boats/:id/crew", ({ params }) => `crew of ${params.id}`)
    .get("/api/wreck", () => {
      throw new AppError(410, "SUNK", "It lies at the bottom.");
    })
    .post("/api/docks", ({ body }) => body, { body: t.Object({ name: t.String() }) });

const sails: LateRoutes = () =>
  new Elysia()
    .get("/api/boats/:id/sails", () => "two")
    .get("/api/jibs", () => ["big", "small"])
    .all("/api/sails/*", ({ request }) => request.method);

/** A surface with these late routes, whose parts are named `part 0`, `part 1` and so on. */
function surface(late: readonly LateRoutes[], places?: LatePlaces) {
  const errors = errorHandler(log);
  const app: AnyElysia = new Elysia().use(errors).use(early());
  const parts = late.map((make, index) => ({ name: `part ${index}`, make }));
  app.use(createLateRouter("web", () => parts, errors, { places: async () => places }).fallback);
  const ask = (path: string, init?: RequestInit) => {
    const request = new Request(`http://localhost${path}`, init);
    attachContext(request, { id: "test", address: "", socketAddress: "", cookies: [] });
    return app.handle(request);
  };
  return { ask, text: async (path: string, init?: RequestInit) => (await ask(path, init)).text() };
}

test("late routes are built once, by the first request that no other route serves", async () => {
  let built = 0;
  const { text } = surface([
    async () => {
      built += 1;
      return await docks();
    },
  ]);
  expect(await text("/api/boats/7")).toBe("boat 7");
  expect(built).toBe(0);
  expect(await Promise.all([text("/api/boats"), text("/api/boats/7/crew")])).toEqual(['["Gannet"]', "crew of 7"]);
  expect(built).toBe(1);
});

test("a late route gets the body, validates it, and answers errors as other routes do", async () => {
  const { ask } = surface([docks]);
  const post = (body: unknown) =>
    ask("/api/docks", { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });
  expect(await (await post({ name: "East" })).json()).toEqual({ name: "East" });
  expect((await post({ name: 1 })).status).toBe(400);
  const wreck = await ask("/api/wreck");
  expect([wreck.status, await wreck.json()]).toEqual([
    410,
    { error: "It lies at the bottom.", message: "It lies at the bottom.", code: "SUNK" },
  ]);
});

test("an address that neither has is 404; one outside of /api/ builds nothing", async () => {
  let built = 0;
  const { ask } = surface([
    () => {
      built += 1;
      return docks();
    },
  ]);
  expect((await ask("/wp-login.php")).status).toBe(404);
  expect(built).toBe(0);
  expect((await ask("/api/nowhere")).status).toBe(404);
  expect((await ask("/api/boats", { method: "DELETE" })).status).toBe(404);
});

test("late routes that could not be built are tried again at the next request", async () => {
  let tries = 0;
  const { ask } = surface([
    () => {
      tries += 1;
      if (tries === 1) throw new Error("no plank");
      return docks();
    },
  ]);
  expect((await ask("/api/boats")).status).toBe(500);
  expect((await ask("/api/boats")).status).toBe(200);
});

/** Two parts, and which of them have been built. */
function twoParts() {
  const built: string[] = [];
  const part = (name: string, make: LateRoutes): LateRoutes => {
    return () => {
      built.push(name);
      return make();
    };
  };
  return { built, parts: [part("docks", docks), part("sails", sails)] };
}

test("a request builds only the part that is known to serve it, whatever its method and a slash at the end", async () => {
  const { built, parts } = twoParts();
  const places = await listLatePlaces([{ name: "part 1", make: sails }]);
  const { ask, text } = surface(parts, places);
  expect(await text("/api/boats/7/sails?size=all")).toBe("two");
  expect(await text("/api/boats/7/sails/")).toBe("two");
  expect((await ask("/api/boats/7/sails", { method: "HEAD" })).status).toBe(200);
  expect(await text("/api/sails/main", { method: "PUT" })).toBe("PUT");
  for (const path of ["/api/jibs", "/api/jibs/"]) {
    expect(await text(path)).toBe('["big","small"]');
    expect((await ask(path, { method: "HEAD" })).status).toBe(200);
  }
  expect(built).toEqual(["sails"]);
});

test("a route that is listed nowhere, or in the wrong place, is found by building all parts, once", async () => {
  const { built, parts } = twoParts();
  const { ask, text } = surface(parts, await listLatePlaces([{ name: "part 1", make: docks }]));
  expect(await text("/api/boats/7/crew")).toBe("crew of 7");
  expect(await text("/api/boats")).toBe('["Gannet"]');
  expect(await text("/api/boats/7/sails")).toBe("two");
  expect((await ask("/api/nowhere")).status).toBe(404);
  expect(built.toSorted()).toEqual(["docks", "sails"]);
});
