// Live streams with split roles: published to the backend, watched through the web.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Berth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { probe, publish } from "./support/ffmpeg.ts";
import { member } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { type Sqld, startSqld } from "./support/sqld.ts";
import { createStream, type StreamBody } from "./support/streams.ts";

let sqld: Sqld;
let backend: Berth;
let web: Berth;

beforeAll(async () => {
  sqld = await startSqld();
  const shared = { DATABASE_URL: sqld.url, SECRET_KEY: "streams-test-root-key-0123456789abcdefgh" };
  backend = await startBerth({ env: { ...shared, ROLE: "backend" } });
  web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
});
afterAll(async () => {
  await web?.[Symbol.asyncDispose]();
  await backend?.[Symbol.asyncDispose]();
  await sqld?.stop();
});

test("the web serves segments from the backend, and an error while the backend is down", async () => {
  const ada = await member(web);
  const { agent, stream, base, waitForState } = await createStream(web, ada);
  const path = `/live/${stream.liveStreamId}/index.m3u8`;
  expectRefusal(await createClient(web).get(path), 404, "STREAM_OFF_AIR");

  const camera = publish(stream.rtmp, { seconds: 60 });
  await waitForState("active");
  expect((await probe(`${base}/index.m3u8`, 1)).streams).toHaveLength(2);
  const list = await fetch(`${web.web}${path}`);
  expect(list.headers.get("access-control-allow-origin")).toBe("*");
  expect(list.headers.get("content-type")).toBe("application/vnd.apple.mpegurl");
  expect(list.headers.get("cache-control")).toBe("no-cache");
  const name = (await list.text()).split("\n").find((line) => line.endsWith(".m4s"));
  expect((await fetch(`${base}/${name}`)).headers.get("content-type")).toBe("video/mp4");
  const page = () => fetch(base, { headers: { accept: "text/html" } });
  expect((await page()).headers.get("content-type")).toBe("text/html;charset=utf-8");
  expectRefusal(await createClient(web).get(`/live/${stream.liveStreamId}/..%2F..%2Fberth.db`), 404);
  // Viewers have no access to the backend.
  expectRefusal(await createClient(backend.backend).get(`/api/live/${stream.liveStreamId}/index.m3u8`), 401);

  const { body } = await ada.post<StreamBody>(`/api/agents/${agent.id}/stream/rotate`, {});
  expect(await camera.exited).not.toBe(0);
  const again = publish(body.rtmp, { seconds: 60 });
  await waitForState("active");
  expect((await ada.post(`/api/agents/${agent.id}/stop`, {})).status).toBe(200);
  expect(await again.exited).not.toBe(0);

  await backend.stop();
  expectRefusal(await createClient(web).get(path), 502, "BACKEND_UNAVAILABLE");
  expect((await page()).status).toBe(200);
  await eventually(async () => (await ada.get(`/api/agents/${agent.id}/stream`)).status === 502);
});
