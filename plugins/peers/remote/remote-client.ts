// Asks an agent of another host by the A2A protocol, with the official SDK. All requests go through the guard for addresses of
// users, and to the configured host alone.

import { setTimeout as sleep } from "node:timers/promises";
import { type Artifact, type Message, Role, type Task, TaskState } from "@a2a-js/sdk";
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { abortable } from "../../../src/kernel/util/timeout.ts";
import { toolDeclined } from "../../skills/index.ts";
import { PATH_KEY } from "../a2a/metadata.ts";

export interface RemoteQuestion {
  /** Its public address, or that of its card. */
  url: string;
  headers: ReadonlyMap<string, string>;
  text: string;
  /** Goes on with a conversation; empty for a new one. */
  contextId: string;
  /** The addresses of the agents that the question has come through. */
  path: readonly string[];
  /** Names the message, the same when it is sent again. */
  messageId: string;
  signal: AbortSignal;
}

const MAX_BYTES = 2_000_000;
const REQUEST_MS = 30 * SECOND;
/** Between two looks at a task that goes on: at first, and at most. */
const LOOK_MS = { first: 200, last: 2 * SECOND };
const CARD = "/.well-known/agent-card.json";
const OVER: ReadonlySet<TaskState | undefined> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
  TaskState.TASK_STATE_INPUT_REQUIRED,
  TaskState.TASK_STATE_AUTH_REQUIRED,
]);

/** Resolves with the reply, and the conversation in which to go on. Throws AppError with words for the model. */
export async function askRemote(
  { outbound }: Pick<Kernel, "outbound">,
  question: RemoteQuestion,
): Promise<{ text: string; contextId: string }> {
  try {
    return await ask(outbound, question);
  } catch (error) {
    question.signal.throwIfAborted();
    if (error instanceof AppError) throw error;
    // The text is the other host's; only that it failed is told.
    throw toolDeclined("The other agent did not answer by the A2A protocol.");
  }
}

async function ask(
  outbound: Kernel["outbound"],
  question: RemoteQuestion,
): Promise<{ text: string; contextId: string }> {
  const { text, contextId, path, messageId, signal } = question;
  const client = await abortable(connect(outbound, question), signal);
  const sending = client.sendMessage({
    tenant: "",
    message: {
      messageId,
      contextId,
      taskId: "",
      role: Role.ROLE_USER,
      parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "text/plain" }],
      metadata: { [PATH_KEY]: [...path] },
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: ["text/plain"],
      taskPushNotificationConfig: undefined,
      returnImmediately: true,
    },
    metadata: undefined,
  });
  const answering = sending.then(async (result) => {
    if (!isTask(result)) return { text: textIn([result]), contextId: result.contextId };
    const task = await untilOver(client, result, signal).catch(async (error: unknown) => {
      // The turn is over, so a failure of this request is not told.
      if (signal.aborted) await client.cancelTask({ tenant: "", id: result.id, metadata: undefined });
      throw error;
    });
    return { text: resultOf(task), contextId: task.contextId };
  });
  // A cancelled turn does not abort these requests: the answer to the first one names the task that must be cancelled.
  return abortable(answering, signal);
}

function connect(
  outbound: Kernel["outbound"],
  { url, headers }: Pick<RemoteQuestion, "url" | "headers">,
): Promise<Client> {
  const { origin } = new URL(url);
  const guarded = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const target = input instanceof Request ? input.url : String(input);
    // The card is written by a stranger: it can't lead the credentials, or the question, to another host.
    if (new URL(target).origin !== origin) throw toolDeclined("The other agent's card names another host.");
    const all = new Headers(init.headers);
    for (const [name, value] of headers) all.set(name, value);
    const response = await outbound.fetch(target, {
      method: init.method ?? "GET",
      headers: all,
      ...(typeof init.body === "string" && { body: init.body }),
      ...(init.signal && { signal: init.signal }),
      timeoutMs: REQUEST_MS,
      maxBytes: MAX_BYTES,
      maxRedirects: 0,
    });
    return new Response(new Uint8Array(response.bytes()), { status: response.status, headers: response.headers });
  };
  const fetchImpl = Object.assign(guarded, { preconnect: () => undefined });
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const cardResolver = new DefaultAgentCardResolver(options);
  const address = new URL(url);
  const isCard = address.pathname.endsWith(".json");
  const cardPath = isCard ? address.pathname + address.search : address.pathname.replace(/\/$/, "") + CARD;
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory(options)], cardResolver });
  return factory.createFromUrl(origin, cardPath);
}

async function untilOver(client: Client, started: Task, signal: AbortSignal): Promise<Task> {
  let task = started;
  for (let wait = LOOK_MS.first; !OVER.has(task.status?.state); wait = Math.min(wait * 2, LOOK_MS.last)) {
    await sleep(wait, undefined, { signal });
    task = await client.getTask({ tenant: "", id: task.id });
  }
  return task;
}

const isTask = (result: Message | Task): result is Task => "artifacts" in result;

/** The result of a task that is over, or what the other agent wants to know. */
function resultOf({ status, artifacts }: Task): string {
  const said = textIn([...artifacts, ...(status?.message ? [status.message] : [])]);
  if (status?.state === TaskState.TASK_STATE_COMPLETED) return said;
  const about = status?.state === TaskState.TASK_STATE_INPUT_REQUIRED ? "It asks back" : "It could not do it";
  return said === "" ? `${about}.` : `${about}: ${said}`;
}

const textIn = (all: readonly Pick<Message | Artifact, "parts">[]): string =>
  all
    .flatMap(({ parts }) => parts)
    .map(({ content }) => {
      if (content?.$case === "text") return content.value;
      return content?.$case === "data" ? JSON.stringify(content.value) : "";
    })
    .filter((text) => text !== "")
    .join("\n");
