// Reads an account's settings and checks how the API rejects input: invalid fields (400) and rate limits (429).

import { expect } from "bun:test";
import type { Answer, Client } from "./client.ts";
import { expectRefusal } from "./refusal.ts";

export const PASSWORD = "correct horse battery";

/** The response of `GET /api/settings`. */
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

/** Reads the settings of the signed-in account; throws unless the status is 200. */
export async function settingsOf(client: Client): Promise<Settings> {
  const { status, body, text } = await client.get<Settings>("/api/settings");
  if (status !== 200) throw new Error(`settings: ${status} ${text}`);
  return body;
}

let made = 0;

/** A new, unique email address. */
export const newEmail = (name = "user") => `${name}-${++made}-${crypto.randomUUID().slice(0, 8)}@example.com`;

export const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
export const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);

/** Expects 400 with an issue for each of these fields and for no other. */
export function expectInvalid(answer: Answer, fields: readonly string[], code = "INVALID_INPUT"): void {
  const body = expectRefusal(answer, 400, code);
  expect(Object.keys(body).sort()).toEqual(["code", "error", "issues", "message"]);
  expect(body.issues?.map(({ path }) => path).sort()).toEqual([...fields].sort());
  for (const { message } of body.issues ?? []) expect(message).toMatch(/^[A-Z].*\.$/);
}

/** Status and body, so that a failed comparison shows both. */
export const statusAndBody = ({ status, body }: Answer): { status: number; body: unknown } => ({ status, body });

/** Expects 429 with `Retry-After` and the two `RateLimit` headers. */
export function expectLimited(answer: Answer): void {
  const body = expectRefusal(answer, 429, "RATE_LIMITED");
  expect(Object.keys(body).sort()).toEqual(["code", "error", "message"]);
  const { headers } = answer;
  expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expect(headers.get("ratelimit")).toMatch(/^"[\w-]+";r=0;t=[1-9]\d*$/);
  expect(headers.get("ratelimit-policy")).toMatch(/^"[\w-]+";q=\d+;w=\d+(?:, "[\w-]+";q=\d+;w=\d+)*$/);
}
