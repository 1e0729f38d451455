// A TCP proxy whose connections can fall silent, as when the network between two machines fails: nothing is lost or closed, it is late,
// unless the connections are ended.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Gate {
  readonly port: number;
  /** Holds what is sent until `open`: in both directions, or what the server answers alone. */
  hold(what: "all" | "answers"): void;
  open(): void;
  /** Ends all connections; what was held is lost. */
  reset(): void;
  close(): void;
}

export async function openGate(target: number): Promise<Gate> {
  let held: "all" | "answers" | undefined;
  const pairs = new Set<{ client: Socket; server: Socket }>();

  /** Passes on what comes while the direction is open. */
  function join(from: Socket, to: Socket, isHeld: () => boolean): void {
    from.on("data", (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    to.on("drain", () => {
      if (!isHeld()) from.resume();
    });
    from.on("end", () => to.end());
    from.on("close", () => to.destroy());
    from.on("error", () => to.destroy());
  }

  function reset(): void {
    for (const { client, server } of pairs) {
      client.destroy();
      server.destroy();
    }
  }

  const isSilent = () => held === "all";
  const isAnswerless = () => held !== undefined;
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect({ port: target, host: "127.0.0.1", allowHalfOpen: true });
    const pair = { client, server };
    pairs.add(pair);
    client.once("close", () => pairs.delete(pair));
    join(client, server, isSilent);
    join(server, client, isAnswerless);
    if (isSilent()) client.pause();
    if (isAnswerless()) server.pause();
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));

  return {
    port: (listener.address() as AddressInfo).port,
    hold(what) {
      held = what;
      for (const { client, server } of pairs) {
        if (isSilent()) client.pause();
        server.pause();
      }
    },
    open() {
      held = undefined;
      for (const { client, server } of pairs) {
        client.resume();
        server.resume();
      }
    },
    reset,
    close() {
      reset();
      listener.close();
    },
  };
}
