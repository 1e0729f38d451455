// Tests the warnings about models for speech, recordings and pictures, as owners get them when they save a configuration.
import { describe, expect, test } from "bun:test";
import { silent } from "../../../tests/support/database.ts";
import { openPluginHost } from "../../../tests/support/plugin-host.ts";
import { insertAgent } from "../../../tests/support/records.ts";
import { agents } from "../../agents/index.ts";
import { ai } from "../index.ts";

/** The warnings about a configuration on a server with these variables; `key`: a credential of the agent. */
async function warningsAbout(config: object, env: Record<string, string> = {}, key?: string) {
  await using opened = await openPluginHost({ env: { ...env, LOG_LEVEL: "error" }, log: silent });
  const owners = opened.host.use(agents);
  opened.host.use(ai);
  const agentId = await insertAgent(opened.kernel.database);
  if (key) await owners.credentials.set({ kind: "agent", id: agentId }, key, "sk-own");
  return await owners.configWarnings(agentId, JSON.stringify(config));
}
const paths = async (...given: Parameters<typeof warningsAbout>) =>
  (await warningsAbout(...given)).map(({ path }) => path);
const OPENAI = { PROVIDER_5_API_KEY: "sk-test" };
const GROQ = { PROVIDER_3_API_KEY: "sk-test" };

describe("spoken replies", () => {
  test.each([["always"], ["when spoken to"], [{ replies: "always", voice: "nova" }]])(
    "%j without a provider that speaks are warned about",
    async (voice) => {
      expect(await warningsAbout({ voice }, GROQ)).toEqual([
        { path: "voice.replies", message: expect.stringContaining("replies stay text") },
      ]);
    },
  );

  test("are not, if a key of the operator or the agent speaks, or if nothing is to be spoken", async () => {
    expect(await warningsAbout({ voice: "always" }, OPENAI)).toEqual([]);
    expect(await warningsAbout({ voice: "always" }, GROQ, "provider_5")).toEqual([]);
    const own = { PROVIDER_3_BASE_URL: "http://127.0.0.1:9", SPEECH_MODEL: "provider_3:kokoro" };
    expect(await warningsAbout({ voice: "when spoken to" }, own)).toEqual([]);
    expect(await warningsAbout({ voice: "never" })).toEqual([]);
  });
});

test("a named model without a key is warned about where it is named", async () => {
  const config = {
    transcription: { model: "provider_5:whisper-1" },
    voice: { replies: "always", model: "provider_5:tts-1" },
    pictures: { model: "provider_2:imagen-4.0-generate-001" },
  };
  expect(await paths(config)).toEqual(["transcription.model", "voice.model", "pictures.model"]);
  expect(await paths(config, OPENAI)).toEqual(["pictures.model"]);
  expect(await paths(config, OPENAI, "provider_2")).toEqual([]);
});

test("a model that the provider is not known to have is warned about, with those that it has", async () => {
  const config = { voice: { replies: "always", model: "provider_5:tts-99" }, pictures: { model: "provider_3:paint" } };
  const [voice, pictures] = await warningsAbout(config, { ...OPENAI, ...GROQ });
  expect(voice).toEqual({
    path: "voice.model",
    message: expect.stringMatching(/^Berth does not know tts-99, .*\btts-1\b/),
  });
  expect(pictures).toEqual({ path: "pictures.model", message: expect.stringContaining("paint is tried as it is") });
  const local = { PROVIDER_3_BASE_URL: "http://127.0.0.1:9" };
  expect(await warningsAbout({ voice: { replies: "always", model: "provider_3:kokoro" } }, local)).toEqual([]);
});

test("a model whose price nobody knows is warned about where the operator pays", async () => {
  const config = { pictures: { model: "provider_5:paint-9" } };
  const env = { ...OPENAI, AI_UNKNOWN_PRICE: "refuse" };
  expect(await warningsAbout(config, env)).toEqual([
    { path: "pictures.model", message: expect.stringContaining("price of paint-9") },
  ]);
  expect(await warningsAbout(config, env, "provider_5")).toEqual([
    { path: "pictures.model", message: expect.stringContaining("does not know paint-9") },
  ]);
});
