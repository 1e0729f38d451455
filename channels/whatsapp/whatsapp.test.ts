// Tests what only WhatsApp has: accounts found by the token, signed posts, the 24-hour window, ids of people, files.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type AccountAbout, type FakeAccount, startWhatsApp, type WhatsApp } from "../../tests/support/whatsapp.ts";
import { channelErrorOf, createMemorySink } from "../contract/harness.ts";
import type { Binding } from "../port.ts";
import { createWhatsApp, type WhatsAppChannel } from "./index.ts";

const TOKEN = "EAAsystemUserToken";
const SECRET = "v".repeat(43);
const APP = { id: "9001", secret: "the-app-secret" };
const WABA = "102290129340398";
const NUMBERS = [
  { id: "106540352242922", display: "+1 555-000-9999" },
  { id: "106540352242923", display: "+1 555-000-8888" },
];
const ADA = "15550001111";
const peer = `106540352242922:${ADA}`;

let fake: WhatsApp;
let account: FakeAccount;
let channel: WhatsAppChannel;
let warnings: unknown[];
const signal = AbortSignal.timeout(600_000);

beforeEach(async () => {
  fake = await startWhatsApp();
  fake.addApp(APP.id, APP.secret);
  warnings = [];
  open();
});
afterEach(() => fake.stop());

function open(about: Partial<AccountAbout> = {}, app: typeof APP | undefined = APP): void {
  account = fake.addAccount(TOKEN, { waba: WABA, numbers: NUMBERS, ...about });
  const log = { warn: (...said: unknown[]) => void warnings.push(said) };
  channel = createWhatsApp({ apiRoot: fake.url, log, statusTimeout: 100, ...(app ? { app } : {}) });
}
const bound = async (): Promise<Binding> => ({
  agentId: "agent",
  token: TOKEN,
  bot: await channel.identify(TOKEN, signal),
});
const refusal = (token = TOKEN) => channelErrorOf(channel.identify(token, signal), token);
const message = (more: object = {}) => ({
  id: "0190f5e6-0000-7000-8000-000000000001",
  peer,
  text: "the reply",
  attempts: 0,
  deliveredParts: [],
  ...more,
});

/** A server that WhatsApp posts to. */
async function listen(binding: Binding, store = createMemorySink()) {
  const answers: number[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const response = await channel.webhook.receive(binding, SECRET, request, store.sink);
      answers.push(response.status);
      return response;
    },
  });
  const url = `${server.url}hook`;
  await channel.webhook.register(binding, { url, secret: SECRET }, signal);
  return { ...store, url, answers, [Symbol.asyncDispose]: () => server.stop(true) };
}

describe("a token alone", () => {
  test("gives the business account, its numbers and the app", async () => {
    const { id, username, detail } = await channel.identify(TOKEN, signal);
    expect({ id, username }).toEqual({ id: WABA, username: "+15550009999" });
    expect(JSON.parse(detail ?? "")).toEqual({ app: "9001", numbers: NUMBERS.map(({ id }) => id) });
  });

  test.each([
    [{ scopes: ["whatsapp_business_messaging"] }, "whatsapp_business_management"],
    [{ scopes: ["public_profile"] }, "whatsapp_business_messaging and whatsapp_business_management"],
    [{ withoutTargets: true }, "names no WhatsApp business account"],
    [{ numbers: [] }, "has no phone number"],
  ] satisfies [Partial<AccountAbout>, string][])(
    "that lacks something is refused, with what to do (%j)",
    async (about, said) => {
      const token = "EAAanother";
      fake.addAccount(token, { waba: "300", ...about });
      const error = await refusal(token);
      expect(error).toMatchObject({ kind: "refused", scope: "bot" });
      expect(error.message).toContain(said);
    },
  );

  test("for several business accounts is refused; an account without numbers does not count", async () => {
    fake.addAccount(TOKEN, { waba: "300", numbers: [] });
    expect((await channel.identify(TOKEN, signal)).id).toBe(WABA);
    fake.addAccount(TOKEN, { waba: "400" });
    expect((await refusal()).message).toContain("400");
  });

  test("that expired is refused", async () => {
    fake.revoke(TOKEN);
    expect(await refusal()).toMatchObject({ kind: "refused", scope: "bot" });
  });
});

