// Test support: a running service with an owner's agents, and pages of sites that call it as a browser would let them.
import { openPublicPageFixture } from "../public-page/support.test.ts";

export const SHOP = "https://shop.example.com";
export const OTHER_SHOP = "https://other.example.com";
export const STRANGER = "https://evil.example";

export type EmbedFixture = Awaited<ReturnType<typeof openEmbedFixture>>;

export async function openEmbedFixture(env: Record<string, string> = {}) {
  const pages = await openPublicPageFixture(env);
  const { fixture, ada } = pages;

  async function request(method: string, path: string, headers: Record<string, string>, body?: unknown) {
    const response = await fetch(fixture.origin + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("application/json");
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} };
  }

  return {
    ...pages,
    upstream: fixture.upstream,
    request,
    /** An agent that SHOP and OTHER_SHOP may show. */
    createEmbedded: (embed: object = {}, config: object = {}, name?: string) =>
      pages.createAgent({ ...config, embed: { origins: [SHOP, OTHER_SHOP], ...embed } }, name),
    look: (name: string, origin: string | undefined, query = "") =>
      request("GET", `/api/embed/${name}${query}`, origin === undefined ? {} : { origin }),
    send: (name: string, origin: string, body: unknown, headers: Record<string, string> = {}) =>
      request("POST", `/api/embed/${name}/messages`, { origin, ...headers }, body),
    owner: ada,
    [Symbol.asyncDispose]: () => pages[Symbol.asyncDispose](),
  };
}
