// Tests that Ogg recordings reach the provider with their real format.

import { expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { relabelOggRequests, withOggAudio } from "./ogg-audio.ts";

const ogg = Buffer.from("OggS\0 a voice, long enough").toString("base64");
const wav = Buffer.from("RIFF\0\0\0\0WAVE").toString("base64");

test("each recording has its real format; text that looks like a recording is unchanged", async () => {
  const bodies: unknown[] = [];
  const send = relabelOggRequests(async (_, init) => {
    bodies.push(JSON.parse(String(init.body)));
    const message = { role: "assistant", content: "yes" };
    return Response.json({ choices: [{ index: 0, message, finish_reason: "stop" }] });
  });
  const call = (url: string | URL | Request, init?: RequestInit) => send(String(url), init ?? {});
  const provider = createOpenAI({ apiKey: "k", fetch: Object.assign(call, { preconnect: fetch.preconnect }) });
  const part = (mediaType: string, data: string) =>
    ({ type: "file", mediaType, data: { type: "data", data } }) as const;
  const words = `"input_audio":{"data":"${ogg}","format":"wav"}`;
  const content = [
    { type: "text", text: words },
    part("audio/ogg", ogg),
    part("audio/wav", wav),
    part("audio/ogg", ogg),
  ] as const;
  const prompt: LanguageModelV4Prompt = [{ role: "user", content: [...content] }];
  await withOggAudio(provider.chat("any")).doGenerate({ prompt });
  expect(bodies).toMatchObject([
    {
      messages: [
        {
          content: [
            { type: "text", text: words },
            { type: "input_audio", input_audio: { data: ogg, format: "ogg" } },
            { type: "input_audio", input_audio: { data: wav, format: "wav" } },
            { type: "input_audio", input_audio: { data: ogg, format: "ogg" } },
          ],
        },
      ],
    },
  ]);
  // What was given is as it was.
  expect(prompt[0]?.content[1]).toMatchObject({ mediaType: "audio/ogg" });
});
