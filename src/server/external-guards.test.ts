// Tests the guards of built-in plugins on routes of third-party ones: routes of one agent, and scopes that don't exist.
import { describe, expect, test } from "bun:test";
import { type AnyElysia, Elysia } from "elysia";
import { agents } from "../../plugins/agents/index.ts";
import { auth } from "../../plugins/auth/index.ts";
import { subscribe } from "../../tests/support/account-setup.ts";
import { createClient } from "../../tests/support/client.ts";
import { provision } from "../../tests/support/members.ts";
import { openServer } from "../../tests/support/server.ts";
import { type Host, plugin } from "../kernel/plugin.ts";

const open = (routes: (host: Host) => AnyElysia) =>
  openServer({ plugins: [plugin("harbour", (host) => ({ service: undefined, web: routes(host) }))] });

test("a route of one agent serves its owner alone, and names only the scope", async () => {
  await using server = await open((host) =>
    new Elysia()
      .use(host.use(agents).guards)
      .get("/api/agents/:id/tides", ({ agent, identity }) => ({ of: agent.name, to: identity.user.email }), {
        ownAgent: "read",
      })
      .post("/api/agents/:id/tides", () => ({}), { ownAgent: "write" }),
  );
  const ada = createClient(server.web);
  await ada.join({ email: "ada@example.com" });
  await subscribe(server, "ada@example.com", "pro");
  const { id } = await provision(ada, "Harbour");
  const path = `/api/agents/${id}/tides`;
  expect((await ada.get(path)).body).toEqual({ of: "Harbour", to: "ada@example.com" });
  const { body } = await ada.post<{ key: string }>("/api/keys", { name: "reader", scopes: ["read"] });
  const headers = { authorization: `Bearer ${body.key}` };
  expect((await fetch(server.web + path, { headers })).status).toBe(200);
  const refused = await fetch(server.web + path, { method: "POST", headers });
  expect([refused.status, await refused.json()]).toMatchObject([403, { code: "MISSING_SCOPE" }]);
  expect((await fetch(server.web + path)).status).toBe(401);

  const eve = createClient(server.web);
  await eve.join({ email: "eve@example.com" });
  expect(await eve.get(path)).toMatchObject({ status: 404, body: { code: "AGENT_NOT_FOUND" } });
});

describe("a scope that doesn't exist stops the start", () => {
  const REFUSAL =
    /The plugin harbour can't be set up: There is no scope "?(wirte|true|undefined)"?\. The scopes are read, write, chat\./;
  const options: object[] = [
    { signedIn: "wirte" },
    { signedIn: ["read", "wirte"] },
    { signedIn: true },
    { ownAgent: "wirte" },
    { ownAgent: { kind: "data" } },
    { granted: { action: "tides", scope: "wirte" } },
  ];

  test.each(options)("%j", async (option) => {
    const routes = ({ use }: Host) =>
      new Elysia()
        .use(use(auth).identities.guards)
        .use(use(agents).guards)
        .get("/api/agents/:id/tides", () => 1, option);
    await expect(open(routes)).rejects.toThrow(REFUSAL);
  });
});
