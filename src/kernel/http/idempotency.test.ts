// Tests that a repeated request with an Idempotency-Key is done once.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { fileDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { appErrorOf } from "../../../tests/support/rejection.ts";
import { AppError } from "../errors.ts";
import { createVault } from "../security/vault.ts";
import {
  createIdempotency,
  type Idempotency,
  type IdempotencyOptions,
  type KeepStatements,
  type SerializedResponse,
} from "./idempotency.ts";
import { attachContext } from "./request-context.ts";

const vault = createVault({ key: "root key of this test" });
const HOUR = 3_600_000;
const SCOPE = "user:1 POST /api/keys";
let storage: TestDatabase;
let clock = 1_700_000_000_000;
let idempotency: Idempotency;
let done = 0;

const create = (options: Partial<IdempotencyOptions> = {}) =>
  createIdempotency({ database: storage.database, vault, now: () => clock, ...options });

beforeEach(async () => {
  storage = await fileDatabase();
  idempotency = create();
  done = 0;
});
afterEach(() => storage.remove());

const work =
  (status = 201) =>
  async (): Promise<SerializedResponse> => ({ status, body: JSON.stringify({ run: ++done }) });
const rows = async () => (await storage.database.read("SELECT * FROM idempotency_keys")).rows;

describe("a repeated request", () => {
  test("gets the first response again, also after a restart", async () => {
    const first = await idempotency.run(SCOPE, "k1", "{}", work());
    expect(first).toEqual({ status: 201, body: '{"run":1}', replayed: false });
    expect(await idempotency.run(SCOPE, "k1", "{}", work())).toEqual({ ...first, replayed: true });
    expect(await create().run(SCOPE, "k1", "{}", work())).toEqual({ ...first, replayed: true });
    expect(done).toBe(1);
  });

  test("runs again under another key, another scope, after a day, or without a key", async () => {
    await idempotency.run(SCOPE, "k1", "{}", work());
    await idempotency.run(SCOPE, "k2", "{}", work());
    await idempotency.run("user:2 POST /api/keys", "k1", "{}", work());
    clock += 24 * HOUR;
    await idempotency.run(SCOPE, "k1", "{}", work());
    await idempotency.run(SCOPE, null, "{}", work());
    await idempotency.run(SCOPE, null, "{}", work());
    expect(done).toBe(6);
    expect(await rows()).toHaveLength(1);
  });

  test("is replayed for nearly a day", async () => {
    await idempotency.run(SCOPE, "k1", "{}", work());
    clock += 24 * HOUR - 1;
    expect((await idempotency.run(SCOPE, "k1", "{}", work())).replayed).toBe(true);
  });

  test("with another body is 409, and does nothing", async () => {
    await idempotency.run(SCOPE, "k1", '{"a":1}', work());
    const error = await appErrorOf(idempotency.run(SCOPE, "k1", '{"a":2}', work()));
    expect(error).toMatchObject({ status: 409, code: "IDEMPOTENCY_MISMATCH" });
    expect(done).toBe(1);
  });

  test.each(["", "a b", "ü", "x".repeat(256), "a\n"])("with an invalid key is 400: %j", async (key) => {
    expect(await appErrorOf(idempotency.run(SCOPE, key, "{}", work()))).toMatchObject({
      status: 400,
      code: "INVALID_INPUT",
    });
    expect(done).toBe(0);
  });
});

