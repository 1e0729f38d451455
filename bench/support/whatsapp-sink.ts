// The least of a WhatsApp that businesses need: it knows their tokens, keeps where to post, and plays people who wait for an answer before they write again.

interface Business {
  token: string;
  /** Where its messages are posted. */
  callback: string;
}

interface Run {
  /** Where to post; the path is each business's own. */
  to: string;
  /** Conversations at a time. */
  chats: number;
  seconds: number;
}

const businesses = new Map<string, Business>();
/** People who wait for an answer, by their number. */
const waiting = new Map<string, () => void>();
const MANAGES = ["whatsapp_business_management", "whatsapp_business_messaging"];
const PATIENCE_MS = 10_000;

/** The number of a business is its account's with a zero behind it. */
const phoneOf = (account: string) => `${account}0`;

/** Everybody writes, waits for the answer, and writes again; answers how many answers came and how long each took (ms). */
async function converse({ to, chats, seconds }: Run) {
  const all = [...businesses];
  const took: number[] = [];
  const until = performance.now() + seconds * 1000;
  let lost = 0;
  const person = async (n: number) => {
    for (let said = 0; performance.now() < until; said++) {
      const [account, { callback }] = all[(n + said * chats) % all.length] ?? ["", { callback: "/" }];
      // As many people as there are pairs of a conversation and a business, so that none grows long.
      const from = `4915${String(n).padStart(4, "0")}${String(said % 500).padStart(4, "0")}`;
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
        body: JSON.stringify(arrival(account, from, `wamid.${n}.${said}.${began}`)),
      });
      if (status !== 200) throw new Error(`A post was answered ${status}.`);
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

/** The calls of the Graph API that an adapter makes. A token is `bench-<account>`. */
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
