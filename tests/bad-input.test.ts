// Malformed requests to both surfaces: every error has the right status and the standard body, and shows no internals.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { undocumentedAnswers } from "./support/documented-statuses.ts";
import { member, provision } from "./support/members.ts";
import { rawRequest } from "./support/raw.ts";
import { expectRefusal } from "./support/refusal.ts";

interface Route {
  side: "web" | "backend";
  method: "POST" | "PUT";
  path: string;
  /** A valid body, of which each test changes one thing. */
  good: Record<string, unknown>;
  /** Invalid values by field; each alone must be named in `issues`. */
  wrong: Record<string, unknown[]>;
  /** Required fields. */
  needs: string[];
}

const MiB = 1024 * 1024;
const text = [1, true, {}, ["a"], null];

/** Every route with a body; `:id` is an agent of the caller. */
const routes: Route[] = [
  {
    side: "web",
    method: "POST",
    path: "/api/register",
    good: { email: "new@example.com", password: "correct horse battery", name: "New" },
    wrong: { email: text, password: text, name: [1, {}] },
    needs: ["email", "password"],
  },
  {
    side: "web",
    method: "POST",
    path: "/api/auth/callback/credentials",
    good: { email: "new@example.com", password: "correct horse battery" },
    wrong: { email: text, password: text },
    needs: ["email", "password"],
  },
  {
    side: "web",
    method: "POST",
    path: "/api/auth/first-admin",
    good: { token: "t", email: "new@example.com", password: "correct horse battery" },
    wrong: { token: text, email: text, password: text },
    needs: ["token", "email", "password"],
  },
  {
    side: "web",
    method: "POST",
    path: "/api/auth/verify-email",
    good: { token: "t" },
    wrong: { token: [...text, "", "x".repeat(201)] },
    needs: ["token"],
  },
  {
    side: "web",
    method: "POST",
    path: "/api/auth/forgot-password",
    good: { email: "new@example.com" },
    wrong: { email: [...text, "", "no address"] },
    needs: ["email"],
  },
  {
    side: "web",
    method: "POST",
    path: "/api/auth/reset-password",
    good: { token: "t", password: "correct horse battery" },
    wrong: { token: [...text, ""], password: [...text, "short"] },
    needs: ["token", "password"],
  },
  {
    side: "web",
    method: "POST",
    path: "/api/auth/social/refresh",
    good: { refreshToken: "t" },
    wrong: { refreshToken: [...text, ""] },
    needs: ["refreshToken"],
  },
  {
    side: "web",
    method: "POST",
    path: "/api/auth/token-gating/verify",
    good: { fid: "1", address: `0x${"0".repeat(40)}` },
    wrong: { fid: [...text, "", "x".repeat(101)], address: [...text, "", "0x", `0x${"g".repeat(40)}`] },
    needs: ["fid", "address"],
  },
  {
    side: "web",
    method: "POST",
    path: "/api/settings/social",
    good: { fidToken: "t" },
    wrong: { fidToken: [...text, ""] },
    needs: ["fidToken"],
  },
  ...["/api/agents", "/api/agents/provision"].map((path) => ({
    side: "web" as const,
    method: "POST" as const,
    path,
    good: { name: "One more" },
    wrong: { name: [...text, "", " ", "x".repeat(65), "a\nb"], model: [1, "gpt"], config: [1, [], "{}"] },
    needs: ["name"],
  })),
  {
    side: "web",
    method: "POST",
    path: "/api/agent",
    good: { message: "Hello" },
    wrong: { message: [1, {}, [], "", "x".repeat(100_001)], action: [1, {}], agentId: [1], sessionId: [[]] },
    needs: ["message"],
  },
  {
    side: "web",
    method: "POST",
    path: "/api/chat",
    good: { message: "Hello", topic: "t" },
    wrong: { message: [...text, "", "x".repeat(100_001)], topic: [1, "", {}] },
    needs: ["message"],
  },
  { side: "web", method: "PUT", path: "/api/agents/:id/channels/channel_a", good: {}, wrong: {}, needs: ["token"] },
  ...(["web", "backend"] as const).flatMap((side) => [
    {
      side,
      method: "POST" as const,
      path: "/api/provision",
      good: { channelAToken: "none" },
      wrong: {
        channelAToken: [...text, "x".repeat(4_097)],
        whatsappToken: text,
        channelAUserId: ["@ada", {}, [1], 1.5, -1, null],
        aiProvider: ["provider_9", "", ...text],
        apiKey: ["with space", "é", ...text],
        plan: ["starter", "", ...text],
        discordGuildId: ["1", ...text],
        channelCPhoneNumberId: ["1", ...text],
      },
      needs: ["channelAToken"],
    },
    {
      side,
      method: "POST" as const,
      path: "/api/provision/claim",
      good: { token: "nobodys" },
      wrong: { token: [...text, "", "x".repeat(201)] },
      needs: ["token"],
    },
  ]),
  {
    side: "backend",
    method: "POST",
    path: "/api/agents",
    good: { name: "One more" },
    wrong: { name: text, config: [1, [], "{}"] },
    needs: ["name"],
  },
  {
    side: "backend",
    method: "POST",
    path: "/api/agents/:id/turns",
    good: { platform: "web", message: "Hello" },
    wrong: { platform: [1, "channel_a"], message: text },
    needs: ["platform", "message"],
  },
  {
    side: "backend",
    method: "PUT",
    path: "/api/agents/:id/skills/clock",
    good: { enabled: true },
    wrong: { enabled: ["true", 1, null] },
    needs: ["enabled"],
  },
  {
    side: "backend",
    method: "PUT",
    path: "/api/agents/:id/credentials/provider_1",
    good: { value: "key" },
    wrong: { value: [1, {}, null, "with space", "x".repeat(9_000)] },
    needs: ["value"],
  },
  ...["/api/ai/chat", "/v1/chat/completions"].map((path) => ({
    side: "backend" as const,
    method: "POST" as const,
    path,
    good: { messages: [{ role: "user", content: "Hello" }] },
    wrong: {
      messages: ["Hello", [], {}, [1], [{ role: "boss", content: "x" }]],
      temperature: ["hot", "1", 3],
      model: [1, ""],
      max_tokens: ["12", 0, 1.5],
      n: ["2", 0],
    },
    needs: ["messages"],
  })),
  {
    side: "backend",
    method: "POST",
    path: "/api/ai/models/select",
    good: { taskType: "coding" },
    wrong: { taskType: [1, {}] },
    needs: [],
  },
  {
    side: "backend",
    method: "POST",
    path: "/api/ai/estimate-cost",
    good: { model: "demo", inputTokens: 1, outputTokens: 1 },
    wrong: { model: text, inputTokens: ["1", -1, 1.5, null], outputTokens: ["1", -1] },
    needs: ["model", "inputTokens", "outputTokens"],
  },
];

