// Measures how long requests of maximal size keep the service from answering others, by a /healthz every 5 ms.

import { createClient } from "../tests/support/client.ts";
import type { AgentItem } from "../tests/support/members.ts";
import { createWallet, siweMessage } from "../tests/support/wallets.ts";
import { type Benchmark, type Figure, ms } from "./support/figures.ts";
import { ownerOf, startService, startUpstream } from "./support/service.ts";
import { watchStalls } from "./support/stalls.ts";

/** Each request is repeated this often where it can be, and its shortest stall counts: other work on the machine only adds. */
const ROUNDS = 3;
const MiB = 1024 * 1024;
const TIME = "2026-01-01T00:00:00.000Z";

const session = (n: number, messages: readonly unknown[] = []) => ({
  ...{ id: `s${n}`, platform: "api", peer: `p${n}`, status: "open", summary: null, summarized: 0 },
  ...{ createdAt: TIME, lastActivity: TIME, messages },
});
const message = (n: number, content: string) => ({ role: n % 2 ? "assistant" : "user", content, at: TIME });
const list = <Item>(length: number, item: (n: number) => Item) => Array.from({ length }, (_, n) => item(n));

const exported = (parts: Record<string, unknown>) =>
  JSON.stringify({ format: "berth.agent/1", name: "Big", model: "model_a", config: {}, ...parts });
const conversations = (sessions: number, messages: number, size: number) => {
  const content = "wörd ".repeat(size / 5);
  return exported({
    sessions: list(sessions, (n) =>
      session(
        n,
        list(messages, (m) => message(m, content)),
      ),
    ),
  });
};
/** JSON of about this size: objects nested to the deepest level that is allowed. */
const nested = (size: number) => {
  const one = `${'{"a":'.repeat(60)}"\\u0041\\ud83d\\ude00"${"}".repeat(60)}`;
  return `{"message":"x","list":[${list(Math.floor(size / (one.length + 1)), () => one).join(",")}]}`;
};

