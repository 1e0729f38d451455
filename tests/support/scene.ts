// Signs up users, creates agents, opens gateway sockets, and checks the format that every error response must have.

import { expect } from "bun:test";
import type { Berth } from "./berth.ts";
import { type Client, createClient } from "./client.ts";

export interface AgentItem {
  id: string;
  name: string;
  model: string;
  status: string;
  websocketUrl: string;
  createdAt: string;
}

export interface ErrorBody {
  error: string;
  message: string;
  code: string;
  issues?: { path: string; message: string }[];
  current?: number;
  limit?: number;
}

/** Signs up a user, grants the plan with `berth user grant`, and signs in. */
export async function member(berth: Berth, plan = "pro"): Promise<Client> {
  const client = createClient(berth);
  await client.signUp();
  await client.grant(plan);
  await client.signIn();
  return client;
}

/** Creates an agent; throws unless 201. */
export async function provision(client: Client, name = "Harbour", config: object = {}): Promise<AgentItem> {
  const { status, body, text } = await client.post<{ agent: AgentItem }>("/api/agents/provision", { name, config });
  if (status !== 201) throw new Error(`provision: ${status} ${text}`);
  return body.agent;
}

/** Text that no response may contain: exceptions, SQL, stack traces, local paths, names of libraries. */
const INTERNALS =
  /\bat \S+[:(]|SQLITE|\bSELECT\b|node_modules|\$bunfs|\/(?:work|tmp|root|home)\/|\.ts\b|elysia|typebox|TypeError|SyntaxError|JSON Parse|undefined is not|"on":"/i;

/** Expects an error response: this status, a JSON body with `error`, `message` and `code`, a request id, no internals. Returns the body. */
export function expectRefusal(
  answer: { status: number; headers: Headers; text?: string; body: unknown },
  status: number,
  code?: string,
): ErrorBody {
  const text = answer.text ?? String(answer.body);
  expect({ status: answer.status, text }).toEqual({ status, text });
  expect(answer.headers.get("content-type")).toStartWith("application/json");
  expect(answer.headers.get("x-request-id")).toMatch(/^[\w-]{4,64}$/);
  expect(text).not.toMatch(INTERNALS);
  const body: ErrorBody = JSON.parse(text);
  expect(body.error).toMatch(/\S/);
  expect(body.message).toBe(body.error);
  expect(body.code).toMatch(/^[A-Z][A-Z0-9_]*$/);
  if (code !== undefined) expect(body.code).toBe(code);
  return body;
}

export interface Frame {
  type: string;
  id?: string;
  text?: string;
  reply?: string;
  code?: string;
  status?: string;
}

/** A client's socket to the gateway. */
export interface Gateway {
  readonly frames: Frame[];
  send(frame: object): void;
  /** Waits for the first frame of this type; throws if the socket closes before, or after 10 s. */
  next(type: string): Promise<Frame>;
  /** Code and reason of the close. */
  readonly closed: Promise<{ code: number; reason: string }>;
  close(): void;
}

/** Opens a gateway socket with the headers of a page of Berth, or others. Never throws; a refusal shows in `closed`. */
export function openGateway(berth: Berth, id: string, headers: Record<string, string>): Gateway {
  const url = `${berth.web.replace("http", "ws")}/agent/${id}`;
  const socket = new WebSocket(url, { headers: { origin: berth.web, ...headers } });
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  const closing = Promise.withResolvers<{ code: number; reason: string }>();
  let closedWith: { code: number; reason: string } | undefined;
  const notify = () => {
    for (const check of [...waiting]) check();
  };
  socket.onmessage = ({ data }) => {
    frames.push(JSON.parse(String(data)));
    notify();
  };
  socket.onclose = ({ code, reason }) => {
    closedWith = { code, reason };
    closing.resolve(closedWith);
    notify();
  };
  const opened = new Promise<void>((resolve) => {
    socket.onopen = () => resolve();
  });
  return {
    frames,
    send: (frame) => void opened.then(() => socket.send(JSON.stringify(frame))),
    next(type) {
      const { promise, resolve, reject } = Promise.withResolvers<Frame>();
      const timer = setTimeout(() => reject(new Error(`No ${type} among ${JSON.stringify(frames)}`)), 10_000);
      const check = () => {
        const found = frames.find((frame) => frame.type === type);
        if (found) resolve(found);
        else if (closedWith)
          reject(new Error(`Closed with ${closedWith.code} before ${type}: ${JSON.stringify(frames)}`));
      };
      waiting.add(check);
      check();
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(check);
      });
    },
    closed: closing.promise,
    close: () => socket.close(),
  };
}
