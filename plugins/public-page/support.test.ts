// Test support: a running service with an owner, agents with or without a public chat, and visitors with separate cookies.
import { expect } from "bun:test";
import { openInteractionFixture } from "../interaction/support.test.ts";

export const OWN = "https://berth.example";
export const DOMAIN = "agents.example";

export interface TestAgent {
  id: string;
  subdomain: string;
}

export type PublicPageFixture = Awaited<ReturnType<typeof openPublicPageFixture>>;

export async function openPublicPageFixture(env: Record<string, string> = {}) {
  const fixture = await openInteractionFixture({ AGENTS_DOMAIN: DOMAIN, ...env });
  const ada = await fixture.member();

  async function createAgent(config: object = {}, name?: string): Promise<TestAgent> {
    const id = await fixture.provision(ada, config);
    if (name !== undefined) await ada.patch(`/api/agents/${id}`, { name });
    const { body } = await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${id}`);
    return { id, subdomain: body.agent.subdomain };
  }
  async function createOpenAgent(config: object = {}, settings: object = {}): Promise<TestAgent> {
    const testAgent = await createAgent(config);
    const answer = await ada.put(`/api/agents/${testAgent.id}/public`, { enabled: true, ...settings });
    expect(answer.status).toBe(200);
    return testAgent;
  }

  return {
    fixture,
    ada,
    createAgent,
    createOpenAgent,
    visitor: (origin = fixture.origin) => createVisitor(origin),
    /** The requests that the model received, as JSON texts. */
    modelRequests: () => fixture.upstream.chats.map(({ body }) => JSON.stringify(body)),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

/** A visitor whose browser has no cookie yet. */
export function createVisitor(origin: string) {
  let cookie = "";
  const request = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(origin + path, {
      method,
      headers: {
        ...(cookie && { cookie }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const [setCookie] = response.headers.getSetCookie();
    if (setCookie) cookie = setCookie.split(";")[0] ?? "";
    const text = await response.text();
    const json = response.headers.get("content-type")?.includes("json");
    return {
      status: response.status,
      headers: response.headers,
      setCookie,
      text,
      body: json ? JSON.parse(text) : text,
    };
  };
  return {
    request,
    getPage: (path: string, headers: Record<string, string> = { accept: "text/html" }) =>
      request("GET", path, undefined, headers),
    sendMessage: ({ subdomain }: TestAgent, message: string, headers?: Record<string, string>) =>
      request("POST", `/a/${subdomain}/messages`, { message }, headers),
    get cookie() {
      return cookie;
    },
    set cookie(value: string) {
      cookie = value;
    },
  };
}