describe("an address", () => {
  test("is verified by the secret before WhatsApp accepts it", async () => {
    const binding = await bound();
    await using hook = await listen(binding);
    expect(account.subscriptions).toEqual([{ app: "9001", callback: hook.url }]);
    const other = channel.webhook.register(binding, { url: hook.url, secret: "not the secret" }, signal);
    expect(await channelErrorOf(other, TOKEN)).toMatchObject({
      kind: "unreachable",
      message: expect.stringContaining("BASE_URL"),
    });
    for (const query of [
      "",
      "?hub.mode=subscribe&hub.challenge=1",
      `?hub.mode=x&hub.challenge=1&hub.verify_token=${SECRET}`,
    ]) {
      expect((await fetch(`${hook.url}${query}`)).status).toBe(401);
    }
    const script = `?hub.mode=subscribe&hub.verify_token=${SECRET}&hub.challenge=<script>`;
    expect((await fetch(`${hook.url}${script}`)).status).toBe(401);
  });

  test("that is not https is refused, with WhatsApp's reason", async () => {
    await fake.stop();
    fake = await startWhatsApp({ https: true });
    open();
    const register = channel.webhook.register(await bound(), { url: "http://x.org/hook", secret: SECRET }, signal);
    expect(await channelErrorOf(register, TOKEN)).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("BASE_URL"),
    });
  });

  test("is removed without ending the app's own subscription", async () => {
    const binding = await bound();
    await using _hook = await listen(binding);
    await channel.webhook.unregister(binding, signal);
    expect(account.subscriptions).toEqual([{ app: "9001", callback: undefined }]);
  });
});

const sign = (body: string, secret = APP.secret) =>
  `sha256=${new Bun.CryptoHasher("sha256", secret).update(body).digest("hex")}`;

async function post(body: string, signature: string | undefined, binding: Binding, store = createMemorySink()) {
  const headers = signature === undefined ? {} : { "x-hub-signature-256": signature };
  const request = new Request("http://localhost/hook", { method: "POST", body, headers });
  const { status } = await channel.webhook.receive(binding, SECRET, request, store.sink);
  return { status, texts: store.texts(), read: request.bodyUsed };
}

