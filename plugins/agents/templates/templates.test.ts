// Tests the templates: each makes an agent that talks, in both languages, and settings of the caller's own win.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { serverTexts } from "../../../src/kernel/pages/translations.ts";
import { createMember } from "../../../tests/support/account-setup.ts";
import type { Client } from "../../../tests/support/client.ts";
import type { AgentItem } from "../../../tests/support/members.ts";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { openServer, type TestServer } from "../../../tests/support/server.ts";
import { TRANSLATED } from "../../../web/languages/languages.ts";
import { findSecret } from "../configuration/secret-detection.ts";
import { NEXT_PAGES } from "./template.ts";
import { configOfTemplate, mergePatch, TEMPLATES } from "./templates.ts";

let server: TestServer;
let ada: Client;
beforeAll(async () => {
  server = await openServer();
  ada = (await createMember(server, { plan: "enterprise" })).client;
});
afterAll(() => server[Symbol.asyncDispose]());

interface Provisioned {
  agent: AgentItem;
  warnings?: unknown;
}
const german = { headers: { "accept-language": "de-AT,de;q=0.9,en;q=0.5" } };
const provision = (body: object, options = {}) =>
  ada.post<Provisioned>("/api/agents/provision", { name: "Harbour", ...body }, options);
const configOf = async ({ id }: AgentItem) =>
  (await ada.get<{ config: Record<string, unknown> }>(`/api/agents/${id}/config`)).body.config;

describe("GET /api/templates", () => {
  test("lists them in the language of the caller", async () => {
    const english = await ada.get<{ templates: { id: string; name: string; config: object }[]; count: number }>(
      "/api/templates",
    );
    expect(english.headers.get("vary")).toContain("accept-language");
    expect(english.body.count).toBe(5);
    expect(english.body.templates.map(({ id }) => id)).toEqual(TEMPLATES.map(({ id }) => id));
    expect(english.body.templates[1]).toMatchObject({
      name: "Support desk",
      config: { instructions: expect.stringContaining("You are the support desk"), temperature: 0.2 },
    });
    const { body } = await ada.get<typeof english.body>("/api/templates", german);
    expect(body.templates[1]).toMatchObject({ id: "support-desk", name: "Kundendienst" });
  });

  test("needs a session", async () => {
    const response = await fetch(`${server.web}/api/templates`);
    expect(response.status).toBe(401);
  });
});

describe.each(TEMPLATES)("the texts of $id", ({ id, texts: english, config }) => {
  test("are whole in each language, and say what to do next", () => {
    const texts = [english, ...TRANSLATED.map((language) => serverTexts(language).templates[id])];
    for (const { instructions, next, schedule, description } of texts) {
      expect(instructions.length).toBeGreaterThan(500);
      expect(description).toMatch(/^[^.]+\.$/);
      expect(schedule.prompt).toMatch(/^\S.*\.$/s);
      expect(next.length).toBeGreaterThan(2);
      for (const { text, page } of next) {
        expect(text).toMatch(/^\S.*\.$/);
        expect(NEXT_PAGES).toContain(page);
      }
      expect(next.map(({ page }) => page)).toEqual(english.next.map(({ page }) => page));
    }
    expect(Object.keys(config.approvals as object)).toEqual(["outside", "spend"]);
    expect({ id, key: findSecret(config, []) }).toEqual({ id, key: undefined });
  });
});

describe.each(TEMPLATES.map(({ id }) => id))("the template %s", (template) => {
  test.each([{}, german])("makes an agent without warnings that answers (%j)", async (options) => {
    const { status, body } = await provision({ template }, options);
    expect(status).toBe(201);
    expect(body.warnings).toBeUndefined();
    const reply = await ada.post<{ reply: string }>("/api/agent", {
      action: "chat",
      agentId: body.agent.id,
      message: "Who are you?",
    });
    expect(reply.status).toBe(200);
    expect(reply.body.reply).toContain("demo model");
    expect((await configOf(body.agent)).instructions).toMatch("headers" in options ? /^Du / : /^You /);
  });
});

describe("provisioning with a template", () => {
  test("merges the caller's configuration over it", async () => {
    const config = { instructions: "Be brief.", skills: { clock: false }, temperature: null, own: [1] };
    const { body } = await provision({ template: "assistant", config });
    expect(await configOf(body.agent)).toEqual({
      instructions: "Be brief.",
      memory: true,
      skills: { memory: true, reminder: true, clock: false, "web-fetch": true, "run-code": true },
      approvals: { outside: "ask", spend: "ask" },
      schedules: [expect.objectContaining({ name: "Morning overview", cron: "0 8 * * *", enabled: false })],
      own: [1],
    });
  });

  test("refuses an unknown one, and names the nearest", async () => {
    const refusal = expectRefusal(await provision({ template: "asistant" }), 400);
    expect(refusal).toMatchObject({ code: "UNKNOWN_TEMPLATE", issues: [{ path: "template" }] });
    expect(refusal.error).toContain("Did you mean assistant?");
  });

  test("checks the merged configuration", async () => {
    const refusal = expectRefusal(await provision({ template: "assistant", config: { temperature: "hot" } }), 400);
    expect(refusal.issues?.[0]?.path).toBe("temperature");
  });
});

describe("a merge patch", () => {
  test("follows RFC 7396", () => {
    expect(mergePatch({ a: { b: 1, c: 2 }, d: [1] }, { a: { b: null }, d: [2], e: { f: null } })).toEqual({
      a: { c: 2 },
      d: [2],
      e: {},
    });
    expect(mergePatch("text", { a: 1 })).toEqual({ a: 1 });
  });

  test("keeps __proto__ as a plain key", () => {
    const merged = configOfTemplate("assistant", "en", '{"__proto__":{"polluted":true}}');
    expect(merged).toContain('"__proto__":{"polluted":true}');
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});
