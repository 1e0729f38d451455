// Accounts as tests ask about them: what the service says of one, and what it says of input that is not good.

import { expect } from "bun:test";
import type { Answer, Client } from "./client.ts";
import { expectRefusal } from "./scene.ts";

export const PASSWORD = "correct horse battery";

/** `GET /api/settings`. */
export interface Settings {
  id: string;
  email: string;
  name: string;
  plan: string;
  credits: number;
  twoFactorEnabled: boolean;
  emailVerified: boolean;
  isAdmin: boolean;
  referralCode: string;
  subscription: { plan: string; status: string; active: boolean; currentPeriodEnd: string } | null;
  notifications: Record<string, boolean>;
  createdAt: string;
}

/** Throws unless 200. */
export async function settingsOf(client: Client): Promise<Settings> {
  const { status, body, text } = await client.get<Settings>("/api/settings");
  if (status !== 200) throw new Error(`settings: ${status} ${text}`);
  return body;
}

let made = 0;

/** An address that nobody has. */
export const newEmail = (name = "user") => `${name}-${++made}-${crypto.randomUUID().slice(0, 8)}@example.com`;

export const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
export const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);

/** 400, with an issue for each of these fields and no other. */
export function expectInvalid(answer: Answer, fields: readonly string[], code = "INVALID_INPUT"): void {
  const body = expectRefusal(answer, 400, code);
  expect(Object.keys(body).sort()).toEqual(["code", "error", "issues", "message"]);
  expect(body.issues?.map(({ path }) => path).sort()).toEqual([...fields].sort());
  for (const { message } of body.issues ?? []) expect(message).toMatch(/^[A-Z].*\.$/);
}

/** Status and body, so that a difference shows both. */
export const told = ({ status, body }: Answer): { status: number; body: unknown } => ({ status, body });

/** 429 with its three headers. */
export function expectLimited(answer: Answer): void {
  const body = expectRefusal(answer, 429, "RATE_LIMITED");
  expect(Object.keys(body).sort()).toEqual(["code", "error", "message"]);
  const { headers } = answer;
  expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expect(headers.get("ratelimit")).toMatch(/^"[\w-]+";r=0;t=[1-9]\d*$/);
  expect(headers.get("ratelimit-policy")).toMatch(/^"[\w-]+";q=\d+;w=\d+(?:, "[\w-]+";q=\d+;w=\d+)*$/);
}
