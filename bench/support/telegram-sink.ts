// A minimal Telegram for bots in webhook mode: it stores their webhooks, accepts their messages, and posts updates on request.

interface Webhook {
  path: string;
  secret: string;
}

const webhooks = new Map<string, Webhook>();
const calls: Record<string, number> = {};
const posted: Record<string, number> = {};
let messages = 0;

/** `{ "to": origin, "atOnce": n }`: posts one private message to every bot with a webhook, `atOnce` in parallel. */
async function post({ to, atOnce }: { to: string; atOnce: number }): Promise<void> {
  const waiting = [...webhooks.values()].values();
  const worker = async () => {
    for (const { path, secret } of waiting) {
      const n = ++messages;
      const person = { id: 500_000_000 + n, is_bot: false, first_name: "Ada" };
      const chat = { id: person.id, type: "private", first_name: "Ada" };
      const message = { message_id: 1, date: Math.floor(Date.now() / 1000), from: person, chat, text: "Hello there" };
      const { status } = await fetch(`${to}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret },
        body: JSON.stringify({ update_id: n, message }),
      });
      posted[status] = (posted[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function call(token: string, method: string, request: Request): Promise<unknown> {
  calls[method] = (calls[method] ?? 0) + 1;
  const text = await request.text();
  const params = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
  if (method === "setWebhook") {
    const { pathname } = new URL(String(params.url));
    webhooks.set(token, { path: pathname, secret: String(params.secret_token) });
    return true;
  }
  if (method === "getMe") {
    const id = Number(token.split(":")[0]);
    return { id, is_bot: true, first_name: "Bench", username: `bench_${id}_bot` };
  }
  if (method !== "sendMessage" && method !== "editMessageText") return true;
  const chat = { id: Number(params.chat_id), type: "private", first_name: "Ada" };
  return { message_id: 2, date: Math.floor(Date.now() / 1000), chat, text: params.text };
}

function serve() {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/_control/stats") return Response.json({ webhooks: webhooks.size, calls, posted });
      if (pathname === "/_control/post") {
        await post((await request.json()) as { to: string; atOnce: number });
        return Response.json(posted);
      }
      const [, token = "", method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(pathname) ?? [];
      return Response.json({ ok: true, result: await call(token, method, request) });
    },
  });
}

if (import.meta.main) process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${serve().port}` })}\n`);

export {};
