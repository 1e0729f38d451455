// Tests the check of third-party plugins' routes at the start: each names a guard, and none replaces a route that exists.
import { describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { openServer } from "../../tests/support/server.ts";
import { StartError } from "../kernel/errors.ts";
import { openRoutes } from "../kernel/http/route-guards.ts";
import { type PluginParts, plugin } from "../kernel/plugin.ts";

const routes = () => new Elysia().use(openRoutes);
type Parts = Partial<PluginParts<unknown>>;

/** The message of the refused start. Undefined: it started. */
async function refusalOf(...all: Parts[]): Promise<string | undefined> {
  const plugins = all.map((parts, index) => plugin(`harbour${index || ""}`, () => ({ service: undefined, ...parts })));
  try {
    await using _ = await openServer({ plugins });
    return undefined;
  } catch (error) {
    if (error instanceof StartError) return error.message;
    throw error;
  }
}

describe("a route without a guard stops the start", () => {
  const NO_GUARD =
    'its route GET /api/tides names no guard, so anybody could call it. Give it one, such as signedIn: "read", or open: true for all.';

  test("on either surface", async () => {
    const web = new Elysia().get("/api/tides", () => 1);
    expect(await refusalOf({ web })).toBe(`The plugin harbour can't be set up: ${NO_GUARD}`);
    expect(await refusalOf({ backend: web })).toContain(NO_GUARD);
  });

  test("also if it is built at its first request", async () => {
    const web = [() => new Elysia().get("/api/tides", () => 1)];
    expect(await refusalOf({ lateRoutes: { web } })).toContain(NO_GUARD);
  });

  test("a misspelt guard is named", async () => {
    const misspelt: object = { signdIn: "write" };
    expect(await refusalOf({ web: routes().get("/api/tides", () => 1, misspelt) })).toBe(
      "The plugin harbour can't be set up: its route GET /api/tides has the option signdIn, which neither Elysia nor a guard in use knows. Correct its name.",
    );
  });

  test("and so is another misspelt option, which would leave a body unchecked", async () => {
    const misspelt: object = { open: true, bdoy: {} };
    expect(await refusalOf({ web: routes().post("/api/tides", () => 1, misspelt) })).toContain("the option bdoy");
  });

  test("a guard of a group counts, and so do all options of Elysia", async () => {
    const web = routes().guard({ open: true }, (app) =>
      app.group("/api/tides", (group) =>
        group.get("/", () => 1, { detail: { summary: "Tides" }, tags: ["Tides"], afterHandle: () => undefined }),
      ),
    );
    expect(await refusalOf({ web })).toBeUndefined();
  });
});

describe("a route that would replace another stops the start", () => {
  const open = { open: true } as const;

  test.each([
    ["/api/health-of-harbour", undefined],
    ["/healthz", "GET /healthz"],
    ["/swagger", "GET /swagger"],
    ["/api/agents", "GET /api/agents"],
    ["/api/agents/", "GET /api/agents"],
    ["/api/agents/:agent", "GET /api/agents/provision"],
    ["/api/agents/:agent/buoys", undefined],
    ["/api/:anything", "GET /api/keys"],
    ["/api/agents/*", "GET /api/agents/provision"],
    ["/harbour/*", undefined],
  ])("GET %s", async (path, hidden) => {
    const message = await refusalOf({ web: routes().get(path, () => 1, open) });
    if (hidden === undefined) return expect(message).toBeUndefined();
    expect(message).toStartWith(
      `The plugin harbour can't be set up: its route GET ${path} would replace ${hidden} of `,
    );
    expect(message).toEndWith("Choose another path.");
  });

  test("with any method, but not with another one", async () => {
    expect(await refusalOf({ web: routes().all("/api/agents", () => 1, open) })).toContain("would replace");
    expect(await refusalOf({ web: routes().put("/healthz", () => 1, open) })).toBeUndefined();
  });

  test("on its own surface alone", async () => {
    expect(await refusalOf({ backend: routes().get("/api/skills", () => 1, open) })).toBeUndefined();
  });

  test("of another third-party plugin", async () => {
    const web = () => routes().get("/api/tides", () => 1, open);
    expect(await refusalOf({ web: web() }, { web: web() })).toBe(
      "The plugin harbour1 can't be set up: its route GET /api/tides would replace GET /api/tides of the plugin harbour. Choose another path.",
    );
    expect(await refusalOf({ web: web() }, { lateRoutes: { web: [web] } })).toContain("of the plugin harbour.");
  });
});