/** Routes that store configurations byte for byte and therefore validate them themselves. */
const anyObject: Route[] = (["web", "backend"] as const).map((side) => ({
  side,
  method: "PUT",
  path: "/api/agents/:id/config",
  good: {},
  wrong: { temperature: ["hot"], instructions: [1] },
  needs: [],
}));

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

/** The valid body with an extra field as JSON text. */
const withField = (good: object, json: string) =>
  `${JSON.stringify(good).slice(0, -1)}${Object.keys(good).length > 0 ? "," : ""}"extra":${json}}`;

interface Spoilt {
  what: string;
  status: number;
  code: string;
  body(good: Record<string, unknown>): string | Uint8Array;
  headers?: Record<string, string>;
}

const json = { "content-type": "application/json" };
const spoilt: Spoilt[] = [
  ...["{", '{"a":}', "nonsense", "{'a':1}", '{"a":1}}', "NaN", '"\u0000"', "\ufeff{", '{"a":1,}'].map((body) => ({
    what: `broken JSON ${JSON.stringify(body)}`,
    status: 400,
    code: "INVALID_JSON",
    body: () => body,
  })),
  {
    what: "bytes that are no UTF-8",
    status: 400,
    code: "INVALID_JSON",
    body: (good) =>
      Buffer.concat([Buffer.from(withField(good, '"').slice(0, -1)), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
  },
  { what: "65 levels", status: 400, code: "JSON_TOO_DEEP", body: (good) => withField(good, nested(64)) },
  { what: "20,000 levels", status: 400, code: "JSON_TOO_DEEP", body: (good) => withField(good, nested(20_000)) },
  { what: "20,000 open brackets", status: 400, code: "JSON_TOO_DEEP", body: () => "[".repeat(20_000) },
  { what: "a NUL", status: 400, code: "INVALID_TEXT", body: (good) => withField(good, '"a\\u0000b"') },
  { what: "a NUL in a name", status: 400, code: "INVALID_TEXT", body: (good) => withField(good, '{"a\\u0000b":1}') },
  { what: "half a surrogate pair", status: 400, code: "INVALID_TEXT", body: (good) => withField(good, '"\\ud83d"') },
  { what: "the other half", status: 400, code: "INVALID_TEXT", body: (good) => withField(good, '["\\uDC34"]') },
  // Requests under /v1 may have 8 MiB, for pictures.
  { what: "9 MiB", status: 413, code: "BODY_TOO_LARGE", body: (good) => withField(good, `"${"x".repeat(9 * MiB)}"`) },
  ...[
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "json",
    "",
  ].map((type) => ({
    what: `the content type "${type}"`,
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
    body: (good: Record<string, unknown>) => JSON.stringify(good),
    headers: { "content-type": type },
  })),
];

/** A chunked request, which announces no length. */
const chunked = (method: string, path: string, headers: Record<string, string>, size: number) => {
  const piece = "x".repeat(64 * 1024);
  const head = Object.entries({ host: "localhost", connection: "close", ...headers }).map(([k, v]) => `${k}: ${v}\r\n`);
  const frame = `${piece.length.toString(16)}\r\n${piece}\r\n`;
  return `${method} ${path} HTTP/1.1\r\n${head.join("")}transfer-encoding: chunked\r\n\r\n${frame.repeat(size / piece.length)}0\r\n\r\n`;
};

for (const mode of ["development", "production"]) {
  describe(`NODE_ENV=${mode}`, () => {
    let berth: Berth;
    let ada: Client;
    let id: string;
    beforeAll(async () => {
      berth = await startBerth({ env: { NODE_ENV: mode, RATE_LIMITS: "off", BOT_DETECTION: "off" } });
      ada = await member(berth);
      ({ id } = await provision(ada));
    });
    afterAll(() => berth?.[Symbol.asyncDispose]());

    const send = (
      { side, method, path }: Pick<Route, "side" | "path"> & { method: string },
      body: string | Uint8Array,
      headers: Record<string, string> = json,
    ) => {
      const all = { cookie: ada.cookie, ...headers };
      return rawRequest(berth[side], { method, path: path.replace(":id", id), headers: all, body });
    };
    const named = ({ side, method, path }: Route) => `${side} ${method} ${path}`;

    for (const { what, status, code, body, headers } of spoilt) {
      test(`${what}: ${status} ${code}`, async () => {
        for (const route of [...routes, ...anyObject]) {
          const answer = await send(route, body(route.good), { ...json, ...headers });
          expect({ route: named(route), status: answer.status }).toEqual({ route: named(route), status });
          expectRefusal(answer, status, code);
        }
      });
    }

    test("a field that is misspelt or in the wrong place is ignored, and the answer says so", async () => {
      type Target = Pick<Route, "side" | "path"> & { method: Route["method"] | "PATCH" };
      const ignored = async (route: Target, body: object) => {
        const answer = await send(route, JSON.stringify(body));
        expect({ route: route.path, ok: answer.status < 300 }).toEqual({ route: route.path, ok: true });
        const { warnings } = JSON.parse(answer.body) as { warnings?: { path: string; message: string }[] };
        return warnings?.map(({ path, message }) => `${path}: ${message}`);
      };
      for (const side of ["web", "backend"] as const) {
        for (const method of ["PATCH", "PUT"] as const) {
          const change = { side, method, path: "/api/agents/:id" };
          expect(await ignored(change, { approvals: { spend: "deny" } })).toEqual([
            'approvals: This was ignored: it belongs into "config".',
          ]);
          expect(await ignored(change, { name: "Harbour", purple: 1, id: "x" })).toEqual([
            "purple: This was ignored: there is no such field here.",
          ]);
          expect(await ignored(change, { name: "Harbour", id: "x", status: "stopped" })).toBeUndefined();
        }
      }
      const routes = [
        ["POST", "/api/chat", { message: "Hi" }, "mesage"],
        ["POST", "/api/keys", { name: "script" }, "expires_at"],
        ["POST", "/api/agents/:id/schedules", { prompt: "Hi", cron: "0 9 * * *" }, "time_zone"],
        ["POST", "/api/agents/:id/memories", { text: "The pier is closed." }, "texts"],
        ["POST", "/api/webhooks", { url: "https://example.com/hook" }, "descripton"],
        ["PUT", "/api/agents/:id/skills/clock", { enabled: true }, "enable"],
      ] as const;
      for (const [method, path, good, misspelt] of routes) {
        const side = path.includes("/skills/") ? ("backend" as const) : ("web" as const);
        expect({ path, said: await ignored({ side, method, path }, { ...good, [misspelt]: 1 }) }).toEqual({
          path,
          said: [expect.stringMatching(/^\w+: This was ignored: there is no such field here\. Is "\w+" meant\?$/)],
        });
      }
    });

    test("no content type at all: 415", async () => {
      for (const route of [...routes, ...anyObject]) {
        expectRefusal(await send(route, JSON.stringify(route.good), {}), 415, "UNSUPPORTED_MEDIA_TYPE");
      }
    });

    test("2 MiB without a length: 413", async () => {
      for (const { side, method, path } of [...routes, ...anyObject]) {
        const headers = { cookie: ada.cookie, ...json };
        const request = chunked(method, path.replace(":id", id), headers, 2 * MiB);
        expectRefusal(await rawRequest(berth[side], request), 413, "BODY_TOO_LARGE");
      }
    });

    test("a length of 100 MiB, or an invalid one: rejected at once", async () => {
      for (const { side, method, path } of routes) {
        const head = (length: string) =>
          `${method} ${path.replace(":id", id)} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncookie: ${ada.cookie}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
        expectRefusal(await rawRequest(berth[side], `${head(String(100 * MiB))}{}`), 413, "BODY_TOO_LARGE");
      }
    });

    test("64 levels and 1 MiB are accepted", async () => {
      const route = { side: "web" as const, method: "POST" as const, path: "/api/chat" };
      expect((await send(route, withField({ message: "Hi" }, nested(63)))).status).toBe(200);
      const full = withField({ message: "Hi" }, `"${"x".repeat(MiB - 27)}"`);
      expect(Buffer.byteLength(full)).toBe(MiB);
      expect((await send(route, full)).status).toBe(200);
    });

    test("a body that is not an object: 400 with issues", async () => {
      for (const route of routes.filter(({ needs }) => needs.length > 0)) {
        for (const body of ["[]", "null", "1", '"text"', "true", "[{}]"]) {
          const answer = await send(route, body);
          expect({ route: named(route), body, status: answer.status }).toEqual({
            route: named(route),
            body,
            status: 400,
          });
          const { issues } = expectRefusal(answer, 400);
          expect(issues?.length).toBeGreaterThan(0);
        }
      }
      for (const route of anyObject) {
        for (const body of ["[]", "null", "1", '"text"', "[{}]"]) expectRefusal(await send(route, body), 400);
      }
    });

    test("a missing field: 400, named in issues; an empty body counts as no fields", async () => {
      for (const route of routes) {
        for (const field of route.needs) {
          const { [field]: _, ...rest } = route.good;
          const { issues } = expectRefusal(await send(route, JSON.stringify(rest)), 400);
          expect(issues?.map(({ path }) => path)).toContain(field);
        }
        const empty = await send(route, "");
        if (route.needs.length === 0) expect(empty.status).toBe(200);
        else expectRefusal(empty, 400);
      }
    });

    test("a field of the wrong type or out of bounds: 400, named in issues without its value", async () => {
      for (const route of [...routes, ...anyObject]) {
        for (const [field, values] of Object.entries(route.wrong)) {
          for (const value of values) {
            const sent = { route: named(route), field, value: JSON.stringify(value).slice(0, 40) };
            const answer = await send(route, JSON.stringify({ ...route.good, [field]: value }));
            expect({ ...sent, status: answer.status }).toEqual({ ...sent, status: 400 });
            const { issues } = expectRefusal(answer, 400);
            expect({ ...sent, named: issues?.some(({ path }) => path.startsWith(field)) }).toEqual({
              ...sent,
              named: true,
            });
            expect(answer.body.length).toBeLessThan(2_000);
          }
        }
      }
    });

    test("page sizes that are not whole numbers: 400; too large ones are reduced", async () => {
      for (const path of [`/api/agents/${id}/logs`, "/api/chat"]) {
        for (const limit of ["0", "-1", "1.5", "ten", "", "1e9", "0x10", "%00", "1 OR 1=1", "٣", "Infinity"]) {
          expectRefusal(await ada.get(`${path}?limit=${encodeURIComponent(limit)}`), 400);
        }
        expect((await ada.get(`${path}?limit=100000`)).status).toBe(200);
      }
      for (const offset of ["-1", "1.5", "x", "9".repeat(400)]) {
        expectRefusal(await ada.get(`/api/chat?offset=${offset}`), 400);
      }
      expectRefusal(await ada.get(`/api/agents/${id}/logs?level=loud`), 400);
      expectRefusal(await ada.get("/api/agent?action=explode"), 400, "INVALID_ACTION");
      expectRefusal(await ada.post("/api/agent", { action: "constructor" }), 400, "INVALID_ACTION");
      expectRefusal(await ada.get("/api/agent?action=__proto__"), 400, "INVALID_ACTION");
      expectRefusal(await ada.get("/api/agent?action=session"), 400);
      expectRefusal(await ada.get("/api/agent?action=session&sessionId=sess_0"), 404, "SESSION_NOT_FOUND");
      expectRefusal(await ada.get(`/api/agent?action=${"x".repeat(5_000)}`), 400);
    });

    test("unknown routes and methods: 404 on both surfaces", async () => {
      const paths = [
        "/api",
        "/api/nothing",
        "/api/agents/x/y/z",
        "/API/AGENT",
        "//",
        "/%",
        "/%00",
        "/%ff",
        "/api/%2e%2e/nothing",
        "/../../etc/passwd",
        "/.env",
        "/swagger/../.env",
        `/${"a".repeat(8_000)}`,
        "/*",
        "/:id",
        "/constructor",
      ];
      for (const origin of [berth.web, berth.backend]) {
        for (const path of paths) {
          for (const method of ["GET", "POST", "DELETE", "PATCH"]) {
            const answer = await rawRequest(origin, { method, path, headers: { cookie: ada.cookie } });
            expect({ path, method, status: answer.status }).toEqual({ path, method, status: 404 });
            expectRefusal(answer, 404, "NOT_FOUND");
          }
        }
      }
      for (const method of ["PUT", "PATCH", "TRACE"]) {
        expectRefusal(await rawRequest(berth.web, { method, path: "/api/register" }), 404, "NOT_FOUND");
      }
      expectRefusal(await ada.get("/metrics"), 404, "NOT_FOUND");
      expectRefusal(await ada.get("/api/ai/models"), 404, "NOT_FOUND");
    });

    test("unusual headers never change the format of a response", async () => {
      const odd: Record<string, string>[] = [
        { cookie: "berth_session" },
        { cookie: "berth_session=; berth_session=x.y.z" },
        { cookie: `berth_session=${"x".repeat(8_000)}` },
        { cookie: "berth_session=%00%ff" },
        { cookie: "\xff\xfe" },
        { authorization: "Bearer" },
        { authorization: "Bearer bk_nothing" },
        { authorization: `Bearer ${"x".repeat(8_000)}` },
        { authorization: "Basic \xff" },
        { "x-request-id": "evil\tid" },
        { "x-forwarded-for": `${"9".repeat(3_000)}, \xff` },
        { accept: "\xff" },
        { "idempotency-key": "x".repeat(8_000) },
        { origin: "\xff" },
        { "content-length": "0" },
      ];
      for (const headers of odd) {
        const all = { ...json, ...headers };
        expectRefusal(await rawRequest(berth.web, { path: "/api/settings", headers: all }), 401, "UNAUTHORIZED");
        const backend = await rawRequest(berth.backend, { path: `/api/agents/${id}`, headers: all });
        expectRefusal(backend, 401, "UNAUTHORIZED");
      }
      const keys = ["", " ", "x".repeat(256), "with space", "\xff"];
      for (const key of keys.filter((key) => key.trim() !== "")) {
        const answer = await send({ side: "web", method: "POST", path: "/api/agents" }, '{"name":"x"}', {
          ...json,
          "idempotency-key": key,
        });
        expectRefusal(answer, 400);
      }
      // The HTTP parser rejects these itself: an empty response with a status only.
      for (const bytes of [
        `GET /api/settings HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(200_000)}\r\n\r\n`,
        `GET /${"y".repeat(200_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
        "GET /api/settings HTTP/9.9\r\n\r\n",
        "nonsense\r\n\r\n",
        "POST /api/register HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        "POST /api/register HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      ]) {
        const answer = await rawRequest(berth.web, bytes);
        expect([0, 400, 404, 413, 414, 431, 505]).toContain(answer.status);
        expect(answer.body).not.toMatch(/\bat \S+[:(]|Error|stack/);
      }
      expect((await ada.get("/api/settings")).status).toBe(200);
    });

    test("an invalid upgrade, on a socket's path and elsewhere", async () => {
      const upgrade = { upgrade: "websocket", connection: "upgrade, close" };
      for (const path of [`/agent/${id}`, "/agent/", "/agent/%zz"]) {
        const answer = await rawRequest(berth.web, { path, headers: { ...upgrade, cookie: ada.cookie } });
        expectRefusal(answer, 400, "UPGRADE_FAILED");
      }
      expectRefusal(await rawRequest(berth.web, { path: "/api/settings", headers: upgrade }), 401);
      expectRefusal(await rawRequest(berth.backend, { path: `/agent/${id}`, headers: upgrade }), 404);
      expectRefusal(await rawRequest(berth.web, { path: `/agent/${id}` }), 404);
    });

    test("invalid frames get an error frame, and the socket stays open", async () => {
      const socket = new WebSocket(`${berth.web.replace("http", "ws")}/agent/${id}`, {
        headers: { cookie: ada.cookie, origin: berth.web },
      });
      const received: { type: string; code?: string }[] = [];
      const wait = Promise.withResolvers<void>();
      const frames = [
        "",
        "nonsense",
        "[]",
        "1",
        "null",
        "{}",
        '{"type":1}',
        '{"type":"chat"}',
        '{"type":"chat","id":1,"message":"x"}',
        '{"type":"chat","id":"1"}',
        '{"type":"chat","id":"1","message":5}',
        '{"type":"shout","id":"1"}',
        '{"type":"chat","id":"1","message":"\\ud800"}',
        nested(20_000),
        `{"type":"chat","id":"${"x".repeat(200)}","message":"x"}`,
      ];
      socket.onopen = () => {
        for (const frame of frames) socket.send(frame);
        socket.send(new Uint8Array([0xff, 0xfe]));
        socket.send('{"type":"ping"}');
      };
      socket.onmessage = ({ data }) => {
        expect(String(data)).not.toMatch(/\bat \S+[:(]|SyntaxError|TypeError/);
        received.push(JSON.parse(String(data)));
        if (received.at(-1)?.type === "pong") wait.resolve();
      };
      socket.onclose = ({ code }) => wait.reject(new Error(`closed: ${code}`));
      await wait.promise;
      const errors = received.filter(({ type }) => type === "error");
      expect(errors).toHaveLength(frames.length + 1);
      for (const { code } of errors) expect(code).toMatch(/^INVALID_(?:FRAME|INPUT)$/);
      socket.onclose = null;
      socket.close();
    });

    describe("protected routes without a session", () => {
      /** The routes that need no session. All other routes in the API description are protected. */
      const open = {
        web: [
          "get /schemas/agent.json",
          "get /schemas/plans.json",
          "post /api/billing/stripe",
          "post /api/auth/device",
          "post /api/auth/device/token",
          "get /api/embed/{agent}",
          "post /api/embed/{agent}/messages",
          "post /api/embed/{agent}/stop",
          "get /healthz",
          "get /readyz",
          "post /api/register",
          "post /api/auth/first-admin",
          "post /api/auth/callback/credentials",
          "post /api/auth/callback/wallet",
          "get /api/auth/nonce",
          "get /api/auth/oauth/{provider}",
          "get /api/auth/callback/{provider}",
          // It leads to the sign-in, and is described for authorization servers.
          "get /api/mcp/callback",
          "get /api/mcp/client.json",
          "post /api/auth/two-factor",
          "post /api/auth/verify-email",
          "post /api/auth/forgot-password",
          "post /api/auth/reset-password",
          "get /api/auth/session",
          "get /api/auth/providers",
          "post /api/auth/signout",
          "get /api/auth/social/verify",
          "post /api/auth/social/verify",
          "get /api/auth/social/refresh",
          "post /api/auth/social/refresh",
          "get /api/auth/token-gating/verify",
          "post /api/auth/token-gating/verify",
          // They answer that a session is needed.
          "get /api/wallet/address",
          "get /api/wallet/managed",
          // An empty list without a session.
          "get /api/agents",
          // Authenticated by the platform's secret.
          "post /hooks/{channel}",
          "get /hooks/{channel}",
          "post /hooks/{channel}/{callbackId}",
          "get /hooks/{channel}/{callbackId}",
          // Without a session it creates an account that can be claimed.
          "post /api/provision",
          // For visitors.
          "get /a/{subdomain}",
          // For other agents.
          "post /a/{subdomain}",
          "get /a/{subdomain}/.well-known/agent-card.json",
          // For apps that ask to be connected.
          "get /.well-known/oauth-protected-resource/mcp",
          "get /.well-known/oauth-authorization-server",
          "post /api/oauth/register",
          "post /api/oauth/token",
          "post /api/oauth/revoke",
          "get /live/{liveStreamId}",
          "get /live/{liveStreamId}/{file}",
          "post /a/{subdomain}/messages",
          // A socket, which refuses by closing.
          "get /agent/{id}",
        ],
        backend: [
          "get /healthz",
          "get /readyz",
          // On loopback.
          "get /metrics",
          "get /api/ai/health",
          "get /api/ai/models",
          "get /api/ai/models/{provider}",
          "post /api/ai/models/select",
          "post /api/ai/chat",
          "post /api/ai/estimate-cost",
          "get /v1/models",
          "get /v1/models/{id}",
          "post /v1/chat/completions",
          "post /v1/embeddings",
          "post /v1/responses",
          "get /v1/responses/{id}",
          "delete /v1/responses/{id}",
          "get /v1/responses/{id}/input_items",
          "post /v1/messages",
          "post /v1/audio/transcriptions",
          "post /v1/audio/speech",
          "post /v1/images/generations",
        ],
      };
      const bodies: { what: string; body?: string; headers?: Record<string, string> }[] = [
        { what: "no body" },
        { what: "a good type", body: "{}" },
        { what: "broken JSON", body: "{" },
        { what: "deep JSON", body: nested(20_000) },
        { what: "another type", body: "a=b", headers: { "content-type": "text/plain" } },
        { what: "no type", body: "{}", headers: { "content-type": "" } },
        { what: "more than 1 MiB", body: `"${"x".repeat(MiB + 1)}"` },
      ];

      test("401 for each of them on both surfaces, with any body", async () => {
        let checked = 0;
        for (const side of ["web", "backend"] as const) {
          const { body } = await createClient(berth[side]).get<{ paths: Record<string, object> }>("/swagger/json");
          const listed = Object.entries(body.paths).flatMap(([path, methods]) =>
            Object.keys(methods).map((method) => ({ path, method })),
          );
          const closed = listed.filter(({ path, method }) => !open[side].includes(`${method} ${path}`));
          // Every entry of the list exists.
          expect(listed.length - closed.length).toBe(open[side].length);
          expect(closed.length).toBeGreaterThan(10);
          for (const { path, method } of closed) {
            const answers = await Promise.all(
              bodies.map(async ({ what, body, headers }) => ({
                route: `${side} ${method} ${path} with ${what}`,
                answer: await rawRequest(berth[side], {
                  method: method.toUpperCase(),
                  path: path.replace("{id}", id).replaceAll(/\{\w+\}/g, "x"),
                  headers: { ...json, ...headers },
                  ...(body === undefined ? {} : { body }),
                }),
              })),
            );
            for (const { route, answer } of answers) {
              expect({ route, status: answer.status }).toEqual({ route, status: 401 });
              expectRefusal(answer, 401, "UNAUTHORIZED");
              checked++;
            }
          }
        }
        expect(checked).toBeGreaterThan(100);
      });
    });

    // Once is enough: it takes seconds.
    if (mode === "production") {
      test("headers that no client should send get documented answers", async () => {
        const { found, sent } = await undocumentedAnswers(berth);
        expect(found).toEqual([]);
        expect(sent).toBeGreaterThan(1_000);
      });
    }

    test("none of these requests has logged an error", () => {
      const lines = berth.output().stderr.split("\n");
      expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    });

    test("and no library has written its own warnings", () => {
      expect(berth.output().stdout).not.toMatch(/warning/i);
    });
  });
}
