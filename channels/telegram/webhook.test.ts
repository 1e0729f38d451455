// Tests how a post of Telegram is answered.
import { describe, expect, test } from "bun:test";
import type { IncomingMessage } from "../port.ts";
import { receiveUpdate } from "./webhook.ts";

const binding = { agentId: "a", token: "42:x", bot: { id: "42", username: "helper_bot" } };
const secret = "s3cret_-value";
const update = (message: Record<string, unknown> = {}) =>
  JSON.stringify({
    update_id: 1,
    message: {
      message_id: 5,
      date: 1,
      chat: { id: 7, type: "private" },
      from: { id: 7, is_bot: false, first_name: "A" },
      text: "hi",
      ...message,
    },
  });

const deaf = {
  reportAlive: () => undefined,
  saveResumePoint: () => undefined,
  reportUndelivered: () => Promise.resolve(),
};

async function post(
  body: string | ReadableStream,
  given: string | undefined = secret,
  fails = false,
  expected = secret,
) {
  const stored: IncomingMessage[] = [];
  const failures: unknown[] = [];
  const headers = given === undefined ? {} : { "x-telegram-bot-api-secret-token": given };
  const request = new Request("http://localhost/hook", { method: "POST", body, headers });
  const sink = {
    accept: (messages: IncomingMessage[]) => {
      if (fails) return Promise.reject(new Error("disk full at /secret/path"));
      stored.push(...messages);
      return Promise.resolve();
    },
    ...deaf,
  };
  const response = await receiveUpdate(binding, expected, request, sink, {
    onFailure: (error) => void failures.push(error),
    onButtonPressed: () => undefined,
  });
  return { status: response.status, text: await response.text(), stored, failures, read: request.bodyUsed };
}

test("answers 200 once the message is stored", async () => {
  const { status, stored } = await post(update());
  expect(status).toBe(200);
  expect(stored).toMatchObject([{ platformMessageId: "7:5", text: "hi" }]);
});

const ignoring = { onFailure: () => undefined, onButtonPressed: () => undefined };

describe("answers 401 before the body is read:", () => {
  test.each([[""], ["wrong"], [secret.slice(1)], [`${secret}x`]])("%p", async (given) => {
    expect(await post(update(), given)).toMatchObject({ status: 401, stored: [], read: false });
  });

  test("no header", async () => {
    const request = new Request("http://localhost/", { method: "POST", body: update() });
    const sink = { accept: () => Promise.reject(new Error("reached")), ...deaf };
    expect((await receiveUpdate(binding, secret, request, sink, ignoring)).status).toBe(401);
  });

  test("for an empty secret", async () => {
    expect(await post(update(), "", false, "")).toMatchObject({ status: 401, stored: [] });
  });
});

test.each([["no json"], ["null"], ["[]"], ["{}"], [""], [update({ chat: "x" })]])(
  "answers 400 for %p",
  async (body) => {
    const { status, text, stored } = await post(body);
    expect({ status, stored }).toEqual({ status: 400, stored: [] });
    expect(JSON.parse(text)).toMatchObject({ code: "INVALID_INPUT" });
  },
);

test("answers 400 for a malformed message", async () => {
  const group = { id: -1, type: "group" };
  expect(await post(update({ chat: group, entities: 5 }))).toMatchObject({ status: 400, stored: [] });
});

test("answers 413 for an endless body, without reading all of it", async () => {
  let chunks = 0;
  const endless = new ReadableStream({
    pull(controller) {
      chunks += 1;
      controller.enqueue(new Uint8Array(64 * 1024));
    },
  });
  expect(await post(endless)).toMatchObject({ status: 413, stored: [] });
  expect(chunks).toBeLessThan(40);
});

test("answers 503 if storing failed, so that Telegram repeats the post, without the reason", async () => {
  const { status, text, failures } = await post(update(), secret, true);
  expect(status).toBe(503);
  expect(text).not.toContain("disk");
  expect(failures.length).toBe(1);
});

test("answers 200 for an update that is not for the agent", async () => {
  expect(await post('{"update_id":1}')).toMatchObject({ status: 200, stored: [] });
  expect(await post(update({ from: { id: 9, is_bot: true, first_name: "B" } }))).toMatchObject({
    status: 200,
    stored: [],
  });
});
