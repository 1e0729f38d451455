// The chunks that a turn's events become, read by the AI SDK's own readers, versions 6 and 7: also of turns that begin anew, and of
// what a client has already.
import { describe, expect, test } from "bun:test";
import type { UIMessage, UIMessageChunk } from "ai";
import type { TurnEvent } from "../turn-events.ts";
import { readUiRequest, type ShownTurn } from "./ui-request.ts";
import { createUiStream } from "./ui-stream.ts";

const AGENT = "a1";
const begun: TurnEvent = { kind: "begun" };
const text = (given: string): TurnEvent => ({ kind: "text", text: given });
const called = (id: string): TurnEvent => ({
  kind: "tool",
  id,
  name: "look",
  input: { at: id },
  state: "called",
  result: "",
});
const ended = (id: string, result = `saw ${id}`): TurnEvent => ({
  kind: "tool",
  id,
  name: "look",
  input: {},
  state: "done",
  result,
});
const reply = (given: string): TurnEvent => ({ kind: "reply", text: given, conversationId: "s", files: [] });
const end: TurnEvent = { kind: "end", status: "done" };

const write = (events: readonly TurnEvent[], shown?: ShownTurn, canDecide = true) => {
  const of = { turnId: "t1", agentId: AGENT, baseUrl: "https://berth.example", language: "en" as const, canDecide };
  const ui = createUiStream({ ...of, shown });
  return events.map((event) => ui.write(event)).join("");
};

const [ai7, ai6] = await Promise.all(["ai", "ai-6"].map((name): Promise<typeof import("ai")> => import(name)));

/** What a client of each version makes of the events, which is the same; throws what the stream says of an error. */
async function read(events: readonly TurnEvent[], message?: UIMessage, shown?: ShownTurn) {
  const made: (UIMessage | undefined)[] = [];
  for (const ai of [ai6, ai7]) if (ai) made.push(await readBy(ai, events, structuredClone(message), shown));
  expect(shape(made[0])).toEqual(shape(made[1]) ?? []);
  return made[1];
}
async function readBy(
  ai: typeof import("ai"),
  events: readonly TurnEvent[],
  message?: UIMessage,
  shown?: ShownTurn,
): Promise<UIMessage | undefined> {
  const fetching = async () => new Response(write(events, shown));
  const transport = new ai.DefaultChatTransport({ fetch: Object.assign(fetching, { preconnect: fetch.preconnect }) });
  const stream: ReadableStream<UIMessageChunk> = await transport.sendMessages({
    chatId: "c",
    messages: [],
    trigger: "submit-message",
    messageId: undefined,
    abortSignal: undefined,
  });
  let last: UIMessage | undefined = message;
  const options = { stream, terminateOnError: true, ...(message && { message }) };
  for await (const state of ai.readUIMessageStream(options)) last = state;
  return last;
}
const shape = (message: UIMessage | undefined) =>
  message?.parts.map((part) =>
    part.type === "text" ? part.text : part.type === "dynamic-tool" ? `${part.toolCallId} ${part.state}` : part.type,
  );

test("texts and calls become parts, each answer of the model a step", async () => {
  const message = await read([
    begun,
    text("Let me"),
    text(" look."),
    called("1"),
    called("2"),
    ended("2"),
    ended("1"),
    text("\n\nDone."),
    reply("Let me look.\n\nDone."),
    end,
  ]);
  expect(message?.id).toBe("t1");
  expect(message?.metadata).toEqual({ turnId: "t1", agentId: AGENT });
  expect(shape(message)).toEqual([
    "step-start",
    "Let me look.",
    "t1.0 output-available",
    "t1.1 output-available",
    "step-start",
    "Done.",
  ]);
});

test("the reply of a turn that was over is its text, and a note at the end of one that was streamed is added", async () => {
  expect(shape(await read([reply("Long ago."), end]))).toEqual(["step-start", "Long ago."]);
  const cut = await read([begun, text("Long"), reply("Long\n\n[The reply was cut here.]"), end]);
  expect(shape(cut)).toEqual(["step-start", "Long\n\n[The reply was cut here.]"]);
});

