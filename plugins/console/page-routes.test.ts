// Tests who gets which page at the console's addresses. tests/console/ tests the pages themselves.
import { describe, expect, test } from "bun:test";
import { attachContext } from "../../src/kernel/http/request-context.ts";
import { PAGE_ROOTS, pageRoutes } from "./page-routes.ts";

const routes = pageRoutes({
  homePage: async () => new Response("the page for visitors"),
  hasSessionCookie: ({ headers }) => headers.has("cookie"),
});

function get(path: string, headers: Record<string, string>) {
  const request = new Request(`http://localhost${path}`, { headers });
  attachContext(request, { id: "1", address: "127.0.0.1", socketAddress: "127.0.0.1", cookies: [] });
  return routes.handle(request);
}

test("the address of the service is JSON for programs", async () => {
  for (const accept of ["*/*", "application/json", "application/json, text/html"]) {
    const answer = await get("/", { accept });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("vary")).toContain("accept");
    expect(await answer.json()).toEqual({ name: "Berth", docs: "/swagger", openapi: "/swagger/json", guides: "/docs" });
  }
});

test("the address of the service is a page for visitors", async () => {
  expect(await (await get("/", { accept: "text/html" })).text()).toBe("the page for visitors");
});

describe.each([...PAGE_ROOTS])("/%s", (root) => {
  test.each(["", "/below?with=query"])("%p leads visitors to the sign-in form and back", async (rest) => {
    const answer = await get(`/${root}${rest}`, { accept: "text/html" });
    expect(answer.status).toBe(302);
    expect(answer.headers.get("location")).toBe(`/login?next=${encodeURIComponent(`/${root}${rest}`)}`);
    expect(answer.headers.get("vary")).toContain("cookie");
  });
});
