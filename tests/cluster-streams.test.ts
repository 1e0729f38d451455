// Live video sent to a machine of a cluster that does not own the cell comes to the one that does.
import { expect, test } from "bun:test";
import { startBerth } from "./support/berth.ts";
import { CLUSTER_KEY } from "./support/cluster.ts";
import { eventually } from "./support/eventually.ts";
import { publish } from "./support/ffmpeg.ts";
import { member } from "./support/members.ts";
import { freePorts, startNats } from "./support/nats.ts";
import { createStream } from "./support/streams.ts";

test("a stream that is published at either machine is live at both, also after the owner has changed", async () => {
  await using nats = await startNats(1);
  const [port = 0, backend = 0, rtmp = 0] = await freePorts(3);
  // Machines have the same ports and addresses of their own.
  const start = (host: string) =>
    startBerth({
      isEmpty: true,
      env: {
        HOST: host,
        PORT: String(port),
        BACKEND_HOST: host,
        BACKEND_PORT: String(backend),
        RTMP_PORT: String(rtmp),
        BASE_URL: `http://localhost:${port}`,
        SECRET_KEY: CLUSTER_KEY,
        CLUSTER_URL: nats.url,
        NODE_ADDRESS: `http://${host}:${backend}`,
        RATE_LIMITS: "off",
      },
    });
  await using first = await start("127.0.0.2");
  await using second = await start("127.0.0.3");
  const ada = await member(first, "enterprise");
  const { stream, waitForState } = await createStream(first, ada);
  const publishTo = (host: string) => publish(stream.rtmp.replace(/localhost:\d+/, `${host}:${rtmp}`), { seconds: 20 });

  const camera = publishTo("127.0.0.3");
  await waitForState("active");
  const lists = [first, second].map(({ web }) => `${web}/live/${stream.liveStreamId}/index.m3u8`);
  const [newest = ""] = await Promise.all(lists.map(segmentOf));
  // As bytes: a player may be at either machine.
  const [one, other] = await Promise.all(lists.map((url) => bytesOf(new URL(newest, url))));
  expect(one?.length).toBeGreaterThan(1_000);
  expect(other?.equals(one as Buffer)).toBe(true);
  camera.signal("SIGKILL");
  await waitForState("idle");

  await first.stop();
  const moved = await member(second, "enterprise");
  const again = await createStream(second, moved);
  await first.restart({ keepPorts: true });
  const late = publish(again.stream.rtmp.replace(/localhost:\d+/, `127.0.0.2:${rtmp}`), { seconds: 20 });
  await again.waitForState("active");
  late.signal("SIGKILL");
});

/** The name of the newest segment of a playlist, once it has one. */
const segmentOf = (url: string) =>
  eventually(async () => {
    const answer = await fetch(url);
    return answer.status === 200 ? (await answer.text()).match(/^[^#\s].*$/gm)?.at(-1) : undefined;
  });

async function bytesOf(url: URL): Promise<Buffer> {
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}
