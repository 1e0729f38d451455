// Tests gateway tokens: one for each agent, stored as a hash and a sealed text that opens only in its row.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { temporaryDir } from "../../tests/support/process.ts";
import { insertAgent } from "../../tests/support/records.ts";
import { rejectionOf } from "../../tests/support/rejection.ts";
import { openServer } from "../../tests/support/server.ts";
import { type InteractionFixture, openInteractionFixture } from "../interaction/support.test.ts";
import { createGatewayTokens, type GatewayTokens } from "./gateway-tokens.ts";

let fixture: InteractionFixture;
let tokens: GatewayTokens;
let agentId: string;
let other: string;

beforeAll(async () => {
  fixture = await openInteractionFixture();
  tokens = createGatewayTokens(fixture.kernel);
  const ada = await fixture.member();
  [agentId, other] = [await fixture.provision(ada), await fixture.provision(ada)];
});
afterAll(() => fixture[Symbol.asyncDispose]());

const rows = (id: string) => fixture.rows("SELECT hash, sealed FROM gateway_tokens WHERE agent_id = ?", id);

describe("a token", () => {
  test("is created once, also by concurrent calls", async () => {
    expect(await rows(agentId)).toEqual([]);
    const results = await Promise.all(Array.from({ length: 20 }, () => tokens.getOrCreate(agentId)));
    expect(new Set(results).size).toBe(1);
    expect(results[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(await tokens.getOrCreate(other)).not.toBe(results[0]);
  });

  test("finds its agent; no other text does", async () => {
    const token = await tokens.getOrCreate(agentId);
    const hash = new Bun.CryptoHasher("sha256").update(token).digest("hex");
    expect(await tokens.find(token)).toEqual({ agentId, hash });
    for (const text of ["", "x", token.slice(1), `${token}0`, token.toUpperCase(), hash, "0".repeat(64), " ", "%"]) {
      expect(await tokens.find(text)).toBeUndefined();
    }
    expect(await tokens.currentHashes([agentId, crypto.randomUUID()])).toEqual(new Set([hash]));
  });

  test("of an agent that is deleted meanwhile is not created", async () => {
    const { database } = fixture.kernel;
    // The deletion is between the two statements of the call.
    const write: typeof database.write = async () => [];
    const racing = createGatewayTokens({ ...fixture.kernel, database: { ...database, write } });
    expect(await rejectionOf(racing.getOrCreate(crypto.randomUUID()))).toMatchObject({
      status: 404,
      code: "AGENT_NOT_FOUND",
    });
  });

  test("is not in the database in clear, and its sealed text opens only in its row", async () => {
    const token = await tokens.getOrCreate(agentId);
    const [row] = await rows(agentId);
    expect(JSON.stringify(row)).not.toContain(token);
    const [theirs] = await rows(other);
    const put = (sealed: unknown) => ({
      sql: "UPDATE gateway_tokens SET sealed = ? WHERE agent_id = ?",
      args: [String(sealed), agentId],
    });
    await fixture.kernel.database.write([put(theirs?.sealed)]);
    await expect(tokens.getOrCreate(agentId)).rejects.toThrow("belongs to another place");
    await fixture.kernel.database.write([put(row?.sealed)]);
    expect(await tokens.getOrCreate(agentId)).toBe(token);
  });

  test("finds nothing after its replacement, and the listener is called", async () => {
    const rotated: string[] = [];
    tokens.onRotated((id) => rotated.push(id));
    const before = await tokens.getOrCreate(agentId);
    const untouched = await tokens.getOrCreate(other);
    const after = await tokens.rotate(agentId);
    expect(after).not.toBe(before);
    expect(await tokens.find(before)).toBeUndefined();
    expect(await tokens.find(after)).toMatchObject({ agentId });
    expect(await tokens.getOrCreate(agentId)).toBe(after);
    expect(await tokens.getOrCreate(other)).toBe(untouched);
    expect(rotated).toEqual([agentId]);
  });

  test("is deleted with its agent", async () => {
    const token = await tokens.getOrCreate(other);
    await fixture.agents.remove(other);
    expect(await rows(other)).toEqual([]);
    expect(await tokens.find(token)).toBeUndefined();
    await expect(tokens.getOrCreate(other)).rejects.toThrow();
  });
});

test("after a change of the root key a token is still shown, and is resealed under the new key", async () => {
  const dir = temporaryDir();
  const [old, key] = ["the-old-root-key-0123456789abcdefghij", "the-new-root-key-0123456789abcdefghij"];
  const id = Bun.randomUUIDv7();
  let token: string;
  {
    await using server = await openServer({ dir: dir.path, env: { SECRET_KEY: old } });
    await insertAgent(server.kernel.database, { id, status: "running" });
    token = await createGatewayTokens(server.kernel).getOrCreate(id);
  }
  {
    await using server = await openServer({ dir: dir.path, env: { SECRET_KEY: key, SECRET_KEY_PREVIOUS: old } });
    expect(await createGatewayTokens(server.kernel).getOrCreate(id)).toBe(token);
  }
  await using server = await openServer({ dir: dir.path, env: { SECRET_KEY: key } });
  expect(await createGatewayTokens(server.kernel).getOrCreate(id)).toBe(token);
  dir.remove();
});
