// How most whole-binary tests begin (somebody signed in, with an agent), and what every refusal must look like.

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

/** Somebody who signed up, got that plan from the operator, and is signed in. */
export async function member(berth: Berth, plan = "pro"): Promise<Client> {
  const client = createClient(berth);
  await client.signUp();
  await client.grant(plan);
  await client.signIn();
  return client;
}

/** Provisions an agent; throws unless 201. */
export async function provision(client: Client, name = "Harbour", config: object = {}): Promise<AgentItem> {
  const { status, body, text } = await client.post<{ agent: AgentItem }>("/api/agents/provision", { name, config });
  if (status !== 201) throw new Error(`provision: ${status} ${text}`);
  return body.agent;
}

/** What no answer may hold: exceptions, SQL, stacks, paths of this machine, the names of what it is made of. */
const inside =
  /\bat \S+[:(]|SQLITE|\bSELECT\b|node_modules|\$bunfs|\/(?:work|tmp|root|home)\/|\.ts\b|elysia|typebox|TypeError|SyntaxError|JSON Parse|undefined is not|"on":"/i;

/** A refusal in the contract's form: status, JSON body, request id, and nothing of the inside. Gives back its body. */
export function expectRefusal(
  answer: { status: number; headers: Headers; text?: string; body: unknown },
  status: number,
  code?: string,
): ErrorBody {
  const text = answer.text ?? String(answer.body);
  expect({ status: answer.status, text }).toEqual({ status, text });
  expect(answer.headers.get("content-type")).toStartWith("application/json");
  expect(answer.headers.get("x-request-id")).toMatch(/^[\w-]{4,64}$/);
  expect(text).not.toMatch(inside);
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

/** A client of the gateway. */
export interface Gateway {
  readonly frames: Frame[];
  send(frame: object): void;
  /** The first frame of that type, come or still to come; throws when the socket closes before, or after 10 s. */
  next(type: string): Promise<Frame>;
  /** How it was closed. */
  readonly closed: Promise<{ code: number; reason: string }>;
  close(): void;
}

/** Opens a socket as a page of Berth's own would, or with other headers. Never throws; a refusal shows in `closed`. */
export function openGateway(berth: Berth, id: string, headers: Record<string, string>): Gateway {
  const url = `${berth.web.replace("http", "ws")}/agent/${id}`;
  const socket = new WebSocket(url, { headers: { origin: berth.web, ...headers } });
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  const told = Promise.withResolvers<{ code: number; reason: string }>();
  let over: { code: number; reason: string } | undefined;
  const look = () => {
    for (const check of [...waiting]) check();
  };
  socket.onmessage = ({ data }) => {
    frames.push(JSON.parse(String(data)));
    look();
  };
  socket.onclose = ({ code, reason }) => {
    over = { code, reason };
    told.resolve(over);
    look();
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
        else if (over) reject(new Error(`Closed with ${over.code} before ${type}: ${JSON.stringify(frames)}`));
      };
      waiting.add(check);
      check();
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(check);
      });
    },
    closed: told.promise,
    close: () => socket.close(),
  };
}
