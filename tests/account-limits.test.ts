// The rate limits of account routes: per address and per account, over kills and restarts, with forged client addresses.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expectLimited, newEmail, PASSWORD } from "./support/accounts.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Trusts `X-Forwarded-For` of this machine, so that tests can choose their address. */
let berth: Berth;
beforeAll(async () => {
  berth = await startBerth({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
});
afterAll(() => berth?.[Symbol.asyncDispose]());

const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
const database = (of: Berth, mode: { readonly: true } | { readwrite: true } = { readonly: true }) =>
  new Database(join(of.dir, "data/berth.db"), mode);

let addresses = 0;
/** A new, unused address. */
const freshAddress = () => `198.51.100.${++addresses}`;

/** Requests that end before a password hash, since a rate limit counts before the body is read. */
const tries: Record<
  string,
  { ask(address: string, of?: Berth): Promise<Answered>; rate: number; hourly?: number; policy: string }
> = {
  "sign-up": {
    ask: (address, of = berth) => createClient(of).post("/api/register", {}, from(address)),
    rate: 10,
    hourly: 60,
    policy: '"sign-up-60s";q=10;w=60, "sign-up-3600s";q=60;w=3600',
  },
  "forgot-password": {
    ask: (address, of = berth) => createClient(of).post("/api/auth/forgot-password", {}, from(address)),
    rate: 5,
    hourly: 20,
    policy: '"forgot-password-60s";q=5;w=60, "forgot-password-3600s";q=20;w=3600',
  },
  "reset-password": {
    ask: (address, of = berth) => createClient(of).post("/api/auth/reset-password", {}, from(address)),
    rate: 10,
    hourly: 60,
    policy: '"reset-password-60s";q=10;w=60, "reset-password-3600s";q=60;w=3600',
  },
  "sign-in of one account": {
    ask: (address, of = berth) =>
      createClient(of).post(
        "/api/auth/callback/credentials",
        { email: "somebody@example.com", password: "a guess" },
        from(address),
      ),
    rate: 10,
    policy: '"sign-in";q=10;w=900',
  },
  "sign-in of any": {
    ask: (address, of = berth) =>
      createClient(of).post(
        "/api/auth/callback/credentials",
        { email: newEmail(), password: "a guess" },
        from(address),
      ),
    rate: 30,
    policy: '"sign-in-ip";q=30;w=900',
  },
};
type Answered = Awaited<ReturnType<Client["post"]>>;
const names = Object.keys(tries);
const tryOf = (name: string) => tries[name] ?? expect.unreachable();
const isRefused = ({ status }: Answered) => status === 429;

/** Sends `size` requests at once; returns how many were not limited. */
async function crowd(name: string, size: number, address: string | (() => string), of?: Berth): Promise<number> {
  const { ask } = tryOf(name);
  const pending = Array.from({ length: size }, () => ask(typeof address === "string" ? address : address(), of));
  const answers = await Promise.all(pending);
  for (const answer of answers.filter(isRefused)) expectLimited(answer);
  return answers.filter((answer) => !isRefused(answer)).length;
}

describe.each(names)("%s", (name) => {
  const { ask, rate, policy } = tryOf(name);

  test("allows its rate, also at once; then 429 with the policy, while another address is allowed", async () => {
    const address = freshAddress();
    expect(await crowd(name, rate + 5, address)).toBe(rate);
    const refused = await ask(address);
    expectLimited(refused);
    expect(refused.headers.get("ratelimit-policy")).toBe(policy);
    const seconds = Number(/;w=(\d+)/.exec(policy)?.[1]);
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, seconds + 1);
    expect(isRefused(await ask(freshAddress()))).toBe(false);
  });
});

// Without the one that takes thirty password hashes each time.
describe.each(names.filter((name) => name !== "sign-in of any"))("the address for %s", (name) => {
  const { ask, rate } = tryOf(name);

  test("counts an IPv6 /64 network as one caller in any spelling, and the next network as another", async () => {
    const network = `2001:db8:${(++addresses).toString(16)}:1`;
    let n = 0;
    const spell = () => {
      const host = (++n).toString(16);
      const forms = [`${network}::${host}`, `${network}:0:0:0:${host}`.toUpperCase(), `[${network}::${host}]:4711`];
      return forms[n % forms.length] ?? "";
    };
    expect(await crowd(name, rate + 5, spell)).toBe(rate);
    expectLimited(await ask(`${network}:ffff:ffff:ffff:ffff`));
    expect(isRefused(await ask(`${network.slice(0, -1)}2::1`))).toBe(false);
  });

  test("equals its IPv4-mapped IPv6 form, and is the entry that the trusted proxy added", async () => {
    const address = freshAddress();
    let n = 0;
    const spell = () =>
      [address, `::ffff:${address}`, `${address}:${4_000 + n}`, `203.0.113.${n}, ${address}`, `unknown, ${address}`][
        ++n % 5
      ] ?? "";
    expect(await crowd(name, rate + 5, spell)).toBe(rate);
    expect(isRefused(await ask(`${address}, ${freshAddress()}`))).toBe(false);
  });
});

test("a client's headers about its address are ignored without a trusted proxy", async () => {
  await using open = await startBerth();
  const lies = (n: number): Record<string, string> => ({
    "x-forwarded-for": `203.0.113.${n}`,
    "x-real-ip": `203.0.113.${n}`,
    forwarded: `for=203.0.113.${n}`,
    "cf-connecting-ip": `203.0.113.${n}`,
    "true-client-ip": `203.0.113.${n}`,
    via: `1.1 proxy-${n}`,
  });
  const refused = async (path: string, body: object) => {
    const answers = await Promise.all(
      Array.from({ length: 35 }, (_, n) => createClient(open).post(path, body, { headers: lies(n) })),
    );
    return answers.filter(isRefused).length;
  };
  expect(await refused("/api/register", {})).toBe(25);
  expect(await refused("/api/auth/forgot-password", {})).toBe(30);
  expect(await refused("/api/auth/reset-password", {})).toBe(25);
  expect(await refused("/api/auth/callback/credentials", { email: newEmail(), password: "a guess" })).toBe(25);
});

describe("time", () => {
  /** Stops the service, moves all counts back by `ms`, and starts it again. */
  async function passes(of: Berth, ms: number): Promise<void> {
    await of.stop();
    using opened = database(of, { readwrite: true });
    opened.run("UPDATE rate_limits SET window_start = window_start - ?", [ms]);
    await of.restart();
  }

  test("a kill and a restart keep the counts; after a quarter of an hour they are gone", async () => {
    const address = freshAddress();
    for (const name of names) await crowd(name, tryOf(name).rate, address);
    const refusals = async () => {
      for (const name of names) expectLimited(await tryOf(name).ask(address));
    };
    await refusals();
    await berth.kill();
    await berth.restart();
    await refusals();
    await berth.restart();
    await refusals();
    await passes(berth, 15 * MINUTE);
    for (const name of names) expect(isRefused(await tryOf(name).ask(address))).toBe(false);
  });

  test("hourly rates hold after a minute", async () => {
    const hourly = names.filter((name) => tryOf(name).hourly !== undefined);
    const address = freshAddress();
    const counted: Record<string, number> = {};
    for (let minute = 0; minute < 8; minute++) {
      for (const name of hourly) {
        counted[name] = (counted[name] ?? 0) + (await crowd(name, tryOf(name).rate + 1, address));
      }
      await passes(berth, MINUTE);
    }
    expect(counted).toEqual(Object.fromEntries(hourly.map((name) => [name, tryOf(name).hourly ?? 0])));
    for (const name of hourly) {
      const refused = await tryOf(name).ask(address);
      expectLimited(refused);
      expect(refused.headers.get("ratelimit")).toStartWith(`"${name}-3600s";r=0;`);
      expect(Number(refused.headers.get("retry-after"))).toBeWithin(40 * 60, 60 * 60);
    }
    await passes(berth, HOUR);
    for (const name of hourly) expect(isRefused(await tryOf(name).ask(address))).toBe(false);
  });
});

describe("an account", () => {
  const signIn = (email: string, password: string, address: string) =>
    createClient(berth).post("/api/auth/callback/credentials", { email, password }, from(address));
  const person = async () => {
    const client = createClient(berth);
    const account = { email: newEmail(), password: PASSWORD };
    expect((await client.post("/api/register", account, from(freshAddress()))).status).toBe(201);
    return { ...account, client };
  };

  test("stays open to its owner at another address while its password is guessed, in any spelling", async () => {
    const [ada, grace] = [await person(), await person()];
    const [guesser, home] = [freshAddress(), freshAddress()];
    const spell = (n: number) => [ada.email, ada.email.toUpperCase(), ` ${ada.email} `][n % 3] ?? "";
    const guesses = await Promise.all(Array.from({ length: 15 }, (_, n) => signIn(spell(n), `guess ${n}`, guesser)));
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10);
    expectLimited(await signIn(ada.email, PASSWORD, guesser));
    expect((await signIn(ada.email, PASSWORD, home)).status).toBe(200);
    // Another account at the guesser's address is not limited.
    expect((await signIn(grace.email, PASSWORD, guesser)).status).toBe(200);
  });

  test("has no limit of successful sign-ins", async () => {
    const { email } = await person();
    const address = freshAddress();
    const answers = await Promise.all(Array.from({ length: 35 }, () => signIn(email, PASSWORD, address)));
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  });

  test("limits password guesses with a stolen session", async () => {
    const ada = await person();
    const [thief, home] = [freshAddress(), freshAddress()];
    await ada.client.post("/api/auth/callback/credentials", ada, from(home));
    const guess = (n: number): Promise<Answered> => {
      const body = { password: `guess ${n}`, currentPassword: `guess ${n}`, newPassword: "the password of Eve" };
      if (n % 3 === 0) return ada.client.delete("/api/settings", body, from(thief));
      return ada.client.post(n % 3 === 1 ? "/api/settings/password" : "/api/settings/2fa", body, from(thief));
    };
    const answers = await Promise.all(Array.from({ length: 15 }, (_, n) => guess(n)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(isRefused)).toHaveLength(5);
    expectLimited(await signIn(ada.email, PASSWORD, thief));
    expect((await signIn(ada.email, PASSWORD, home)).status).toBe(200);
  });

  test("gets five reset mails a minute, from however many addresses they are requested", async () => {
    const { email } = await person();
    const pending = Array.from({ length: 12 }, () =>
      createClient(berth).post("/api/auth/forgot-password", { email }, from(freshAddress())),
    );
    for (const { status } of await Promise.all(pending)) expect(status).toBe(200);
    await eventually(() => {
      using opened = database(berth);
      const waiting = opened.query<{ n: number }, []>(
        "SELECT count(*) AS n FROM jobs WHERE kind IN ('auth.forgot-password', 'mail')",
      );
      return waiting.get()?.n === 0;
    });
    const outbox = join(berth.dir, "data/outbox");
    const mails = readdirSync(outbox).map((name) => readFileSync(join(outbox, name), "utf8"));
    expect(mails.filter((mail) => mail.includes(email) && mail.includes("/reset-password?token="))).toHaveLength(5);
  });

  test("has the rate of one address, from however many it is used; other accounts are not limited", async () => {
    const [ada, grace] = [await person(), await person()];
    for (const { client, ...account } of [ada, grace]) {
      await client.post("/api/auth/callback/credentials", account, from(freshAddress()));
    }
    const nets = Array.from({ length: 10 }, freshAddress);
    const statuses: number[] = [];
    for (let n = 0; n < 62; n++) {
      const answers = await Promise.all(nets.map((net) => ada.client.get("/api/settings", from(net))));
      statuses.push(...answers.map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(600);
    const refused = await ada.client.get("/api/settings", from(freshAddress()));
    expectLimited(refused);
    expect(refused.headers.get("ratelimit-policy")).toBe('"default";q=600;w=60');
    for (const net of nets) expect((await grace.client.get("/api/settings", from(net))).status).toBe(200);
  });
});