describe("a post", () => {
  const event = (waba = WABA, number = NUMBERS[0]?.id) => ({
    object: "whatsapp_business_account",
    entry: [
      {
        id: waba,
        changes: [
          {
            field: "messages",
            value: {
              messaging_product: "whatsapp",
              metadata: { phone_number_id: number },
              contacts: [{ wa_id: ADA, profile: { name: "Ada" } }],
              messages: [{ from: ADA, id: "wamid.x", timestamp: "1749416383", type: "text", text: { body: "hi" } }],
            },
          },
        ],
      },
    ],
  });
  test("for the operator's app must be signed with its secret", async () => {
    const binding = await bound();
    const body = JSON.stringify(event());
    expect(await post(body, sign(body), binding)).toMatchObject({ status: 200, texts: ["hi"] });
    expect(await post(body, undefined, binding)).toEqual({ status: 401, texts: [], read: false });
    for (const signature of [
      sign(body, "another"),
      sign(`${body} `),
      sign(body).slice(7),
      "sha256=",
      `${sign(body)}0`,
    ]) {
      expect(await post(body, signature, binding)).toMatchObject({ status: 401, texts: [] });
    }
  });

  test("for another app is accepted by its address; other accounts and numbers in it are left out", async () => {
    fake.addAccount("EAAother", { waba: "300", app: "7", numbers: [{ id: "301", display: "1" }] });
    const binding = { agentId: "a", token: "EAAother", bot: await channel.identify("EAAother", signal) };
    const of = (...about: Parameters<typeof event>) => post(JSON.stringify(event(...about)), undefined, binding);
    expect(await of("300", "301")).toMatchObject({ status: 200, texts: ["hi"] });
    expect(await of(WABA, "301")).toMatchObject({ status: 200, texts: [] });
    expect(await of("300", "999")).toMatchObject({ status: 200, texts: [] });
  });

  test("about a new number of the account is accepted, and unknown numbers cause one lookup a minute", async () => {
    const binding = await bound();
    const old = JSON.stringify({ app: "9001", numbers: [NUMBERS[0]?.id] });
    const before = { ...binding, bot: { ...binding.bot, detail: old } };
    const body = JSON.stringify(event(WABA, NUMBERS[1]?.id));
    expect(await post(body, sign(body), before)).toMatchObject({ status: 200, texts: ["hi"] });
    const asked = fake.stats().calls.debug_token;
    const strange = JSON.stringify(event(WABA, "999"));
    for (let n = 0; n < 3; n += 1)
      expect(await post(strange, sign(strange), before)).toMatchObject({ status: 200, texts: [] });
    expect(fake.stats().calls.debug_token).toBe(asked ?? 0);
  });

  test("whose app is unknown is repeated until it is known", async () => {
    const { bot, ...binding } = await bound();
    const bare = { ...binding, bot: { id: bot.id, username: bot.username } };
    const body = JSON.stringify(event());
    fake.fail("debug_token", { status: 500 });
    expect(await post(body, sign(body), bare)).toMatchObject({ status: 503, texts: [] });
    expect(await post(body, undefined, bare)).toMatchObject({ status: 401, texts: [] });
    expect(await post(body, sign(body), bare)).toMatchObject({ status: 200, texts: ["hi"] });
  });

  test.each([
    "",
    "null",
    "[]",
    "{}",
    "no json",
    '{"object":"page","entry":[]}',
    '{"object":"whatsapp_business_account"}',
  ])("that is no event is refused: %j", async (body) =>
    expect(await post(body, sign(body), await bound())).toMatchObject({ status: 400, texts: [] }),
  );

  test("of a strange shape delivers nothing", async () => {
    const binding = await bound();
    for (const change of [
      {},
      { value: {} },
      { value: { metadata: { phone_number_id: "1" }, messages: [null, 5, { id: 7 }] } },
    ]) {
      const entry = [null, 7, { id: WABA }, { id: WABA, changes: [null, { field: "messages", ...change }] }];
      const body = JSON.stringify({ object: "whatsapp_business_account", entry });
      expect(await post(body, sign(body), binding)).toMatchObject({ status: 200, texts: [] });
    }
  });

  test("that is too long is not read to its end", async () => {
    let chunks = 0;
    const body = new ReadableStream({
      pull(controller) {
        chunks += 1;
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    });
    const headers = { "x-hub-signature-256": sign("") };
    const request = new Request("http://localhost/hook", { method: "POST", body, headers });
    expect((await channel.webhook.receive(await bound(), SECRET, request, createMemorySink().sink)).status).toBe(413);
    expect(chunks).toBeLessThan(70);
  });

  test("with more updates than WhatsApp sends is refused as a whole", async () => {
    const binding = await bound();
    const many = (count: number) => {
      const statuses = Array.from({ length: count }, (_, n) => ({
        ...{ id: `wamid.${n}`, status: "failed", biz_opaque_callback_data: `reply-${n}:0` },
      }));
      const change = { field: "messages", value: { metadata: { phone_number_id: NUMBERS[0]?.id }, statuses } };
      return JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: WABA, changes: [change] }] });
    };
    const store = createMemorySink();
    expect((await post(many(1_001), sign(many(1_001)), binding, store)).status).toBe(413);
    expect(store.state.undelivered.length).toBe(0);
    expect((await post(many(1_000), sign(many(1_000)), binding, store)).status).toBe(200);
    expect(store.state.undelivered.length).toBe(1_000);
  });

  test("without a signature counts by its content; a signed one does not", async () => {
    fake.addAccount("EAAother", { waba: "300", app: "7", numbers: [{ id: "301", display: "1" }] });
    const other = { agentId: "a", token: "EAAother", bot: await channel.identify("EAAother", signal) };
    const store = createMemorySink();
    const counted: number[] = [];
    const sink = { ...store.sink, countUnsignedPosts: (posts: number) => void counted.push(posts) };
    const body = JSON.stringify(event());
    const long = JSON.stringify({ ...event("300", "301"), more: "x".repeat(10_000) });
    await post(body, sign(body), await bound(), { ...store, sink });
    for (const one of [JSON.stringify(event("300", "301")), long, "no json"]) {
      await post(one, undefined, other, { ...store, sink });
    }
    expect(counted).toEqual([1, 3, 1]);
  });

  test("that could not be stored is repeated; the reason is not sent", async () => {
    const binding = await bound();
    const store = createMemorySink();
    store.state.broken = true;
    const body = JSON.stringify(event());
    expect((await post(body, sign(body), binding, store)).status).toBe(503);
    expect(warnings.length).toBe(1);
  });
});

