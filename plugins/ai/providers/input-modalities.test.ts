// Tests the kinds of files that models accept, and the size of prompts with files.

import { describe, expect, test } from "bun:test";
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { promptSize } from "../calls/prompt-size.ts";
import { guessInputModalities, parseInputModalities } from "./input-modalities.ts";
import { builtInProviders, createProviderRegistry } from "./registry.ts";

const registry = createProviderRegistry(builtInProviders);

describe("kinds of files", () => {
  test.each([
    ["provider_1", "anthropic/claude-sonnet-4.5", ["image", "pdf"]],
    ["provider_1", "google/gemini-3.5-flash", ["image", "audio", "pdf"]],
    ["provider_1", "openai/gpt-oss-120b", []],
    ["provider_1", "deepseek/deepseek-v4-pro", []],
    ["provider_2", "gemini-2.5-flash", ["image", "audio"]],
    ["provider_3", "meta-llama/llama-4-scout-17b-16e-instruct", ["image"]],
    ["provider_3", "llama-3.3-70b-versatile", []],
    ["provider_3", "llama3.2-vision", ["image"]],
    ["provider_3", "gemma3:12b", ["image"]],
    ["provider_3", "gemma3:1b", []],
    ["provider_3", "qwen2.5vl:7b", ["image"]],
    ["provider_4", "claude-haiku-4-5-20251001", ["image"]],
    ["provider_5", "gpt-5.4-mini", ["image", "pdf"]],
    ["provider_5", "o3-mini", []],
    ["provider_5", "o4-mini", ["image", "pdf"]],
    ["provider_5", "gpt-4o-audio-preview", ["audio"]],
    ["provider_5", "gpt-3.5-turbo", []],
    ["provider_5", "fake-small", []],
  ] as const)("%s: %s", (provider, id, expected) => {
    expect(guessInputModalities(registry.get(provider), id)).toEqual([...expected]);
  });

  test("every built-in model of Google, Anthropic and OpenAI accepts pictures", () => {
    for (const provider of ["provider_2", "provider_4", "provider_5"] as const)
      for (const [id] of registry.get(provider).models)
        expect(guessInputModalities(registry.get(provider), id), id).toContain("image");
  });

  test("modalities are parsed from a list in the format of OpenRouter", () => {
    expect(parseInputModalities(["text", "image", "file"])).toEqual(["image", "pdf"]);
    expect(parseInputModalities(["text"])).toEqual([]);
    expect(parseInputModalities(undefined)).toBeUndefined();
  });
});

describe("the size of a prompt", () => {
  const file = (mediaType: string, bytes: number) =>
    ({ type: "file", mediaType, data: { type: "data", data: "A".repeat((bytes * 4) / 3) } }) as const;
  const asked = (...parts: ReturnType<typeof file>[]): LanguageModelV4Prompt => [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "look" }, ...parts] },
  ];

  test("is its JSON for a prompt of text only", () => {
    expect(promptSize(asked())).toEqual({ text: JSON.stringify(asked()), fileTokens: 0 });
  });

  test("counts files by estimate, not by their bytes", () => {
    const { text, fileTokens } = promptSize(asked(file("image/jpeg", 300_000), file("application/pdf", 120_000)));
    expect(text.length).toBeLessThan(300);
    expect(fileTokens).toBe(1_600 + 3 * 3_000);
    // A minute of small recordings counts as a little more than it is.
    for (const [mediaType, size] of [
      ["audio/ogg", 120_000],
      ["audio/mpeg", 240_000],
      ["audio/wav", 960_000],
    ] as const) {
      const tokens = promptSize(asked(file(mediaType, size))).fileTokens;
      expect(tokens).toBeGreaterThanOrEqual(32 * 60);
      expect(tokens).toBeLessThan(3 * 32 * 60);
    }
  });
});