describe("a stored response", () => {
  test("is never a server error, a rate limit or a thrown error", async () => {
    await idempotency.run(SCOPE, "k1", "{}", work(500));
    await idempotency.run(SCOPE, "k1", "{}", work(503));
    await idempotency.run(SCOPE, "k1", "{}", work(429));
    const broken = idempotency.run(SCOPE, "k1", "{}", () => Promise.reject(new AppError(402, "PAY", "Pay first.")));
    expect((await appErrorOf(broken)).code).toBe("PAY");
    expect(await rows()).toHaveLength(0);
    expect(await idempotency.run(SCOPE, "k1", "{}", work(409))).toMatchObject({ status: 409, replayed: false });
    expect(await idempotency.run(SCOPE, "k1", "{}", work())).toMatchObject({ status: 409, replayed: true });
  });

  test("has null for a secret that was shown once", async () => {
    const body = '{"id":"1","key":"bk_secret","agent":{"token":"opaque","name":"a"}}';
    const options = { secretFields: ["key", "agent.token", "missing.field", "id.x"] };
    const produce = async () => ({ status: 201, body });
    expect((await idempotency.run(SCOPE, "k1", "{}", produce, options)).body).toBe(body);
    const again = await idempotency.run(SCOPE, "k1", "{}", produce, options);
    expect(again.body).toBe('{"id":"1","key":null,"agent":{"token":null,"name":"a"}}');
    expect(JSON.stringify(await rows())).not.toMatch(/bk_secret|opaque/);
  });

  test("reveals nothing of the request's body, not even to guesses", async () => {
    await idempotency.run(SCOPE, "k1", '{"password":"hunter2"}', work());
    const [row] = await rows();
    expect(JSON.stringify(row)).not.toContain("hunter2");
    const bare = new Bun.CryptoHasher("sha256").update('{"password":"hunter2"}');
    expect(row?.body_hash).not.toBe(bare.digest("base64url"));
  });

  test("is on disk before the response is returned", async () => {
    let writing = false;
    const database: IdempotencyOptions["database"] = {
      read: (sql, args) => storage.database.read(sql, args),
      async write(statements) {
        writing = true;
        const result = await storage.database.write(statements);
        writing = false;
        return result;
      },
    };
    await create({ database }).run(SCOPE, "k1", "{}", work());
    expect(writing).toBe(false);
    expect(await rows()).toHaveLength(1);
  });

  test("can be stored in the batch of the work, so that both exist or neither", async () => {
    const produce = (valid: boolean) => async (keep: KeepStatements) => {
      const answer = { status: 201, body: '{"ok":true}' };
      const bad = valid ? [] : [{ sql: "INSERT INTO meta (key, value) VALUES ('x', NULL)", args: [] }];
      await storage.database.write([
        { sql: "INSERT INTO meta (key, value) VALUES ('x', '1')", args: [] },
        ...keep(answer),
        ...bad,
      ]);
      return answer;
    };
    await expect(idempotency.run(SCOPE, "k1", "{}", produce(false))).rejects.toThrow();
    expect(await rows()).toHaveLength(0);
    expect((await idempotency.run(SCOPE, "k1", "{}", produce(true))).replayed).toBe(false);
    expect((await idempotency.run(SCOPE, "k1", "{}", produce(true))).replayed).toBe(true);
    expect(await rows()).toHaveLength(1);
  });
});

describe("concurrent requests", () => {
  /** Work that waits until it is released. */
  function held(status = 201) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const produce = async () => {
      await promise;
      return work(status)();
    };
    return { produce, release: resolve };
  }

  test("repeated requests wait for the first and share its response", async () => {
    const { produce, release } = held();
    const all = Array.from({ length: 20 }, () => idempotency.run(SCOPE, "k1", "{}", produce));
    release();
    const answers = await Promise.all(all);
    expect(done).toBe(1);
    expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 20 }, () => '{"run":1}'));
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  });

  test("if the first fails, the next one runs", async () => {
    const { produce, release } = held(500);
    const first = idempotency.run(SCOPE, "k1", "{}", produce);
    const second = idempotency.run(SCOPE, "k1", "{}", work());
    release();
    expect((await first).status).toBe(500);
    expect(await second).toEqual({ status: 201, body: '{"run":2}', replayed: false });
  });

  test("a request with another body does not wait: 409 at once", async () => {
    const started = Promise.withResolvers<void>();
    const { produce, release } = held();
    const first = idempotency.run(SCOPE, "k1", "{}", () => {
      started.resolve();
      return produce();
    });
    await started.promise;
    expect((await appErrorOf(idempotency.run(SCOPE, "k1", "[]", work()))).code).toBe("IDEMPOTENCY_MISMATCH");
    release();
    await first;
    expect(done).toBe(1);
  });

  test("a request with a wrong body does not affect a correct one", async () => {
    const first = await idempotency.run(SCOPE, "k1", "{}", work());
    const wrong = appErrorOf(idempotency.run(SCOPE, "k1", "[]", work()));
    expect(await idempotency.run(SCOPE, "k1", "{}", work())).toEqual({ ...first, replayed: true });
    expect((await wrong).code).toBe("IDEMPOTENCY_MISMATCH");
  });

  test("waiting too long is 409", async () => {
    const impatient = create({ waitMs: 5 });
    const { produce, release } = held();
    const first = impatient.run(SCOPE, "k1", "{}", produce);
    expect((await appErrorOf(impatient.run(SCOPE, "k1", "{}", work()))).code).toBe("IDEMPOTENCY_IN_PROGRESS");
    release();
    expect((await first).replayed).toBe(false);
    expect(done).toBe(1);
  });

  test("of two processes on one database, one does the work, if the response is stored with it", async () => {
    const bothRead = held();
    const batch = (process: string) => async (keep: KeepStatements) => {
      const answer = { status: 201, body: JSON.stringify({ process }) };
      await bothRead.produce();
      await storage.database.write([
        { sql: "INSERT INTO meta (key, value) VALUES (?, '1')", args: [process] },
        ...keep(answer),
      ]);
      return answer;
    };
    const one = create().run(SCOPE, "k1", "{}", batch("one"));
    const two = create().run(SCOPE, "k1", "{}", batch("two"));
    bothRead.release();
    const answers = await Promise.all([one, two]);
    expect(answers[0].body).toBe(answers[1].body);
    expect(answers.filter(({ replayed }) => replayed)).toHaveLength(1);
    const { rows: effects } = await storage.database.read("SELECT key FROM meta WHERE key IN ('one', 'two')");
    expect(effects).toHaveLength(1);
  });
});