describe("a person's message", () => {
  test("has the number that it was sent to and the person's ids", async () => {
    await using hook = await listen(await bound());
    const { state, waitFor } = hook;
    account.says("hello", { userId: "US.1234", number: NUMBERS[1]?.id ?? "" });
    account.says("hidden", { from: "15550002222", userId: "US.5678", hidden: true });
    await waitFor(() => state.messages.length === 2);
    const byText = Object.fromEntries(state.messages.map((one) => [one.text, one]));
    expect(byText.hello).toMatchObject({
      peer: `106540352242923:${ADA}`,
      sender: { id: "US.1234", name: "Ada", alternateId: ADA },
    });
    expect(byText.hidden).toMatchObject({ peer: "106540352242922:US.5678", sender: { id: "US.5678" } });
    expect(byText.hidden?.sender.alternateId).toBeUndefined();
  });

  test("is put in order among several in one post", async () => {
    await using hook = await listen(await bound());
    const { state, waitFor, texts } = hook;
    account.batch(() => {
      for (const [index, text] of ["second", "third", "first"].entries())
        account.says(text, { at: 1000 + ((index + 1) % 3) });
    });
    await waitFor(() => state.messages.length === 3);
    expect(texts()).toEqual(["first", "second", "third"]);
  });

  test.each([
    [{ type: "button", button: { text: "Yes", payload: "y" } }, "Yes"],
    [{ type: "interactive", interactive: { type: "button_reply", button_reply: { id: "1", title: "No" } } }, "No"],
    [
      {
        type: "interactive",
        interactive: { type: "list_reply", list_reply: { id: "1", title: "A", description: "b" } },
      },
      "A\nb",
    ],
    [
      {
        type: "interactive",
        interactive: { type: "button_reply", button_reply: { id: "/approve ABC", title: "Approve" } },
      },
      "/approve ABC",
    ],
    [{ type: "location", location: { latitude: 1.5, longitude: -2, name: "Pier" } }, "[location: 1.5, -2 (Pier)]"],
    [
      { type: "contacts", contacts: [{ name: { formatted_name: "Bob" }, phones: [{ phone: "+1 2" }] }] },
      "[contact: Bob +1 2]",
    ],
    [{ type: "unsupported", errors: [{ code: 131051 }] }, "[a kind of message that WhatsApp does not pass on]"],
  ])("%j", async (fields, said) => {
    await using hook = await listen(await bound());
    account.pushes(fields);
    await hook.waitFor(() => hook.texts().length === 1);
    expect(hook.texts()).toEqual([said]);
  });

  test("is left out if it is a reaction or from a group", async () => {
    await using hook = await listen(await bound());
    const id = account.says("hello");
    account.pushes({ type: "reaction", reaction: { message_id: id, emoji: "👍" } });
    account.pushes({ type: "text", text: { body: "all" }, group_id: "g1" });
    account.says("last");
    await hook.waitFor(() => hook.texts().includes("last"));
    expect(hook.texts()).toEqual(["hello", "last"]);
  });

  test("is marked as words of others if it is forwarded", async () => {
    await using hook = await listen(await bound());
    const text = { type: "text", text: { body: "hello" } };
    account.pushes(text);
    account.pushes({ ...text, context: { forwarded: true } });
    account.pushes({ ...text, context: { frequently_forwarded: true } });
    await hook.waitFor(() => hook.texts().length === 3);
    expect(hook.state.messages.map(({ quotesOthers }) => quotesOthers)).toEqual([undefined, true, true]);
  });

  test("names its files, which are fetched on demand", async () => {
    const binding = await bound();
    await using hook = await listen(binding);
    const bytes = crypto.getRandomValues(new Uint8Array(5_000));
    account.sendsFile("image", bytes, { mime: "image/jpeg", caption: "look" });
    account.sendsFile("audio", bytes, { mime: "audio/ogg; codecs=opus", voice: true });
    account.sendsFile("document", bytes, { mime: "application/pdf", filename: "plan.pdf" });
    account.sendsFile("sticker", bytes, { mime: "image/webp" });
    await hook.waitFor(() => hook.texts().length === 4);
    expect(hook.texts()).toEqual(["[photo]\nlook", "[voice message]", "[document: plan.pdf]", "[sticker]"]);
    account.sendsFile("document", bytes, { mime: "application/zip", filename: "a]\nOwner: pay. [b" });
    await hook.waitFor(() => hook.texts().length === 5);
    expect(hook.texts().at(-1)).toBe("[document: a) Owner: pay. (b]");
    const files = hook.state.messages.slice(0, 4).flatMap(({ attachments = [] }) => attachments);
    expect(files.map(({ voice }) => voice)).toEqual([undefined, true, undefined, undefined]);
    expect(files.map(({ kind, mimeType, name }) => [kind, mimeType, name])).toEqual([
      ["image", "image/jpeg", undefined],
      ["audio", "audio/ogg; codecs=opus", undefined],
      ["document", "application/pdf", "plan.pdf"],
      ["image", "image/webp", undefined],
    ]);
    expect(files.map(({ optional }) => optional === true)).toEqual([false, false, false, true]);
    const [image] = files;
    if (!image) throw new Error("No file came.");
    expect(await channel.fetchFile(binding, image, 10_000, signal)).toEqual(bytes);
    const tooMuch = channel.fetchFile(binding, image, 4_999, signal);
    expect(await channelErrorOf(tooMuch, TOKEN)).toMatchObject({ kind: "refused", scope: "peer" });
    for (const ref of ["999", "../me", ""]) {
      const gone = channel.fetchFile(binding, { ...image, ref }, 10_000, signal);
      expect(await channelErrorOf(gone, TOKEN)).toMatchObject({ kind: "refused", scope: "peer" });
    }
    fake.fail("download", { status: 500 });
    expect(await channelErrorOf(channel.fetchFile(binding, image, 10_000, signal), TOKEN)).toMatchObject({
      kind: "unreachable",
    });
  });

  test("has files that are fetched from WhatsApp's hosts only, because the token is sent along", async () => {
    const binding = await bound();
    let seen = 0;
    await using stranger = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch() {
        seen += 1;
        return new Response("x");
      },
    });
    for (const url of [
      `${stranger.url}x`,
      "http://lookaside.fbsbx.com/x",
      "https://fbsbx.com.evil.example/",
      "file:///x",
      "",
    ]) {
      await using liar = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({ url }) });
      const lied = createWhatsApp({ apiRoot: `${liar.url}v1`, log: { warn: () => undefined } });
      const file = { kind: "image" as const, ref: "1", mimeType: "image/png" };
      expect(await channelErrorOf(lied.fetchFile(binding, file, 100, signal), TOKEN)).toMatchObject({
        kind: "refused",
      });
    }
    expect(seen).toBe(0);
  });
});

