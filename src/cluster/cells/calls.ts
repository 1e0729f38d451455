// Calls between the processes of cells, over the channel that a process has to its child: each waits for its answer.
import { errorBody } from "../../kernel/error-body.ts";
import { AppError } from "../../kernel/errors.ts";
import { brokenRelay, cellAway } from "../away.ts";

interface Message {
  id: number;
  call?: { name: string; args: unknown };
  result?: unknown;
  error?: CallError;
}

/** What a call has thrown, on its way. */
interface CallError {
  status: number;
  body: Record<string, unknown>;
}

/** What can be called, by name. Arguments and results are JSON. */
export type CallHandlers = Readonly<Record<string, (args: never) => unknown>>;

export interface Calls {
  /** Throws what the other side threw, 503 `CELL_AWAY` if it has ended, and 502 `RELAY_BROKEN` if it ends before it answers. */
  call<Result>(name: string, args?: unknown): Promise<Result>;
  /** Takes what the other side has sent. */
  receive(message: unknown): void;
  /** Rejects all that is waited for, now and later. */
  end(): void;
}

export function createCalls(send: (message: object) => void, handlers: CallHandlers): Calls {
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: unknown): void }>();
  let lastId = 0;
  let hasEnded = false;

  async function answer(id: number, name: string, args: unknown): Promise<void> {
    let message: Message;
    try {
      message = { id, result: await callHandler(handlers, name, args) };
    } catch (error) {
      message = { id, error: errorBody(error) };
    }
    if (!hasEnded) send(message);
  }

  return {
    call<Result>(name: string, args?: unknown): Promise<Result> {
      if (hasEnded) return Promise.reject(cellAway());
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      send({ id, call: { name, args } });
      // The handler's own type is that of the caller.
      return promise as Promise<Result>;
    },

    receive(message) {
      const { id, call, result, error } = message as Message;
      if (call) {
        void answer(id, call.name, call.args);
        return;
      }
      const waiter = waiting.get(id);
      waiting.delete(id);
      if (error) waiter?.reject(toError(error));
      else waiter?.resolve(result);
    },

    end() {
      hasEnded = true;
      for (const { reject } of waiting.values()) reject(brokenRelay());
      waiting.clear();
    },
  };
}

/** Calls what this process has itself. */
export async function callHandler<Result>(handlers: CallHandlers, name: string, args?: unknown): Promise<Result> {
  const handle = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (!handle) throw new Error(`There is no call "${name}".`);
  // The handler's own type is that of the caller.
  return (await handle(args as never)) as Result;
}

/** The error as the other side has thrown it. */
export function toError({ status, body }: CallError): AppError {
  const { error, message: _, code, ...extras } = body;
  return new AppError(status, String(code), String(error), extras);
}
