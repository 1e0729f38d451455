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
  for (const origin of [first.web, second.web]) {
    const list = await eventually(async () => {
      const answer = await fetch(`${origin}/live/${stream.liveStreamId}/index.m3u8`);
      return answer.status === 200 ? answer.text() : undefined;
    });
    expect(list).toContain("#EXTM3U");
  }
  camera.signal("SIGKILL");
  await waitForState("idle");

  await first.stop();
  const moved = await member(second, "enterprise");
  const again = await createStream(second, moved);
  await first.restart({ keepPorts: true });
  const other = publish(again.stream.rtmp.replace(/localhost:\d+/, `127.0.0.2:${rtmp}`), { seconds: 20 });
  await again.waitForState("active");
  other.signal("SIGKILL");
});