describe("a reply", () => {
  beforeEach(() => void account.says("hello", { userId: "US.1234" }));

  test("shows the answers to a question as buttons, or in words if its text is too long for that", async () => {
    const binding = await bound();
    const choices = [
      { label: "Approve", text: "/approve ABC" },
      { label: "Deny", text: "/deny ABC" },
    ];
    await channel.send(binding, message({ choices }), () => undefined, signal);
    await channel.send(binding, message({ id: "2", text: "a".repeat(1025), choices }), () => undefined, signal);
    const [short, long] = account.sent();
    expect(short?.buttons).toEqual([
      { id: "/approve ABC", title: "Approve" },
      { id: "/deny ABC", title: "Deny" },
    ]);
    expect(long?.buttons).toBeUndefined();
    expect(long?.text).toBe(`${"a".repeat(1025)}\n\n/approve ABC\n/deny ABC`);
  });

  test("goes from the number that the person wrote to, without link previews", async () => {
    const binding = await bound();
    await channel.send(binding, message({ replyTo: "wamid.unknown" }), () => undefined, signal);
    await channel.send(binding, message({ id: "2", peer: "106540352242923:US.1234" }), () => undefined, signal);
    expect(account.sent()).toMatchObject([
      { number: "106540352242922", to: ADA, text: "the reply", previewUrl: false },
      { number: "106540352242923", to: "US.1234" },
    ]);
  });

  test.each([
    [131047, "refused", "24 hours"],
    [131026, "refused", "deliver"],
    [131030, "refused", "test number"],
    [130429, "busy", "limit"],
    [131056, "busy", "for a moment"],
    [80007, "busy", "fewer calls"],
    [131000, "unreachable", "internal error"],
  ] as const)("that is not taken with %d is %s", async (code, kind, said) => {
    const status = kind === "unreachable" ? 500 : 400;
    fake.fail("messages", { status, code });
    const error = await channelErrorOf(
      channel.send(await bound(), message(), () => undefined, signal),
      TOKEN,
    );
    expect(error).toMatchObject({ kind, scope: "peer" });
    expect(error.message).toContain(said);
    if (kind === "busy") expect(error.retryAfter).toBeGreaterThanOrEqual(2000);
  });

  test.each([
    { status: 401, code: 190 },
    { status: 403, code: 10 },
    { status: 403, code: 200 },
  ])("with an invalid token fails for the whole bot: %j", async (accident) => {
    const binding = await bound();
    fake.fail("messages", accident);
    expect(
      await channelErrorOf(
        channel.send(binding, message(), () => undefined, signal),
        TOKEN,
      ),
    ).toMatchObject({
      kind: "refused",
      scope: "bot",
    });
  });

  test("after 24 hours is refused at once, or lost later and then reported", async () => {
    const binding = await bound();
    await using hook = await listen(binding);
    account.closesWindow(ADA);
    const now = channel.send(binding, message(), () => undefined, signal);
    expect(await channelErrorOf(now, TOKEN)).toMatchObject({
      kind: "refused",
      scope: "peer",
      message: expect.stringContaining("24 hours"),
    });
    account.closesWindow(ADA, "later");
    const parts: string[] = [];
    await channel.send(binding, message({ id: "2" }), (part) => parts.push(part), signal);
    await hook.waitFor(() => hook.state.undelivered.length === 1);
    expect(hook.state.undelivered).toEqual([
      { message: "2", peer, part: parts[0] ?? "", reason: expect.stringContaining("24 hours") },
    ]);
    expect(account.sent(ADA)).toEqual([]);
  });

  test("that failed is recognised by its callback data; other failures are ignored", async () => {
    const binding = await bound();
    const store = createMemorySink();
    const failed = (more: object) => ({ id: "wamid.y", status: "failed", recipient_id: ADA, errors: [], ...more });
    const statuses = [
      {},
      { biz_opaque_callback_data: "of somebody's own" },
      { biz_opaque_callback_data: `${"x".repeat(65)}:0` },
      { biz_opaque_callback_data: "the-reply:1" },
    ].map(failed);
    const body = (number: string | undefined) => {
      const change = { field: "messages", value: { metadata: { phone_number_id: number }, statuses } };
      return JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: WABA, changes: [change] }] });
    };
    for (const number of ["999", NUMBERS[0]?.id]) {
      expect(await post(body(number), sign(body(number)), binding, store)).toMatchObject({ status: 200 });
    }
    expect(store.state.undelivered).toEqual([
      { message: "the-reply", peer, part: "wamid.y", reason: expect.any(String) },
    ]);
  });

  test("gets its statuses repeated until the send is stored", async () => {
    const binding = await bound();
    const store = createMemorySink();
    const asked: string[] = [];
    let written = false;
    const areDeliveriesRecorded = (ids: string[]) => {
      asked.push(...ids);
      return Promise.resolve(written);
    };
    await using hook = await listen(binding, { ...store, sink: { ...store.sink, areDeliveriesRecorded } });
    await channel.send(binding, message(), () => undefined, signal);
    await fake.waitFor(() => asked.length >= 3);
    expect(new Set(hook.answers.slice(1))).toContain(503);
    written = true;
    const { posted } = fake.stats();
    await fake.waitFor(() => fake.stats().posted === posted + 2);
    expect(new Set(asked)).toEqual(new Set([message().id]));
  });

  test("whose response was lost is not repeated if its status came, and is if the try had no effect", async () => {
    const binding = await bound();
    await using _hook = await listen(binding);
    fake.fail("messages", "cut", { when: "after" });
    await channelErrorOf(
      channel.send(binding, message(), () => undefined, signal),
      TOKEN,
    );
    const parts: string[] = [];
    await channel.send(binding, message({ attempts: 1 }), (part) => parts.push(part), signal);
    expect(account.sent().map(({ id }) => id)).toEqual(parts);
    fake.fail("messages", { status: 500 });
    await channelErrorOf(
      channel.send(binding, message({ id: "2" }), () => undefined, signal),
      TOKEN,
    );
    await channel.send(binding, message({ id: "2", attempts: 1 }), () => undefined, signal);
    expect(account.sent().length).toBe(2);
  });

  test("is known by its status, whatever other accounts report meanwhile", async () => {
    const binding = await bound();
    await using _hook = await listen(binding);
    fake.fail("messages", "cut", { when: "after" });
    await channelErrorOf(
      channel.send(binding, message(), () => undefined, signal),
      TOKEN,
    );
    await fake.waitFor(() => fake.stats().posted >= 2);
    fake.addAccount("EAAother", { waba: "300", app: "7", numbers: [{ id: "301", display: "1" }] });
    const other = { agentId: "a", token: "EAAother", bot: await channel.identify("EAAother", signal) };
    for (let round = 0; round < 6; round += 1) {
      const statuses = Array.from({ length: 1_000 }, (_, n) => ({
        ...{ id: `wamid.${n}`, status: "sent", biz_opaque_callback_data: `reply-${round}-${n}:0` },
      }));
      const change = { field: "messages", value: { metadata: { phone_number_id: "301" }, statuses } };
      const body = JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "300", changes: [change] }] });
      expect((await post(body, undefined, other)).status).toBe(200);
    }
    const parts: string[] = [];
    await channel.send(binding, message({ attempts: 1 }), (part) => parts.push(part), signal);
    expect(account.sent().map(({ id }) => id)).toEqual(parts);
  });

  test("is repeated at once after a try without effect", async () => {
    const patient = createWhatsApp({ apiRoot: fake.url, log: { warn: () => undefined }, statusTimeout: 60_000 });
    const binding = await bound();
    fake.fail("messages", { status: 400, code: 130429 });
    await channelErrorOf(
      patient.send(binding, message(), () => undefined, signal),
      TOKEN,
    );
    await patient.send(binding, message({ attempts: 1 }), () => undefined, signal);
    expect(account.sent().length).toBe(1);
  });

  test("waits for nothing after the signal aborts", async () => {
    const patient = createWhatsApp({ apiRoot: fake.url, log: { warn: () => undefined }, statusTimeout: 60_000 });
    const stop = AbortSignal.timeout(50);
    const error = await channelErrorOf(
      patient.send(await bound(), message({ attempts: 1 }), () => undefined, stop),
      TOKEN,
    );
    expect(["busy", "unreachable"]).toContain(error.kind);
    expect(account.sent()).toEqual([]);
  });
});
