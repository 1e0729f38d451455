// A minimal WhatsApp: it accepts tokens, stores callbacks, and acts as users who wait for a reply before they write again.

interface Business {
  token: string;
  /** The callback that gets its messages. */
  callback: string;
}

interface Run {
  /** Origin of the posts; the path is the callback's. */
  to: string;
  /** Number of parallel conversations. */
  chats: number;
  seconds: number;
}

const businesses = new Map<string, Business>();
/** Users who wait for a reply, by number. */
const waiting = new Map<string, () => void>();
const MANAGES = ["whatsapp_business_management", "whatsapp_business_messaging"];
const PATIENCE_MS = 10_000;
/** People behind each parallel conversation, who write in turn, so that no session gets so long that it is summarized. */
const PEOPLE = 80;
/** How many messages each parallel conversation has sent, in all runs. */
const sentBy: number[] = [];

/** A business's phone number: its account id followed by a zero. */
const phoneOf = (account: string) => `${account}0`;

/** Runs the conversations: each user writes, waits for the reply, and writes again. Returns the number of replies and their latencies (ms). */
async function converse({ to, chats, seconds }: Run) {
  const all = [...businesses];
  const took: number[] = [];
  const until = performance.now() + seconds * 1000;
  let lost = 0;
  const person = async (n: number) => {
    while (performance.now() < until) {
      const sent = sentBy[n] ?? 0;
      sentBy[n] = sent + 1;
      const [account, { callback }] = all[(n + sent * chats) % all.length] ?? ["", { callback: "/" }];
      const from = `4915${String(n).padStart(4, "0")}${String(sent % PEOPLE).padStart(4, "0")}`;
      const began = performance.now();
      const answered = new Promise<boolean>((resolve) => {
        const late = setTimeout(() => resolve(false), PATIENCE_MS);
        waiting.set(from, () => {
          clearTimeout(late);
          resolve(true);
        });
      });
      const { status } = await fetch(`${to}${callback}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(arrival(account, from, `wamid.${n}.${sent}.${began}`)),
      });
      if (status !== 200) throw new Error(`A webhook post got status ${status}.`);
      if (await answered) took.push(performance.now() - began);
      else lost++;
      waiting.delete(from);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: chats }, (_, n) => person(n)));
  took.sort((a, b) => a - b);
  const [p50 = 0, p99 = 0] = [took[took.length >> 1], took[Math.floor(took.length * 0.99)]];
  return { answered: took.length, lost, seconds: (performance.now() - began) / 1000, p50, p99 };
}

function arrival(account: string, from: string, id: string) {
  const metadata = { display_phone_number: phoneOf(account), phone_number_id: phoneOf(account) };
  const timestamp = String(Math.floor(Date.now() / 1000));
  const messages = [{ from, id, timestamp, type: "text", text: { body: "Hello there" } }];
  const contacts = [{ profile: { name: "Ada" }, wa_id: from }];
  const value = { messaging_product: "whatsapp", metadata, contacts, messages };
  return { object: "whatsapp_business_account", entry: [{ id: account, changes: [{ field: "messages", value }] }] };
}

/** Answers the adapter's Graph API calls. A token is `bench-<account>`. */
async function graph(request: Request, path: string, query: URLSearchParams): Promise<unknown> {
  if (path === "debug_token") {
    const account = (query.get("input_token") ?? "").replace("bench-", "");
    const granular_scopes = MANAGES.map((scope) => ({ scope, target_ids: [account] }));
    return { data: { app_id: "1", is_valid: true, type: "SYSTEM_USER", scopes: MANAGES, granular_scopes } };
  }
  const [id = "", verb = ""] = path.split("/");
  if (verb === "phone_numbers") return { data: [{ id: phoneOf(id), display_phone_number: phoneOf(id) }] };
  if (verb === "subscribed_apps") {
    const { override_callback_uri: uri } = (await request.json()) as { override_callback_uri: string };
    const { pathname } = new URL(uri);
    businesses.set(id, { token: `bench-${id}`, callback: pathname });
    return { success: true };
  }
  const { to = "", status } = (await request.json()) as { to?: string; status?: string };
  if (status !== undefined) return { success: true };
  waiting.get(to)?.();
  return { messaging_product: "whatsapp", contacts: [{ input: to, wa_id: to }], messages: [{ id: `wamid.out.${to}` }] };
}

function serve() {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/_control/converse") return Response.json(await converse((await request.json()) as Run));
      return Response.json(await graph(request, pathname.replace(/^\/v[\d.]+\//, ""), searchParams));
    },
  });
}

if (import.meta.main) process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${serve().port}` })}\n`);

export {};
