// Runs an agent of each template once, with a scripted model, on the compiled binary.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TEMPLATES } from "../plugins/agents/templates/templates.ts";
import { serverTexts } from "../src/kernel/pages/translations.ts";
import { LANGUAGES, type Language } from "../web/languages/languages.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { type AgentItem, member } from "./support/members.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
let berth: Berth;
let ada: Client;
beforeAll(async () => {
  upstream = await startUpstream();
  berth = await startBerth({
    env: { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" },
  });
  ada = await member(berth, "enterprise");
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});

/** What the scripted model does with each template: a tool that it is made for, and what the person asks. */
const SCENES: Readonly<Record<string, { asks: string; tool: string; input: object; result: RegExp }>> = {
  assistant: { asks: "My ship is Aurora.", tool: "remember", input: { fact: "The ship is Aurora." }, result: /./ },
  "support-desk": { asks: "Where is my order?", tool: "remember", input: { fact: "Order 12 is late." }, result: /./ },
  researcher: { asks: "How long is a mile?", tool: "run_code", input: { code: "return 1852 * 2;" }, result: /3704/ },
  "community-moderator": { asks: "What day is it?", tool: "clock", input: {}, result: /20\d\d/ },
  "on-call-helper": { asks: "The lamp is out.", tool: "clock", input: {}, result: /20\d\d/ },
};

test("each template has a scene", () => {
  expect(Object.keys(SCENES)).toEqual(TEMPLATES.map(({ id }) => id));
});

describe.each(TEMPLATES)("an agent of the template $id", ({ id, texts: english, config }) => {
  test.each(Object.keys(LANGUAGES) as Language[])(
    "follows its instructions and uses its tools (%s)",
    async (language) => {
      const texts = language === "en" ? english : serverTexts(language).templates[id];
      const { asks, tool, input, result } = SCENES[id] ?? { asks: "", tool: "", input: {}, result: /^$/ };
      const made = await ada.post<{ agent: AgentItem; warnings?: unknown }>(
        "/api/agents/provision",
        { name: texts.name, template: id },
        { headers: { "accept-language": language } },
      );
      expect([made.status, made.body.warnings]).toEqual([201, undefined]);
      const agentId = made.body.agent.id;

      upstream.reset();
      upstream.script(({ toolResults: [given] }) =>
        given ? `Done: ${given.content}` : { toolCalls: [{ name: tool, arguments: input }] },
      );
      const { status, body } = await ada.post<{ reply: string }>("/api/agent", {
        agentId,
        action: "chat",
        message: asks,
      });
      expect(status).toBe(200);
      expect(body.reply).toMatch(result);

      const [first] = upstream.chats;
      const system = JSON.stringify(first?.messages.filter(({ role }) => role === "system"));
      expect(system).toContain(JSON.stringify(texts.instructions.slice(0, 60)).slice(1, -1));
      expect(first?.body).toMatchObject({ temperature: config.temperature });
      const offered = JSON.stringify(first?.body.tools);
      expect(offered).toContain(`"${tool}"`);
      expect(offered.includes('"web_fetch"')).toBe(Reflect.get(config.skills as object, "web-fetch") === true);

      const { schedules } = (
        await ada.get<{ schedules: { name: string; enabled: boolean; nextRunAt: string | null }[] }>(
          `/api/agents/${agentId}/schedules`,
        )
      ).body;
      expect(schedules).toMatchObject([{ name: texts.schedule.name, enabled: false, nextRunAt: null }]);
    },
  );
});