export const stalls: Benchmark = {
  name: "stalls",
  summary: "worst /healthz beside requests of maximal size",
  async run() {
    await using upstream = await startUpstream();
    await using berth = await startService(upstream, { env: { BOT_DETECTION: "off" } });
    const owner = await ownerOf(berth, 1);
    const guest = createClient(berth);
    await guest.join();
    const [agentId = ""] = owner.agentIds;

    using watch = await watchStalls(berth);

    const send = async (status: number, method: string, path: string, body?: string, cookie = owner.client.cookie) => {
      const origin = path.startsWith("/api/ai/") ? berth.backend : berth.web;
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: { cookie, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body }),
      });
      const text = await response.text();
      if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
      return text;
    };

    const figures: Figure[] = [];
    const measure = async <Result>(what: string, work: () => Promise<Result>, rounds = ROUNDS): Promise<Result> => {
      let shortest = Number.POSITIVE_INFINITY;
      let result: Result | undefined;
      const began = performance.now();
      for (let n = 0; n < rounds; n++) {
        await watch.longest();
        result = await work();
        // What the answer leaves to do counts, too.
        await Bun.sleep(100);
        shortest = Math.min(shortest, await watch.longest());
      }
      if (process.env.STALLS_VERBOSE)
        console.log(what, ms(shortest), `${Math.round((performance.now() - began) / rounds)} ms each`);
      figures.push(watch.figure(what, shortest));
      return result as Result;
    };
    const importing = async (body: string) => {
      const { agent } = JSON.parse(await send(201, "POST", "/api/agents/import", body)) as { agent: AgentItem };
      return agent.id;
    };
    const only = process.env.STALLS_ONLY;
    const imported = async (what: string, body: string) => {
      if (only && !new RegExp(only).test(what)) return "";
      let id = "";
      await measure(
        `import of ${what} (${(body.length / MiB).toFixed(1)} MiB)`,
        async () => {
          if (id) await send(200, "DELETE", `/api/agents/${id}`);
          id = await importing(body);
        },
        1,
      );
      return id;
    };
    const operate = async (what: string, id: string) => {
      if (id === "") return;
      const path = `/api/agents/${id}`;
      await measure(`export of ${what}`, () => send(200, "GET", `${path}/export`));
      const update = await measure(`update (with a backup) of ${what}`, () =>
        send(200, "POST", `${path}/update`, "{}"),
      );
      const { backupPath } = JSON.parse(update) as { backupPath: string };
      const rollback = () => send(200, "POST", `${path}/rollback`, JSON.stringify({ backupPath }));
      await measure(`rollback of ${what}, unchanged`, rollback, 1);
      await measure(`repair of ${what}`, () => send(200, "POST", `${path}/repair`));
      await measure(`sessions of ${what}`, () => send(200, "GET", `/api/agent?action=sessions&agentId=${id}`));
      await measure(`memory of ${what}`, () => send(200, "GET", `/api/agent?action=memory&agentId=${id}`));
      await measure(`reset-memory of ${what}`, () => send(200, "POST", `${path}/reset-memory`), 1);
      await measure(`rollback of ${what}, erased`, rollback, 1);
      await measure(`deletion of ${what}`, () => send(200, "DELETE", path), 1);
    };

    // What only the first request of its kind does: build the document, load a library.
    await measure("the first API document", () => send(200, "GET", "/swagger/json"), 1);
    await measure(
      "the first chat",
      () => send(200, "POST", "/api/chat", JSON.stringify({ message: "Hi", agentId })),
      1,
    );
    const proof = { message: siweMessage(berth.web, createWallet()), signature: `0x${"1".repeat(130)}` };
    await measure(
      "the first wallet sign-in",
      () => send(401, "POST", "/api/auth/callback/wallet", JSON.stringify(proof)),
      1,
    );
    const huge = conversations(1_000, 100, 200);
    await measure("import of 31 MiB without a plan", () => send(402, "POST", "/api/agents/import", huge, guest.cookie));
    await measure("import of 31 MiB of numbers", () =>
      send(400, "POST", "/api/agents/import", exported({ sessions: list(4_000_000, (n) => n) })),
    );
    await measure("import of 31 MiB, not JSON", () => send(400, "POST", "/api/agents/import", `${huge.slice(0, -1)}x`));
    await operate("4,000 empty sessions", await imported("4,000 empty sessions", conversations(4_000, 0, 0)));
    await operate("50,000 empty sessions", await imported("50,000 empty sessions", conversations(50_000, 0, 0)));
    await operate(
      "100,000 messages in 10,000 sessions",
      await imported("100,000 messages in 10,000 sessions", conversations(10_000, 10, 150)),
    );
    await operate("one message of 1 MiB", await imported("one message of 1 MiB", conversations(1, 1, 900_000)));
    await operate("100 messages of 290 KiB", await imported("100 messages of 290 KiB", conversations(1, 100, 250_000)));

    const deep = nested(MiB - 1_000);
    await measure("chat: 1 MiB of nested JSON", () => send(400, "POST", "/api/chat", deep.replace('"x"', "7")));
    await measure("chat: 1 MiB of short members", () =>
      send(
        400,
        "POST",
        "/api/chat",
        JSON.stringify({ message: 7, ...Object.fromEntries(list(30_000, (n) => [`k${n}`, "\ud83d"])) }),
      ),
    );
    await measure("provision: 1 MiB of nested JSON", () => send(400, "POST", "/api/provision", deep));
    await measure("config: 1 MiB of nested JSON", () => send(400, "PUT", `/api/agents/${agentId}/config`, deep));
    const config = JSON.stringify({ text: "a b:/ eyJ ".repeat(6_000) });
    await measure("config of 60 KiB", () => send(200, "PUT", `/api/agents/${agentId}/config`, config));
    await measure("chat: 100,000 characters", () =>
      send(200, "POST", "/api/chat", JSON.stringify({ message: "wörd ".repeat(20_000), agentId })),
    );
    await measure("pass-through of 1 MiB", () =>
      send(
        200,
        "POST",
        "/api/ai/chat",
        JSON.stringify({
          model: "provider_3:fake-small",
          messages: list(5_000, () => ({ role: "user", content: "wörd ".repeat(20) })),
        }),
      ),
    );
    return figures;
  },
};
