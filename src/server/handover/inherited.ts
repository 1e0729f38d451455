// What a process that executes itself again passes on to the next program, in an environment variable: the descriptors of its
// listeners and of their idle connections.
import { closeSync } from "node:fs";
import { environment } from "../../kernel/config/config.ts";

export type ListenerName = "PORT" | "BACKEND_PORT";

export interface InheritedListener {
  name: ListenerName;
  host: string;
  port: number;
  listening: number;
  connections: readonly number[];
}

export interface Inherited {
  listeners: readonly InheritedListener[];
  /** Epoch ms since when connections wait. */
  since: number;
  /** Epoch ms at which the program before had ended everything. */
  ended: number;
  /** The process was started by a hand-over of this version. */
  from: string;
}

export const INHERITED_VARIABLE = "BERTH_INHERITED_SOCKETS";

export interface InheritedSockets extends Inherited {
  /** The listener that has these settings. Without one, the port is bound. */
  find(name: ListenerName, address: { readonly host: string; readonly port: number }): InheritedListener | undefined;
}

/** Takes the variable out of the environment, so that no child sees it. */
export function takeInherited(): InheritedSockets | undefined {
  const env = environment();
  const text = env[INHERITED_VARIABLE];
  if (text === undefined || text === "") return undefined;
  Reflect.deleteProperty(env, INHERITED_VARIABLE);
  const inherited = JSON.parse(text) as Inherited;
  return {
    ...inherited,
    find(name, { host, port }) {
      const found = inherited.listeners.find((one) => one.name === name);
      if (!found) return undefined;
      if (found.host === host && (port === 0 || port === found.port)) return found;
      // The settings have changed: what they have no use for is closed.
      for (const descriptor of [found.listening, ...found.connections]) closeSync(descriptor);
      return undefined;
    },
  };
}