describe("a route", () => {
  /** A request with the context that a surface attaches. */
  function request(key: string | null, bodyText = "{}", address = "203.0.113.7", path = "/api/keys") {
    const headers: Record<string, string> = key === null ? {} : { "idempotency-key": key };
    const made = new Request(`http://localhost${path}`, { method: "POST", headers, body: bodyText });
    attachContext(made, { id: "r", address, socketAddress: "", cookies: [], bodyText });
    return made;
  }
  const produce = async () => Response.json({ run: ++done }, { status: 201, headers: { "x-own": "yes" } });
  const respond = (made: Request, userId?: string) => idempotency.respond({ request: made, userId }, produce);

  test("replays status and body, with a header", async () => {
    const first = await respond(request("k1"), "u1");
    expect(first.headers.get("x-own")).toBe("yes");
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect(await first.json()).toEqual({ run: 1 });
    const again = await respond(request("k1"), "u1");
    expect(again.status).toBe(201);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.headers.get("content-type")).toContain("application/json");
    expect(await again.json()).toEqual({ run: 1 });
    expect((await appErrorOf(respond(request("k1", "[]"), "u1"))).code).toBe("IDEMPOTENCY_MISMATCH");
  });

  test("distinguishes callers and paths, and does nothing without a key", async () => {
    await respond(request("k1"), "u1");
    await respond(request("k1"), "u2");
    await respond(request("k1"));
    await respond(request("k1", "{}", "203.0.113.8"));
    await respond(request("k1", "{}", "203.0.113.7", "/api/other"), "u1");
    await respond(request(null), "u1");
    await respond(request(null), "u1");
    expect(done).toBe(7);
  });

  test("that finds its own answers has a key held to one body, also after a restart", async () => {
    const hold = (content: string, work: () => Promise<unknown> = async () => ++done, key: string | null = "k1") =>
      create().holdToOneBody({ request: request(key), userId: "u1" }, content, work);
    expect(await Promise.all([hold("a"), hold("a")])).toEqual(expect.arrayContaining([1, 2]));
    expect((await appErrorOf(hold("b"))).code).toBe("IDEMPOTENCY_MISMATCH");
    expect(await hold("b", async () => ++done, null)).toBe(3);
    expect((await appErrorOf(hold("a", undefined, "not valid"))).code).toBe("INVALID_INPUT");
    expect(await hold("a")).toBe(4);
    clock += 24 * HOUR;
    expect(await hold("b")).toBe(5);
    expect(JSON.stringify(await rows())).not.toContain('"body":"b"');
  });

  test("frees a held key when it refuses the first request, and keeps it when it fails", async () => {
    const hold = (content: string, status?: number) =>
      idempotency.holdToOneBody({ request: request("k1"), userId: "u1" }, content, async () => {
        if (status !== undefined) throw new AppError(status, "NO", "No.");
      });
    expect((await appErrorOf(hold("a", 400))).code).toBe("NO");
    expect((await appErrorOf(hold("b", 503))).code).toBe("NO");
    expect((await appErrorOf(hold("c"))).code).toBe("IDEMPOTENCY_MISMATCH");
    await hold("b");
    // A later refusal does not undo what was begun.
    expect((await appErrorOf(hold("b", 404))).code).toBe("NO");
    expect(await rows()).toHaveLength(1);
  });

  test("passes an event stream on", async () => {
    const stream = async () => new Response("data: x\n\n", { headers: { "content-type": "text/event-stream" } });
    const answer = await idempotency.respond({ request: request("k1"), userId: "u1" }, stream);
    expect(await answer.text()).toBe("data: x\n\n");
    expect(await rows()).toHaveLength(0);
  });
});
