// Tests that a request finds its cell by what it carries.
import { describe, expect, test } from "bun:test";
import { createMarks } from "../../kernel/cells/create-marks.ts";
import { randomToken } from "../../kernel/util/tokens.ts";
import { cellOfRequest } from "./addressee.ts";

const two = createMarks(2);
const three = createMarks(3);
const key = two.token(`bk_${randomToken()}`);
const cookie = `theme=dark; berth_session=${two.token("aaa.bbb.ccc")}; x=1`;

const cellOf = (path: string, headers: Record<string, string> = {}, origin = "http://localhost:3000") =>
  cellOfRequest({ url: origin + path, headers: new Headers(headers) }, "agents.example:3000");

describe("the cell of a request", () => {
  test("is that of its credential: a key, a session", () => {
    expect(cellOf("/api/agents", { authorization: `Bearer ${key}` })).toBe(2);
    expect(cellOf("/v1/messages", { "x-api-key": key })).toBe(2);
    expect(cellOf("/api/agents", { cookie })).toBe(2);
    expect(cellOf("/api/agents", { cookie: cookie.replace("berth_session", "__Host-berth_session") })).toBe(2);
  });

  test("below /api/ does not depend on whose resource the path names", () => {
    expect(cellOf(`/api/agents/${three.newId()}`, { authorization: `Bearer ${key}` })).toBe(2);
    expect(cellOf(`/api/agents/${three.newId()}`, { authorization: `Bearer bk_${randomToken()}` })).toBe(0);
  });

  test("without a credential is that of the path: an id, a callback, a subdomain", () => {
    const callback = three.token(randomToken(24));
    expect(cellOf(`/live/${three.newId()}/index.m3u8`)).toBe(3);
    expect(cellOf(`/hooks/channel_a/${callback}`)).toBe(3);
    expect(cellOf(`/hooks/channel_a/${callback}${randomToken(24)}`)).toBe(3);
    expect(cellOf(`/a/${three.label("bot-abc234")}/messages`)).toBe(3);
  });

  test("outside /api/ is that of the path also for people who are signed in elsewhere", () => {
    expect(cellOf(`/a/${three.label("bot-abc234")}`, { cookie })).toBe(3);
    expect(cellOf("/a/bot-abc234", { cookie })).toBe(0);
    expect(cellOf(`/agent/${three.newId()}`, { cookie })).toBe(3);
  });

  test("is that of an agent's own host", () => {
    expect(cellOf("/", { cookie }, `http://${three.label("bot-abc234")}.agents.example:3000`)).toBe(3);
    expect(cellOf("/", {}, "http://bot-abc234.agents.example:3000")).toBe(0);
  });

  test("is the first one's where nothing has a mark", () => {
    const old = Bun.randomUUIDv7();
    const paths = [
      "/",
      "/docs/getting-started",
      `/api/agents/${old}`,
      `/hooks/channel_a/${randomToken(24)}`,
      "/a/bot-abc234",
    ];
    for (const path of paths) expect(cellOf(path)).toBe(0);
    expect(cellOf("/api/agents", { authorization: `Bearer bk_${randomToken()}` })).toBe(0);
  });

  test("of metrics is the one that is asked for", () => {
    expect(cellOf("/metrics?cell=2")).toBe(2);
    expect(cellOf("/metrics")).toBe(0);
  });
});