test("calls are named by their places in the turn, also where a provider gives two of them one id", async () => {
  const message = await read([begun, called("c"), ended("c"), text("Again."), called("c"), ended("c"), end]);
  expect(shape(message)).toEqual([
    "step-start",
    "t1.0 output-available",
    "step-start",
    "Again.",
    "t1.1 output-available",
  ]);
  const within = { ...called("c/1/x"), parent: "c" } as TurnEvent;
  const parts = (await read([begun, called("c"), within, ended("c/1/x"), ended("c"), end]))?.parts;
  expect(parts).toContainEqual(
    expect.objectContaining({ toolCallId: "t1.0/1/x", toolMetadata: { parent: "t1.0" }, state: "output-available" }),
  );
});

test("results that are JSON are values, and what begins like it a text", async () => {
  const output = async (result: string) =>
    (await read([begun, called("1"), ended("1", result), end]))?.parts.flatMap((part) =>
      part.type === "dynamic-tool" && part.state === "output-available" ? [part.output] : [],
    )[0];
  expect(await output('{"a":[1]}')).toEqual({ a: [1] });
  expect(await output('{"a":[1')).toBe('{"a":[1');
  expect(await output("[photo]")).toBe("[photo]");
});

test("files come once, at addresses that other origins can follow", async () => {
  const sent = {
    id: "f",
    name: "x.png",
    type: "image/png",
    size: 3,
    kind: "picture" as const,
    caption: null,
    url: "/api/agents/a1/uploads/f",
  };
  const message = await read([
    begun,
    { kind: "file", file: sent },
    text("Here."),
    { kind: "reply", text: "Here.", conversationId: "s", files: [sent] },
    end,
  ]);
  expect(message?.parts.filter(({ type }) => type === "file")).toMatchObject([
    { url: "https://berth.example/api/agents/a1/uploads/f", mediaType: "image/png" },
  ]);
});

describe("a turn that begins anew", () => {
  const half = [begun, text("Half"), { kind: "reset" as const }, begun];

  test("goes on with what it had said, if it says the same again", async () => {
    const message = await read([...half, text("Ha"), text("lf"), text(" and more."), reply("Half and more."), end]);
    expect(shape(message)).toEqual(["step-start", "Half and more."]);
  });

  test("marks what it had said, and says what is true now", async () => {
    for (const [said, then] of [
      ["The whole.", [text("The "), text("whole.")]],
      ["Hat", [text("Hat")]],
      ["Hal", [text("Hal")]],
      ["Ha", []],
    ] as const) {
      const message = await read([...half, ...then, reply(said), end]);
      expect(shape(message)).toEqual(["step-start", "Half", "That was interrupted. I begin anew:", said]);
      expect(message?.parts.map((part) => (part.type === "text" ? part.providerMetadata : undefined))).toEqual([
        undefined,
        { berth: { notice: "cut" } },
        { berth: { notice: "anew" } },
        undefined,
      ]);
    }
  });

  test("that fails then, keeps what it had said", async () => {
    const chunks = write([
      ...half,
      { kind: "error", status: 502, code: "X", message: "No." },
      { ...end, status: "failed" },
    ]);
    expect(chunks).not.toContain("notice");
  });

  test("keeps the steps that are over, which come again from the journal", async () => {
    const first = [begun, text("Look."), called("1"), ended("1"), text("\n\nHal")];
    const again = [begun, text("Look."), called("1"), ended("1"), text("\n\nDone."), reply("Look.\n\nDone."), end];
    const message = await read([...first, { kind: "reset" }, ...again]);
    const anew = ["Hal", expect.stringContaining("anew"), "Done."];
    expect(shape(message)).toEqual(["step-start", "Look.", "t1.0 output-available", "step-start", ...anew]);
  });

  test("keeps a call that ran when it was interrupted", async () => {
    const first = [begun, text("Look."), called("1"), called("2"), ended("2")];
    const again = [
      ...first.slice(0, 3),
      ended("1"),
      ...first.slice(3),
      text("\n\nDone."),
      reply("Look.\n\nDone."),
      end,
    ];
    const message = await read([...first, { kind: "reset" }, ...again]);
    const calls = ["t1.0 output-available", "t1.1 output-available"];
    expect(shape(message)).toEqual(["step-start", "Look.", ...calls, "step-start", "Done."]);
  });
});

