// The Python packages of OpenAI and Anthropic use /v1 of the web port. Skipped where they can't be installed.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { testedBlocks } from "../site/tested-blocks.ts";
import { startApiUser } from "./support/api-user.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { member, provision } from "./support/members.ts";
import { changed } from "./support/program.ts";
import { pythonWith } from "./support/python.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const python = await pythonWith(["openai==3.22.1", "anthropic==1.13.0"]);

let upstream: Upstream;
let berth: Berth;
let key: string;
beforeAll(async () => {
  if (!python) return;
  upstream = await startUpstream({ key: "operator", models: ["fake-small", "fake-embed"] });
  const env = {
    PROVIDER_3_BASE_URL: upstream.url,
    PROVIDER_3_API_KEY: "operator",
    MODEL_A: "provider_3:fake-small",
    RATE_LIMITS: "off",
  };
  berth = await startBerth({ env });
  key = await startApiUser(berth);
});
afterAll(async () => {
  await python?.[Symbol.asyncDispose]();
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});
beforeEach(() => upstream?.reset());

/** What a program prints, as JSON. */
async function printed(program: string): Promise<unknown> {
  const ran = await python?.run(`import json\n${program}`, { BASE: berth.web, KEY: key });
  expect(ran).toMatchObject({ exitCode: 0, stderr: "" });
  return JSON.parse(ran?.stdout ?? "");
}

describe.skipIf(!python)("openai for Python", () => {
  const CLIENT = `
import os, openai
client = openai.OpenAI(api_key=os.environ["KEY"], base_url=os.environ["BASE"] + "/v1", max_retries=0)
messages = [{"role": "user", "content": "Hello there"}]
`;

  test("chats, streams, embeds and lists models", async () => {
    const program = `${CLIENT}
whole = client.chat.completions.create(model="fake-small", messages=messages)
stream = client.chat.completions.create(model="fake-small", messages=messages, stream=True)
text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
vectors = client.embeddings.create(model="fake-embed", input=["one", "two"]).data
print(json.dumps([whole.choices[0].message.content, text, len(vectors), [one.id for one in client.models.list()]]))`;
    const [whole, text, vectors, models] = (await printed(program)) as [string, string, number, string[]];
    expect([whole, text, vectors]).toEqual(["echo: Hello there", "echo: Hello there", 2]);
    expect(models).toContain("fake-small");
  });

  test("makes responses, continues them, and streams", async () => {
    const program = `${CLIENT}
first = client.responses.create(model="fake-small", input="One")
second = client.responses.create(model="fake-small", input="Two", previous_response_id=first.id)
with client.responses.stream(model="fake-small", input="Three") as stream:
    types = {event.type for event in stream}
    last = stream.get_final_response().output_text
print(json.dumps([first.output_text, second.output_text, last, "response.completed" in types, client.responses.retrieve(first.id).output_text]))`;
    expect(await printed(program)).toEqual(["echo: One", "echo: Two", "echo: Three", true, "echo: One"]);
    expect(upstream.chats[1]?.messages).toHaveLength(3);
  });

  test("raises errors of their own kinds", async () => {
    upstream.failNext(1, { status: 429, message: "Slow down.", retryAfter: 3 });
    const program = `${CLIENT}
seen = []
for call in (
    lambda: client.chat.completions.create(model="fake-small", messages=messages),
    lambda: client.responses.create(model="fake-small", input="Hi", tools=[{"type": "web_search"}]),
    lambda: client.responses.retrieve("resp_unknown"),
    lambda: openai.OpenAI(api_key="sk-other", base_url=os.environ["BASE"] + "/v1", max_retries=0).models.list(),
):
    try:
        call()
    except openai.APIStatusError as error:
        seen.append([type(error).__name__, error.status_code, error.code, error.param])
print(json.dumps(seen))`;
    expect(await printed(program)).toEqual([
      ["RateLimitError", 429, "PROVIDER_RATE_LIMITED", null],
      ["BadRequestError", 400, "INVALID_INPUT", "tools[0].type"],
      ["NotFoundError", 404, "RESPONSE_NOT_FOUND", null],
      ["AuthenticationError", 401, "UNAUTHORIZED", null],
    ]);
  });
});

test.skipIf(!python)("the program of docs/agents-as-models.md talks to an agent", async () => {
  const owner = await member(berth);
  const agent = await provision(owner);
  const { body } = await owner.post<{ key: string }>("/api/keys", { name: "python", scopes: ["chat"] });
  const [program] = testedBlocks(import.meta.path, "docs/agents-as-models.md", 1);
  const own = changed(program.code, {
    "https://berth.example": berth.web,
    "bk_…": body.key,
    "agent:harbour": `agent:${agent.id}`,
  });
  expect(await printed(`${own}\nprint(json.dumps(answer.choices[0].message.content))`)).toContain(
    "What did I ask you yesterday?",
  );
});

describe.skipIf(!python)("anthropic for Python", () => {
  const CLIENT = `
import os, anthropic
client = anthropic.Anthropic(api_key=os.environ["KEY"], base_url=os.environ["BASE"], max_retries=0)
ask = dict(model="fake-small", max_tokens=64, messages=[{"role": "user", "content": "Hello there"}])
`;

  test("gets messages, streams and errors", async () => {
    const program = `${CLIENT}
whole = client.messages.create(**ask)
with client.messages.stream(**ask) as stream:
    text = "".join(stream.text_stream)
    stop = stream.get_final_message().stop_reason
try:
    client.messages.create(**ask, tools=[{"type": "bash_20250124", "name": "bash"}])
except anthropic.BadRequestError as error:
    kind = error.body["error"]["type"]
print(json.dumps([whole.content[0].text, text, stop, kind]))`;
    expect(await printed(program)).toEqual([
      "echo: Hello there",
      "echo: Hello there",
      "end_turn",
      "invalid_request_error",
    ]);
  });
});
