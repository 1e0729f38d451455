// Two hundred responses of chat providers as texts: some as known servers write them, the rest generated to be as unusual
// as valid JSON may be, to test that they pass through Berth byte for byte.
import { seeded } from "./eventually.ts";

/** Numbers that a double can't represent, and spellings that a parser would change. */
const NUMBERS = [
  "12345678901234567890123456789",
  "-0",
  "-0.0",
  "1e400",
  "1E-400",
  "0.1000000000000000055511151231257827",
  "9007199254740993",
  "1.0",
  "1.50e+02",
  "100000000000000000000000000000000000000000000000000000000000000000000000000000000",
];

/** Contents of JSON strings: every kind of escape, and characters that a normaliser would change. */
const TEXTS = [
  "plain",
  "\\u0000\\u001f\\u007f",
  "\\ud83d\\ude00 and 😀",
  "\\ud83d alone",
  "\\udc00\\ud800",
  "\u2028\u2029\u0085\ufeff",
  "e\u0301 é \u200d\u200b\u202e",
  "👩‍👩‍👧‍👦🏳️‍🌈",
  '\\/ \\b\\f\\n\\r\\t \\\\ \\"',
  'data: {\\"usage\\": null}\\n\\ndata: [DONE]',
  "\\u2028 \\u00E9 \\u00e9",
  "漢字かな 한국어 עברית العربية",
  '\\"usage\\":{\\"prompt_tokens\\":1}',
];

const SPACES = ["", " ", "  ", "\n", "\r\n", "\t", " \n\t "];

/** Recorded responses, byte for byte as their servers wrote them. */
export const recorded: readonly string[] = [
  '{\n  "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",\n  "object": "chat.completion",\n  "created": 1741569952,\n  "model": "gpt-4.1-2025-04-14",\n  "choices": [\n    {\n      "index": 0,\n      "message": {\n        "role": "assistant",\n        "content": "Hello! How can I assist you today?",\n        "refusal": null,\n        "annotations": []\n      },\n      "logprobs": null,\n      "finish_reason": "stop"\n    }\n  ],\n  "usage": {\n    "prompt_tokens": 19,\n    "completion_tokens": 10,\n    "total_tokens": 29,\n    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},\n    "completion_tokens_details": {"reasoning_tokens": 0}\n  },\n  "service_tier": "default"\n}\n',
  '\n         \n         \n{"id":"gen-1749","provider":"Google","model":"google/gemini-2.5-flash","object":"chat.completion","created":1749,"choices":[{"logprobs":null,"finish_reason":"stop","native_finish_reason":"STOP","index":0,"message":{"role":"assistant","content":"Hi","refusal":null,"reasoning":null}}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4,"cost":0.0000034}}',
  '{"id":"chatcmpl-f51b2cd2","object":"chat.completion","created":1730241104,"model":"llama-3.3-70b-versatile","choices":[{"index":0,"message":{"role":"assistant","content":"Fast"},"logprobs":null,"finish_reason":"stop"}],"usage":{"queue_time":0.037493756,"prompt_tokens":18,"prompt_time":0.000680594,"completion_tokens":556,"completion_time":0.463333333,"total_tokens":574,"total_time":0.464013927},"system_fingerprint":"fp_179b0f92c9","x_groq":{"id":"req_01jbd6g2qdfw2adyrt2az8hz4w"}}',
  '{"choices":[{"finish_reason":"stop","index":0,"message":{"content":"Gr\\u00fc\\u00dfe","extra_content":{"google":{"thought_signature":"AVSoXO4+/="}},"role":"assistant"}}],"created":1760000000,"id":"x","model":"gemini-2.5-flash","object":"chat.completion","usage":{"completion_tokens":2,"prompt_tokens":5,"total_tokens":31}}',
  '{"id":"msg_01","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_01","type":"function","function":{"name":"clock","arguments":"{\\"zone\\": \\"Europe/Vienna\\"}"}}]},"finish_reason":"tool_calls"}],"created":1760000000,"model":"claude-sonnet-4-5","object":"chat.completion","usage":{"completion_tokens":51,"prompt_tokens":390,"total_tokens":441}}',
  '{"id":"chatcmpl-831","object":"chat.completion","created":1760000000,"model":"qwen3:8b","system_fingerprint":"fp_ollama","choices":[{"index":0,"message":{"role":"assistant","content":"","reasoning":"Okay, \\u003cthink\\u003e"},"finish_reason":"length"}],"usage":{"prompt_tokens":11,"completion_tokens":20,"total_tokens":31}}\n',
  '{"choices":[{"finish_reason":"stop","index":0,"message":{"role":"assistant","content":"llama"}}],"created":1760000000,"model":"m","object":"chat.completion","usage":{"completion_tokens":1,"prompt_tokens":1,"total_tokens":2},"id":"c","timings":{"prompt_n":1,"prompt_ms":14.302,"predicted_per_second":69.9203412321234565432}}',
  '{"id":"c","object":"chat.completion","choices":[],"usage":null,"prompt_filter_results":[{"prompt_index":0}]}',
];

