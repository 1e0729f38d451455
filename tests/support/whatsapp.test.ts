// Tests the WhatsApp fake: it rejects the calls that Meta rejects, and treats messages as Meta does.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "./eventually.ts";
import { type FakeAccount, startWhatsApp, type WhatsApp } from "./whatsapp.ts";
import { spawnWhatsApp } from "./whatsapp-control.ts";

const TOKEN = "EAAtoken";
const NUMBER = "301";
const ADA = "15550001111";

let whatsapp: WhatsApp;
let account: FakeAccount;
beforeEach(async () => {
  whatsapp = await startWhatsApp();
  whatsapp.addApp("9001", "secret");
  account = whatsapp.addAccount(TOKEN, { waba: "300", numbers: [{ id: NUMBER, display: "+1 555" }] });
});
afterEach(() => whatsapp.stop());

interface GraphBody {
  error?: { code: number; message: string };
  messages?: { id: string }[];
  data?: Record<string, unknown>;
}

async function call(path: string, body?: unknown, token = TOKEN) {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(`${whatsapp.url}/${path}`, { ...init, headers });
  const answer = (await response.json()) as GraphBody;
  return { status: response.status, body: answer, code: answer.error?.code };
}

const text = (more: object = {}) => ({
  messaging_product: "whatsapp",
  to: ADA,
  type: "text",
  text: { body: "hi" },
  ...more,
});

describe("a message is refused", () => {
  test.each<[string, unknown]>([
    ["without its product", { ...text(), messaging_product: undefined }],
    ["without a person", text({ to: undefined })],
    ["to what is no number", text({ to: "ada" })],
    ["without text", text({ text: { body: "" } })],
    ["that is too long", text({ text: { body: "a".repeat(4097) } })],
    ["of a kind the fake does not know", text({ type: "image" })],
    ["with a field it does not know", text({ reply_to: "x" })],
    ["that answers what is no message", text({ context: { message_id: "x" } })],
    ["with too much given along", text({ biz_opaque_callback_data: "a".repeat(513) })],
  ])("%s", async (_, body) => {
    account.says("hello");
    const answer = await call(`${NUMBER}/messages`, body);
    expect(answer.status).toBe(400);
    expect(account.sent()).toEqual([]);
  });

  test("to a user who did not write within 24 hours or blocks it, and from another account's number", async () => {
    expect((await call(`${NUMBER}/messages`, text())).code).toBe(131047);
    account.says("hello");
    expect((await call(`${NUMBER}/messages`, text())).status).toBe(200);
    account.blocks();
    expect((await call(`${NUMBER}/messages`, text())).code).toBe(131026);
    expect((await call("999/messages", text())).code).toBe(100);
  });

  test("with an unknown token, or one without the permission", async () => {
    expect(await call(`${NUMBER}/messages`, text(), "EAAnobody")).toMatchObject({ status: 401, code: 190 });
    whatsapp.addAccount("EAAreader", { waba: "300", scopes: ["whatsapp_business_management"] });
    expect((await call(`${NUMBER}/messages`, text(), "EAAreader")).code).toBe(10);
  });

  test("beyond the rate limits, when they are enforced", async () => {
    whatsapp.set({ rates: true });
    account.says("hello");
    const answers = await Promise.all(Array.from({ length: 46 }, () => call(`${NUMBER}/messages`, text())));
    expect(answers.filter(({ code }) => code === 131056).length).toBe(1);
    expect(whatsapp.stats().tooMany).toBe(1);
  });
});

test("typing can be shown only on a user's message", async () => {
  const typing = (id: string) => ({
    messaging_product: "whatsapp",
    status: "read",
    message_id: id,
    typing_indicator: { type: "text" },
  });
  const id = account.says("hello");
  expect((await call(`${NUMBER}/messages`, typing(id))).status).toBe(200);
  expect((await call(`${NUMBER}/messages`, typing("wamid.other"))).code).toBe(100);
  expect(account.typing()).toMatchObject([{ messageId: id }]);
});

test("posts are signed and repeat until accepted, and an address is verified first", async () => {
  const posts: { signature: string | null; body: string }[] = [];
  let takes = false;
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const query = new URL(request.url).searchParams;
      if (request.method === "GET") {
        return new Response(query.get("hub.verify_token") === "right" ? query.get("hub.challenge") : "no");
      }
      posts.push({ signature: request.headers.get("x-hub-signature-256"), body: await request.text() });
      return new Response(null, { status: takes ? 200 : 503 });
    },
  });
  const subscription = { override_callback_uri: `${server.url}hook`, verify_token: "wrong" };
  expect((await call("300/subscribed_apps", subscription)).code).toBe(2200);
  expect((await call("300/subscribed_apps", { ...subscription, verify_token: "right" })).status).toBe(200);
  const id = account.says("hello");
  await whatsapp.waitFor(() => posts.length >= 2);
  expect(account.pending()).toBe(1);
  takes = true;
  await whatsapp.waitFor(() => account.pending() === 0);
  const [first] = posts;
  expect(first?.body).toContain(id);
  const digest = new Bun.CryptoHasher("sha256", "secret").update(first?.body ?? "").digest("hex");
  expect(first?.signature).toBe(`sha256=${digest}`);

  await call(`${NUMBER}/messages`, text({ biz_opaque_callback_data: "mine" }));
  await eventually(() => posts.filter(({ body }) => body.includes('"biz_opaque_callback_data":"mine"')).length >= 2);
});

test("a planned failure hits a call before its effect or after it", async () => {
  account.says("hello");
  whatsapp.fail("messages", { status: 429, code: 130429 });
  expect(await call(`${NUMBER}/messages`, text())).toMatchObject({ status: 429, code: 130429 });
  whatsapp.fail("messages", "cut");
  await expect(call(`${NUMBER}/messages`, text())).rejects.toThrow();
  expect(account.sent()).toEqual([]);
  whatsapp.fail("messages", "cut", { when: "after" });
  await expect(call(`${NUMBER}/messages`, text())).rejects.toThrow();
  expect(account.sent().length).toBe(1);
});

test("runs as a program that is controlled over HTTP", async () => {
  await using alone = await spawnWhatsApp("--no-statuses");
  await alone.addAccounts([{ token: TOKEN, waba: "300", numbers: [{ id: NUMBER, display: "1" }] }]);
  const [id] = await alone.usersSay([{ token: TOKEN, text: "hello" }]);
  expect(id).toStartWith("wamid.");
  expect(await alone.stats()).toMatchObject({ accounts: 1, sent: 0 });
  expect(await alone.sent(TOKEN)).toEqual([]);
});
