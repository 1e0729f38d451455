// Tests the RTMP port against guessed keys and a flood of handshakes, over real connections.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { silent } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { connectRaw } from "../../../tests/support/publisher.ts";
import { type Ingest, listen } from "./ingest.ts";

let ingest: Ingest;
let triedKeys: string[];
beforeEach(() => {
  triedKeys = [];
  const broadcasts = {
    publisherEventsFor: () => ({
      async admit(key: string) {
        triedKeys.push(key);
        return { refusal: "This stream key is not known." };
      },
      onSegment: () => Promise.resolve(),
      onEnded: () => undefined,
      onRefused: () => undefined,
    }),
  };
  ingest = listen({ host: "127.0.0.1", port: 0, broadcasts, log: silent });
});
afterEach(() => ingest.close());

test("an address may guess thirty keys a minute, and learns nothing from further tries", async () => {
  let told = 0;
  for (let n = 0; n < 40; n++) {
    await using publisher = await connectRaw(ingest.port);
    await publisher.requestPublish(`guess ${n}`);
    if (publisher.received().includes("NetStream.Publish.BadName")) told++;
    else expect(publisher.received()).toBe("");
    await publisher.closed;
  }
  expect(told).toBe(30);
  expect(triedKeys).toEqual(Array.from({ length: 30 }, (_, n) => `guess ${n}`));
});

test("a flood of handshakes keeps at most 16 connections of an address, and 128 in total", async () => {
  const sockets: Socket[] = [];
  const open = () => sockets.filter(({ readyState }) => readyState === "open").length;
  const answered = new Set<Socket>();
  const flood = (localAddress: string) => {
    const socket = connect({ host: "127.0.0.1", port: ingest.port, localAddress });
    socket.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.on("data", () => answered.add(socket));
    socket.write(Buffer.concat([Buffer.from([3]), Buffer.alloc(1536)]));
    sockets.push(socket);
  };
  for (let n = 0; n < 20; n++) flood("127.0.0.2");
  await eventually(() => answered.size === 16 && open() === 16);
  for (let address = 3; address < 20; address++) for (let n = 0; n < 20; n++) flood(`127.0.0.${address}`);
  await eventually(() => answered.size === 128 && open() === 128, { timeoutMs: 10_000 });
  for (const socket of sockets) socket.destroy();
  // The places are free again.
  await eventually(async () => {
    await using late = await connectRaw(ingest.port);
    await late.handshake();
    return late.received().length > 3_000;
  });
});
