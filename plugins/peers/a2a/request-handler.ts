// Handles the requests of the A2A protocol for one visit. Tasks are messages in the inbox, so they survive restarts; there is no
// other store.
import type { Message, SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { isAddress, MAX_HOPS } from "../route.ts";
import { toA2AError } from "./errors.ts";
import { PATH_KEY } from "./metadata.ts";
import { taskPage } from "./task-list.ts";
import { replyArtifact, statusOf, type TaskIds, textOf, toTask } from "./tasks.ts";
import type { Visit, Visits } from "./visits.ts";

/** How long a request waits for the end of a task; later the client asks for it. */
const WAIT_MS = 2 * MINUTE;
const MAX_TEXT = 16_000;
/** Long enough that nobody guesses another client's conversation. */
const CONTEXT_ID = /^[\w.:-]{20,100}$/;
const CONVERSATION = "a2a:";
const TASK = "task:";

interface Deps {
  visits: Visits;
  visit: Visit;
  /** The address of the agent, to find loops. */
  url: string;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
  log: Log;
}

export function createRequestHandler({ visits, visit, url, signal, log }: Deps): A2ARequestHandler {
  async function send({ message, metadata }: SendMessageRequest): Promise<TaskIds> {
    if (!message) throw new RequestMalformedError("Send a message.");
    // Each message is a task of its own, and over when it is answered.
    if (message.taskId) throw new UnsupportedOperationError("Go on with the contextId, and without a taskId.");
    const text = textOf(message);
    if (text === undefined || text.length > MAX_TEXT) {
      throw new RequestMalformedError(`Send a text of 1 to ${MAX_TEXT} characters.`);
    }
    const contextId = message.contextId || crypto.randomUUID();
    if (!CONTEXT_ID.test(contextId)) {
      throw new RequestMalformedError("A contextId has 20 to 100 letters, digits, dots, colons, - and _.");
    }
    const ids = { taskId: crypto.randomUUID(), contextId };
    await visits.send(
      visit,
      {
        messageId: `${TASK}${ids.taskId}`,
        conversation: CONVERSATION + contextId,
        path: pathIn(message, metadata, url),
        sender: "",
        text,
      },
      signal,
    );
    return ids;
  }

  async function find(taskId: string): Promise<Task> {
    try {
      const found = await visits.find(visit, `${TASK}${taskId}`);
      const ids = { taskId, contextId: found.conversation.slice(CONVERSATION.length) };
      return toTask(ids, found);
    } catch (error) {
      if (error instanceof AppError && error.status === 404) throw new TaskNotFoundError("There is no such task.");
      throw error;
    }
  }

  async function* stream(ids: TaskIds, first: Task): AsyncGenerator<StreamResponse, void, undefined> {
    yield { payload: { $case: "task", value: first } };
    let isContinued = false;
    const update = (text: string, append: boolean, lastChunk: boolean): StreamResponse => {
      const value = { ...ids, artifact: replyArtifact(text), append, lastChunk, metadata: undefined };
      return { payload: { $case: "artifactUpdate", value } };
    };
    for await (const event of visits.follow(visit, `${TASK}${ids.taskId}`, signal)) {
      if (event.kind === "text") {
        yield update(event.text, isContinued, false);
        isContinued = true;
      } else if (event.kind === "reset") isContinued = false;
      else {
        // The whole reply: what was streamed may have been cut, or corrected.
        if (event.status === "done") yield update(event.reply, false, true);
        const value = { ...ids, status: statusOf(event.status, ids), metadata: undefined };
        yield { payload: { $case: "statusUpdate", value } };
        return;
      }
    }
  }

  async function untilEnd(taskId: string, until: AbortSignal): Promise<void> {
    for await (const { kind } of visits.follow(visit, `${TASK}${taskId}`, until)) if (kind === "end") return;
  }

  async function attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw toA2AError(error, log);
    }
  }

  async function* attemptAll(events: AsyncGenerator<StreamResponse>): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      yield* events;
    } catch (error) {
      throw toA2AError(error, log);
    }
  }

  const noPush = async (): Promise<never> => {
    throw new PushNotificationNotSupportedError("Ask for the task, or subscribe to it.");
  };
  const unsupported = async (): Promise<never> => {
    throw new UnsupportedOperationError("This agent does not support that.");
  };

  return {
    getAgentCard: unsupported,
    getAuthenticatedExtendedAgentCard: unsupported,

    sendMessage: (params) =>
      attempt(async () => {
        const ids = await send(params);
        if (params.configuration?.returnImmediately) return find(ids.taskId);
        const patience = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]);
        try {
          await untilEnd(ids.taskId, patience);
        } catch (error) {
          if (!patience.aborted) throw error;
        }
        return find(ids.taskId);
      }),

    async *sendMessageStream(params) {
      const ids = await attempt(() => send(params));
      yield* attemptAll(stream(ids, toTask(ids, { status: "waiting", reply: null, at: null })));
    },

    getTask: ({ id }) => attempt(() => find(id)),

    cancelTask: ({ id }) =>
      attempt(async () => {
        await find(id);
        try {
          await visits.cancel(visit, `${TASK}${id}`);
        } catch (error) {
          if (!(error instanceof AppError && error.code === "ALREADY_SETTLED")) throw error;
          throw new TaskNotCancelableError("This task is over.");
        }
        await untilEnd(id, signal);
        return find(id);
      }),

    async *resubscribe({ id }) {
      const task = await attempt(() => find(id));
      yield* attemptAll(stream({ taskId: id, contextId: task.contextId }, task));
    },

    listTasks: (params) =>
      attempt(async () => {
        const { contextId } = params;
        if (!CONTEXT_ID.test(contextId)) {
          throw new RequestMalformedError("Give the contextId of a conversation: its tasks are listed.");
        }
        const listed = await visits.list(visit, CONVERSATION + contextId);
        const tasks = listed.flatMap(({ messageId, ...outcome }) =>
          messageId.startsWith(TASK) ? [toTask({ taskId: messageId.slice(TASK.length), contextId }, outcome)] : [],
        );
        return taskPage(params, tasks);
      }),
    createTaskPushNotificationConfig: noPush,
    getTaskPushNotificationConfig: noPush,
    listTaskPushNotificationConfigs: noPush,
    deleteTaskPushNotificationConfig: noPush,
  };
}

/** Throws when the message has come through this agent already, or through too many. */
function pathIn(message: Message, metadata: SendMessageRequest["metadata"], url: string): string[] {
  const given: unknown = message.metadata?.[PATH_KEY] ?? metadata?.[PATH_KEY] ?? [];
  if (!Array.isArray(given) || !given.every(isAddress)) {
    throw new RequestMalformedError(`${PATH_KEY} is a list of addresses.`);
  }
  if (given.includes(url)) throw new UnsupportedOperationError("This message has come through this agent already.");
  if (given.length >= MAX_HOPS) {
    throw new UnsupportedOperationError(`A message goes through at most ${MAX_HOPS} agents.`);
  }
  return given;
}