describe("a call that waits for approval", () => {
  const waiting: TurnEvent[] = [
    begun,
    text("I'll do it."),
    called("1"),
    { kind: "approval", id: "p1", callId: "1", tool: "look", class: "write", summary: "Look at 1" },
    { kind: "waiting", code: "WAITING_FOR_APPROVAL", message: "It waits." },
    { kind: "end", status: "waiting" },
  ];

  test("is only told to a client that may not decide", () => {
    const chunks = write(waiting, undefined, false);
    expect(chunks).not.toContain("tool-approval-request");
    expect(chunks).toContain(
      "Look at 1\\n\\nDecide in the console: https://berth.example/console/approvals Then I go on.",
    );
  });

  test("is asked about, and the message goes on behind it", async () => {
    const asked = await read(waiting);
    expect(shape(asked)).toEqual([
      "step-start",
      "I'll do it.",
      "t1.0 approval-requested",
      expect.stringContaining("Look at 1"),
    ]);
    const answered = JSON.parse(
      JSON.stringify(asked)
        .replace("approval-requested", "approval-responded")
        .replace('"id":"p1"', '"id":"p1","approved":true'),
    ) as UIMessage;
    const request = readUiRequest(AGENT, "c", { id: "c", messages: [answered] });
    if (request.kind !== "decisions") throw new Error("No decisions were read.");
    expect(request).toMatchObject({ turnId: "t1", decisions: [{ approvalId: "p1", approved: true }] });
    const on = [
      begun,
      text("I'll do it."),
      called("1"),
      ended("1"),
      text("\n\nDone."),
      reply("I'll do it.\n\nDone."),
      end,
    ];
    const message = await read(on, answered, request.shown);
    expect(shape(message)).toEqual([
      "step-start",
      "I'll do it.",
      "t1.0 output-available",
      expect.any(String),
      "step-start",
      "Done.",
    ]);
  });
});

test("a turn that fails is an error, one that is cancelled and a delay are none", async () => {
  const failed: TurnEvent = { kind: "error", status: 502, code: "MODEL_UNAVAILABLE", message: "Out of reach." };
  const reading = read([begun, failed, { kind: "end", status: "failed" }]);
  expect(String(await reading.catch((error: unknown) => error))).toContain("Out of reach.");
  const delay: TurnEvent = { kind: "waiting", code: "MODEL_UNAVAILABLE", message: "Out of reach.", retryInMs: 1000 };
  const cancelled: TurnEvent = { kind: "error", status: 409, code: "CANCELLED", message: "Cancelled." };
  expect(shape(await read([begun, delay, text("One"), cancelled, { kind: "end", status: "cancelled" }]))).toEqual([
    "step-start",
    "One",
  ]);
  const stopped = write([begun, text("One"), cancelled, { kind: "end", status: "cancelled" }]);
  expect(stopped).toEndWith('data: {"type":"abort","reason":"Cancelled."}\n\ndata: [DONE]\n\n');
  expect(write([{ kind: "heartbeat" }])).toBe(": still here\n\n");
});

describe("a request", () => {
  const message = (parts: object[], id = "m1") => ({ id, role: "user" as const, parts: parts as { type: string }[] });
  const keyOf = (parts: object[], more: object = {}, id?: string) => {
    const request = readUiRequest(AGENT, "c", { messages: [message(parts, id)], ...more });
    return request.kind === "message" ? request.key : "";
  };
  const hello = [{ type: "text", text: "Hello" }];

  test("names its message by its id and content", () => {
    expect(keyOf(hello)).toBe(keyOf(hello));
    expect(keyOf([{ type: "text", text: "Edited" }])).not.toBe(keyOf(hello));
    expect(keyOf(hello, {}, "m2")).not.toBe(keyOf(hello));
    const anew = { trigger: "regenerate-message", messageId: "a1" };
    expect(keyOf(hello, anew)).toBe(keyOf(hello, anew));
    expect(keyOf(hello, anew)).not.toBe(keyOf(hello));
  });

  test("takes files of its own and uploads of this agent, and no others", () => {
    const id = "01a217a2-ca1f-7447-9a85-55388878eb87";
    const file = (url: string) => ({ type: "file", mediaType: "image/png", url });
    const ok = [file("data:image/png;base64,AAAA"), file(`/api/agents/${AGENT}/uploads/${id}`)];
    expect(readUiRequest(AGENT, "c", { messages: [message(ok)] })).toMatchObject({
      files: [{ name: "file", type: "image/png", data: "AAAA" }],
      attachments: [id],
    });
    for (const url of [`/api/agents/other/uploads/${id}`, "https://foreign.example/x.png", "data:text/plain,hi", ""]) {
      expect(() => readUiRequest(AGENT, "c", { messages: [message([file(url)])] })).toThrow("data: address");
    }
  });
});
