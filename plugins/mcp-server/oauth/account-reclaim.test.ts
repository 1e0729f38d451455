// Whoever takes an account over from a stranger, who waited in it for them, finds no app of the stranger's.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createMember } from "../../../tests/support/account-setup.ts";
import { createClient } from "../../../tests/support/client.ts";
import { type Mailbox, openMailbox } from "../../../tests/support/mailbox.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";

let mailbox: Mailbox;
let server: TestServer;
beforeAll(async () => {
  mailbox = await openMailbox();
  server = await openServer({ env: { SMTP_URL: mailbox.url } });
  await server.kernel.jobs.start();
});
afterAll(async () => {
  await server?.kernel.jobs.stop();
  await server?.[Symbol.asyncDispose]();
  await mailbox?.[Symbol.asyncDispose]();
});

test("a reset of the password of an unverified account ends the connected apps", async () => {
  const { client: stranger, id, email } = await createMember(server);
  const now = Date.now();
  await server.kernel.database.write([
    {
      sql: `INSERT INTO connected_apps (id, user_id, client_id, name, host, scopes, trusted, created_at, last_used_at, expires_at)
        VALUES ('app', ?, 'client', 'Desk', 'desk.example', '["read"]', 0, ?, ?, ?)`,
      args: [id, now, now, now + 1_000_000],
    },
  ]);
  const apps = () => stranger.get<{ apps: object[] }>("/api/connected-apps");
  expect((await apps()).body.apps).toHaveLength(1);

  const owner = createClient(server.web);
  expect((await owner.post("/api/auth/forgot-password", { email })).status).toBe(200);
  const token = await mailbox.token(email, "reset-password");
  const password = "a whole new passphrase";
  expect((await owner.post("/api/auth/reset-password", { token, password })).status).toBe(200);

  const { rows } = await server.kernel.database.read("SELECT id FROM connected_apps WHERE user_id = ?", [id]);
  expect(rows).toEqual([]);
  expect((await apps()).status).toBe(401);
});