function createGenerator(seed: number) {
  const random = seeded(seed);
  const next = (below: number) => random.integer(0, below - 1);
  const pick = random.pick;
  const space = () => pick(SPACES);
  const text = () => `"${Array.from({ length: 1 + next(3) }, () => pick(TEXTS)).join("")}"`;
  const value = (depth: number): string => {
    const kind = next(depth > 3 ? 4 : 6);
    if (kind === 0) return pick(NUMBERS);
    if (kind === 1) return pick(["true", "false", "null"]);
    if (kind < 4) return text();
    const parts = Array.from({ length: next(4) }, () => {
      const item = space() + value(depth + 1) + space();
      return kind === 4 ? item : `${space()}${text()}${space()}:${item}`;
    });
    return kind === 4 ? `[${parts.join(",")}]` : `{${parts.join(",")}}`;
  };
  const object = (members: string[]) => `{${members.map((member) => space() + member + space()).join(",")}}`;
  /** Members outside OpenAI's format; sometimes the first of them occurs twice. */
  const unknown = () => {
    const members = Array.from({ length: 1 + next(4) }, (_, n) => `"x_${n}"${space()}:${space()}${value(0)}`);
    return next(3) === 0 ? [...members, members[0] ?? ""] : members;
  };
  const usage = () => `"usage":${object(['"prompt_tokens":7', `"completion_tokens":${next(99)}`, ...unknown()])}`;
  return { next, space, text, object, unknown, usage };
}

/** A generated response that is not streamed. */
function completion(seed: number): string {
  const { next, space, text, object, unknown, usage } = createGenerator(seed);
  const message = object(['"role":"assistant"', `"content":${text()}`, ...unknown()]);
  const choice = object(['"index":0', `"message":${message}`, '"finish_reason":"stop"', ...unknown()]);
  const members = ['"object":"chat.completion"', `"choices":[${choice}]`, ...unknown()];
  if (next(4) > 0) members.splice(next(members.length + 1), 0, usage());
  return space() + object(members) + space();
}

/** The frames of a generated stream; the last but one holds only usage. */
function stream(seed: number): string[] {
  const { next, text, object, unknown, usage } = createGenerator(seed);
  const end = next(3) === 0 ? "\r\n" : "\n";
  // A line break inside a frame would end it.
  const frame = (json: string) => `data:${next(2) === 0 ? " " : ""}${json.replace(/[\r\n]/g, " ")}${end}${end}`;
  const contentFrames = Array.from({ length: 1 + next(12) }, () => {
    if (next(6) === 0) return `: OPENROUTER PROCESSING${end}${end}`;
    const choice = object(['"index":0', `"delta":${object([`"content":${text()}`, ...unknown()])}`]);
    return frame(object([`"choices":[${choice}]`, '"usage":null', ...unknown()]));
  });
  return [...contentFrames, frame(object(['"choices":[]', usage()])), `data: [DONE]${end}${end}`];
}

/** Two hundred responses that are not streamed. */
export const completions: readonly string[] = [
  ...recorded,
  ...Array.from({ length: 200 - recorded.length }, (_, n) => completion(n + 1)),
];

/** Two hundred streams, each as a list of its frames. */
export const streams: readonly (readonly string[])[] = Array.from({ length: 200 }, (_, n) => stream(n + 10_001));
