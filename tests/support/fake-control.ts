// Drives a fake platform that runs in its own process: control verbs over HTTP, and the client that calls them.

import { bun, type Child, launch } from "./process.ts";

/** Each verb takes the list of arguments that the client passed. */
export type ControlVerbs = Record<string, (args: never) => unknown>;

/** Answers `/_control/<verb>`: the arguments are a JSON list in the body, the result is JSON. */
export async function serveControl(verbs: ControlVerbs, request: Request, verb: string): Promise<Response> {
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!run) return Response.json({ error: `No control verb ${verb}.` }, { status: 404 });
  try {
    const args = await request.text();
    return Response.json((run(JSON.parse(args || "[]") as never) as unknown) ?? null);
  } catch (error) {
    return Response.json({ error: String(error) }, { status: 400 });
  }
}

/** Calls verbs of the fake at this address; throws with the fake's answer when one fails. */
export function createControlCaller(url: string) {
  return async function call<T>(verb: string, ...args: unknown[]): Promise<T> {
    const body = JSON.stringify(args);
    const response = await fetch(`${new URL(url).origin}/_control/${verb}`, { method: "POST", body });
    if (!response.ok) throw new Error(`${verb}: ${await response.text()}`);
    return (await response.json()) as T;
  };
}

/** A fake as a child process. */
export interface SpawnedFake extends AsyncDisposable {
  readonly child: Child;
  stop(): Promise<void>;
}

/** Starts a fake's file with these arguments; it ends with this process at the latest. */
export async function spawnFake<Control>(
  file: string,
  args: readonly string[],
  createControl: (url: string) => Control,
): Promise<Control & SpawnedFake> {
  const child = launch({ command: [bun, `${import.meta.dir}/${file}`, ...args], env: {}, dir: import.meta.dir });
  const { url } = JSON.parse(await child.ready()) as { url: string };
  const stop = async () => {
    child.signal("SIGKILL");
    await child.exited;
  };
  return { ...createControl(url), child, stop, [Symbol.asyncDispose]: stop };
}
