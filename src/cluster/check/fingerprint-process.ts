// Takes the fingerprint of a copy in a process of its own, so that this one goes on.
import type { Fingerprint } from "./fingerprint.ts";

export interface FingerprintProcess {
  /** Resolves when the contents are fixed: what is written from then on is not seen. Resolves as well when there is no result. */
  pinned: Promise<void>;
  result: Promise<Fingerprint>;
}

/** How this program is started again. */
export interface Program {
  command: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
}

/** Milliseconds after which a process that has not pinned its copy is killed: writes wait for it. */
const PIN_MS = 10_000;

export function startFingerprint({ command, env }: Program, file: string, pinMs = PIN_MS): FingerprintProcess {
  const child = Bun.spawn([...command, "cluster", "fingerprint", file], {
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const pinned = Promise.withResolvers<void>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
    pinned.resolve();
  }, pinMs);
  const pin = () => {
    clearTimeout(timer);
    pinned.resolve();
  };
  async function read(): Promise<Fingerprint> {
    let text = "";
    const decoder = new TextDecoder();
    for await (const part of child.stdout) {
      text += decoder.decode(part, { stream: true });
      if (text.includes("\n")) pin();
    }
    const failure = (await new Response(child.stderr).text()).trim();
    const code = await child.exited;
    if (isLate) throw new Error(`The copy could not be read within ${pinMs / 1_000} s, for which writes wait.`);
    if (code !== 0) throw new Error(failure.split("\n").at(-1) || "The copy could not be read.");
    return JSON.parse(text.slice(text.indexOf("\n")));
  }
  const result = read().finally(pin);
  // Whoever waits for it hears of a failure.
  result.catch(() => undefined);
  return { pinned: pinned.promise, result };
}
