// Posts the webhooks of one business account of the WhatsApp fake: signed, in order within a conversation, retried until accepted.
// https://developers.facebook.com/docs/graph-api/webhooks/getting-started

/** One change of the field `messages`: a user's message, or the status of one that was sent. */
export interface Change {
  value: Record<string, unknown>;
  field: "messages";
}

interface Post {
  lane: string;
  changes: Change[];
  /** Whether it is a user's message and not a status. */
  isMessage: boolean;
}

export interface Callback {
  url: string;
  secret: string;
}

export interface HooksOptions {
  webhookRetryMs: number;
  webhookTimeoutMs: number;
  webhookAddress: (url: string) => string;
  changed: () => void;
}

export type Hooks = ReturnType<typeof createHooks>;

const sign = (secret: string, body: string) =>
  `sha256=${new Bun.CryptoHasher("sha256", secret).update(body).digest("hex")}`;

/** `callback` is called before each attempt, so that a new address gets the posts that the old one did not accept. */
export function createHooks(waba: string, callback: () => Callback | undefined, options: HooksOptions) {
  const lanes = new Map<string, Post[]>();
  const waiting = new Set<Post>();
  const abort = new AbortController();
  const count = { posted: 0, refused: 0 };
  let held: Post[] | undefined;
  let batched: Post | undefined;

  function deliver(post: Post): void {
    if (batched) {
      batched.changes.push(...post.changes);
      return;
    }
    waiting.add(post);
    if (held) held.push(post);
    else enlist(post);
    options.changed();
  }

  function enlist(post: Post): void {
    const lane = lanes.get(post.lane);
    if (lane) lane.push(post);
    else {
      lanes.set(post.lane, [post]);
      void run(post.lane);
    }
  }

  async function run(lane: string): Promise<void> {
    const posts = lanes.get(lane) ?? [];
    for (let post = posts[0]; post && !abort.signal.aborted; post = posts[0]) {
      await untilTaken(post);
      posts.shift();
      waiting.delete(post);
      options.changed();
    }
    lanes.delete(lane);
  }

  async function untilTaken(post: Post): Promise<void> {
    const body = JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: waba, changes: post.changes }] });
    for (let attempt = 0; !abort.signal.aborted; attempt += 1) {
      const to = callback();
      // No app is subscribed.
      if (!to) return;
      if (await once(to, body)) {
        count.posted += 1;
        return;
      }
      if (abort.signal.aborted) return;
      count.refused += 1;
      options.changed();
      await pause(options.webhookRetryMs * 2 ** Math.min(attempt, 6), abort.signal);
    }
  }

  async function once({ url, secret }: Callback, body: string): Promise<boolean> {
    try {
      const response = await fetch(options.webhookAddress(url), {
        method: "POST",
        headers: { "content-type": "application/json", "x-hub-signature-256": sign(secret, body) },
        body,
        redirect: "manual",
        signal: AbortSignal.any([abort.signal, AbortSignal.timeout(options.webhookTimeoutMs)]),
      });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false;
    }
  }

  return {
    count,
    deliver,
    hold(): void {
      held ??= [];
    },
    release(reverse: boolean): void {
      const kept = held ?? [];
      held = undefined;
      if (reverse) void inTurn(kept.toReversed());
      else for (const post of kept) enlist(post);
    },
    batch(fill: () => void): void {
      batched = { lane: "batch", changes: [], isMessage: true };
      const post = batched;
      try {
        fill();
      } finally {
        batched = undefined;
      }
      deliver(post);
    },
    /** Number of users' messages that are not accepted yet. */
    pending: () => [...waiting].filter(({ isMessage }) => isMessage).length,
    stop: () => abort.abort(),
  };

  async function inTurn(posts: Post[]): Promise<void> {
    for (const post of posts) {
      if (abort.signal.aborted) return;
      await untilTaken(post);
      waiting.delete(post);
      options.changed();
    }
  }
}

/** Waits for `ms` or for the signal; never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
