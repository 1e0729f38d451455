// What of a client's history is a new message, and by which name the conversation before it is found.
import { expect, test } from "bun:test";
import type { SourceMessage } from "../openai-api/index.ts";
import { isTaskOfApp, readNewMessage } from "./new-message.ts";

const text = (given: string) => [{ type: "text" as const, text: given }];
const user = (given: string): SourceMessage => ({ role: "user", content: text(given) });
const system = (given: string): SourceMessage => ({ role: "system", content: text(given) });
const assistant = (given: string): SourceMessage => ({ role: "assistant", content: text(given), calls: [] });

test("all that the user has written since the last answer is the new message", () => {
  const read = readNewMessage([system("Be kind."), user("A"), assistant("a"), user("B"), user("C")]);
  expect(read).toMatchObject({ text: "B\n\nC", lastAnswer: "a", system: "Be kind.", files: [] });
});

test("the name of a message is the name before the next one, whatever the answers and the app say", () => {
  const first = readNewMessage([user("A")]);
  expect(first.earlierChain).toBeUndefined();
  const second = readNewMessage([system("x"), user("A"), assistant("anything"), user("B")]);
  expect(second.earlierChain).toBe(first.chain);
  const third = readNewMessage([user("A"), assistant("a"), user("B"), assistant("b"), user("C")]);
  expect(third.earlierChain).toBe(second.chain);
  expect(readNewMessage([user("A B")]).chain).not.toBe(readNewMessage([user("A"), assistant("a"), user("B")]).chain);
});

test("files are named by their type where they have no name", () => {
  const file = { type: "file" as const, mediaType: "image/svg+xml", data: "AAAA" };
  expect(readNewMessage([{ role: "user", content: [file] }]).files).toEqual([
    { name: "file.svg", type: "image/svg+xml", data: "AAAA" },
  ]);
});

test("a request that says nothing new is refused", () => {
  expect(() => readNewMessage([user("A"), assistant("a")])).toThrow("must be the user's");
  expect(() => readNewMessage([system("A")])).toThrow("must be the user's");
  expect(() => readNewMessage([user(" ")])).toThrow("neither text nor a file");
});

test("an app's own task quotes the chat; an answer from documents does not", () => {
  expect(isTaskOfApp("### Task:\nName it.\n### Chat History:\n<chat_history>\n</chat_history>")).toBe(true);
  expect(isTaskOfApp("### Task:\nRespond to the query using the context.\n<context></context>")).toBe(false);
  expect(isTaskOfApp("What is <chat_history>?")).toBe(false);
});
