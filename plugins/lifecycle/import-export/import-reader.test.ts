// Tests that files of any size are read alike, although large ones are read on a thread.
import { expect, test } from "bun:test";
import { appErrorOf } from "../../../tests/support/rejection.ts";
import { createImportReader, SMALL_FILE_BYTES } from "./import-reader.ts";

const TIME = "2026-01-01T00:00:00.000Z";
const readFile = createImportReader();
const read = (text: string) => readFile(new TextEncoder().encode(text));

/** A file with a session of so many messages; of each, the reply has 1,000 characters. */
function fileOf(messages: number, more: Record<string, unknown> = {}): string {
  const content = (n: number) => (n % 2 ? "wörd ".repeat(200) : `question ${n}`);
  const role = (n: number) => (n % 2 ? "assistant" : "user");
  const session = {
    ...{ id: "s", platform: "api", peer: "p", status: "open", summary: null, summarized: 0 },
    ...{ createdAt: TIME, lastActivity: TIME },
    messages: Array.from({ length: messages }, (_, n) => ({ role: role(n), content: content(n), at: TIME })),
  };
  const config = `{ "n":1.0, "b" : 1e2 }`;
  const head = { format: "berth.agent/1", name: "Tug", model: "model_a", tier: "pro" };
  const text = JSON.stringify({ ...head, config: "CONFIG", sessions: [session], ...more });
  return text.replace('"CONFIG"', config);
}

test("a file on a thread has the same content as a small one, its messages in pages of their order", async () => {
  for (const messages of [20, 3_000]) {
    const text = fileOf(messages);
    expect(text.length > SMALL_FILE_BYTES).toBe(messages === 3_000);
    const { head, config, sessions, pages, skills } = await read(text);
    expect(head).toMatchObject({ name: "Tug", model: "model_a", tier: "pro" });
    expect(config).toBe(`{ "n":1.0, "b" : 1e2 }`);
    expect(JSON.parse(sessions)).toMatchObject([{ platform: "api", peer: "p", status: "open" }]);
    expect(skills.reminders).toBe("[]");
    expect(pages.messages.length > 1).toBe(messages === 3_000);
    const rows = pages.messages.flatMap((page) => JSON.parse(page) as { content: string }[]);
    expect(rows).toHaveLength(messages);
    expect(pages.entries.flatMap((page) => JSON.parse(page) as object[])).toHaveLength(messages / 2);
    expect(rows.filter((_, n) => n % 2 === 0).map(({ content }) => content)).toEqual(
      Array.from({ length: messages / 2 }, (_, n) => `question ${2 * n}`),
    );
    for (const page of [...pages.messages, ...pages.entries]) expect(page.length).toBeLessThan(600 * 1024);
  }
});

test("a thread refuses what is refused of a small file", async () => {
  const large = fileOf(200);
  const refusals: [string, string, string?][] = [
    [`${large.slice(0, -1)}x`, "INVALID_JSON"],
    [large.replace("berth.agent/1", "berth.agent/2"), "UNKNOWN_FORMAT", "format"],
    [large.replace("question 4", "half \\ud83d"), "INVALID_TEXT", "sessions.0.messages.4.content"],
    [large.replace('"api"', '"nowhere"'), "INVALID_INPUT", "sessions.0.platform"],
    [
      large.replace('"CONFIG"', "").replace("question 4", "x".repeat(1_000_001)),
      "INVALID_INPUT",
      "sessions.0.messages.4",
    ],
    [`${large.slice(0, -1)},"deep":${"[".repeat(70)}${"]".repeat(70)}}`, "JSON_TOO_DEEP", ""],
  ];
  for (const [text, code, path] of refusals) {
    const { status, code: given, extras } = await appErrorOf(read(text));
    expect({ status, given }).toEqual({ status: 400, given: code });
    if (path !== undefined) expect(extras).toMatchObject({ issues: [{ path }] });
  }
});

test("many large files at once are all read", async () => {
  const files = await Promise.all(Array.from({ length: 5 }, (_, n) => read(fileOf(200, { name: `Tug ${n}` }))));
  expect(files.map(({ head }) => head.name)).toEqual(["Tug 0", "Tug 1", "Tug 2", "Tug 3", "Tug 4"]);
});
