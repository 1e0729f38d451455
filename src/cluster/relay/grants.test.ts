// Tests how long a grant is valid, between machines whose clocks differ.
import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { createVault } from "../../kernel/security/vault.ts";
import { HOUR, SECOND } from "../../kernel/util/time.ts";
import { createRelayGrants, isOfBody } from "./grants.ts";

const [SIGNER, RECEIVER] = ["http://10.0.0.5:3001", "http://10.0.0.6:3001"];
const LINE = "GET /api/agents";
const grant = { surface: "web", cell: 3, clientAddress: "192.0.2.7" } as const;
const vault = createVault({ key: "the key of the cluster" });
const noon = Date.UTC(2026, 10, 27, 12);

beforeEach(() => void setSystemTime(noon));
afterEach(() => void setSystemTime());

const signer = createRelayGrants(vault, { self: SIGNER, clockOf: () => undefined });
/** @param clock of the signer, as the receiver knows it */
const verify = (header: string, clock: number | undefined, line = LINE, node = RECEIVER) =>
  createRelayGrants(vault, { self: RECEIVER, clockOf: (of) => (of === SIGNER ? clock : undefined) }).verify(
    header,
    node,
    line,
  );

describe.each([0, HOUR, -HOUR, 24 * HOUR])("with a receiver whose clock differs by %d ms", (difference) => {
  test("a grant is valid for about half a minute of the signer's clock", () => {
    const header = signer.sign(grant, RECEIVER, LINE);
    setSystemTime(noon + difference);
    expect(verify(header, noon)).toEqual(grant);
    expect(verify(header, noon + 29 * SECOND)).toEqual(grant);
    expect(verify(header, noon + 31 * SECOND)).toBe("again");
    // What the receiver knows of the signer's clock is as old as the way of its renewals is long.
    expect(verify(header, noon - 3 * SECOND)).toEqual(grant);
  });
});

test("a grant from before or after a step of the signer's clock is asked for again, and so is one of an unknown clock", () => {
  const header = signer.sign(grant, RECEIVER, LINE);
  expect(verify(header, noon - HOUR)).toBe("again");
  expect(verify(header, noon + HOUR)).toBe("again");
  expect(verify(header, undefined)).toBe("again");
});

test("a grant for another node or request, or under another key, is refused whatever the clocks say", () => {
  const header = signer.sign(grant, RECEIVER, LINE);
  expect(verify(header, noon, "GET /api/admin")).toBeUndefined();
  expect(verify(header, undefined, LINE, SIGNER)).toBeUndefined();
  expect(verify(`${header}x`, undefined)).toBeUndefined();
  const forged = createRelayGrants(createVault({ key: "the key of another cluster" })).sign(grant, RECEIVER, LINE);
  expect(verify(forged, noon)).toBeUndefined();
});

test("while a new key is rolled out, machines that have both take each other's grants", () => {
  const next = createVault({ key: "the next key of the cluster" });
  const [clocks, line] = [{ self: RECEIVER, clockOf: () => Date.now() }, LINE];
  const fromNew = createRelayGrants(next, { self: SIGNER, clockOf: () => undefined }).sign(grant, RECEIVER, line);
  const fromOld = signer.sign(grant, RECEIVER, line);
  for (const receiver of [createRelayGrants(vault, clocks, next), createRelayGrants(next, clocks, vault)]) {
    expect(receiver.verify(fromNew, RECEIVER, line)).toEqual(grant);
    expect(receiver.verify(fromOld, RECEIVER, line)).toEqual(grant);
    expect(receiver.verify(`${fromOld}x`, RECEIVER, line)).toBeUndefined();
  }
  expect(createRelayGrants(next, clocks).verify(fromOld, RECEIVER, line)).toBeUndefined();
});

describe("a grant of a call", () => {
  const call = { surface: "call", cell: 3, clientAddress: "" } as const;
  const POST = "POST /cluster/call";
  const receiver = () => createRelayGrants(vault, { self: RECEIVER, clockOf: () => Date.now() });

  test("is for its body alone", () => {
    const header = signer.sign(call, RECEIVER, POST, { body: '{"name":"find"}' });
    const found = receiver().verify(header, RECEIVER, POST);
    if (found === undefined || found === "again") throw new Error("It was refused.");
    expect(isOfBody(found, '{"name":"find"}')).toBe(true);
    expect(isOfBody(found, '{"name":"command"}')).toBe(false);
    expect(isOfBody(found, "")).toBe(false);
  });

  test("is taken once, and two of one moment are two", () => {
    const [first, second] = [1, 2].map(() => signer.sign(call, RECEIVER, POST, { body: "{}" })) as [string, string];
    const grants = receiver();
    expect(grants.verify(first, RECEIVER, POST)).toMatchObject(call);
    expect(grants.verify(first, RECEIVER, POST)).toBeUndefined();
    expect(grants.verify(second, RECEIVER, POST)).toMatchObject(call);
  });

  test("is asked for again before it counts as taken", () => {
    const header = signer.sign(call, RECEIVER, POST, { body: "{}" });
    let clock: number | undefined;
    const grants = createRelayGrants(vault, { self: RECEIVER, clockOf: () => clock });
    expect(grants.verify(header, RECEIVER, POST)).toBe("again");
    clock = noon;
    expect(grants.verify(header, RECEIVER, POST)).toMatchObject(call);
  });

  test("of the version before is valid: it names no body", () => {
    const found = receiver().verify(formerHeader({ ...call, request: POST }), RECEIVER, POST);
    expect(found).toMatchObject(call);
    expect(found !== undefined && found !== "again" && isOfBody(found, "anything")).toBe(true);
  });
});

describe("what a cell sends along with a request", () => {
  const receiver = createRelayGrants(vault, { self: RECEIVER, clockOf: () => Date.now() });

  test("is covered by the grant: it can't be added, changed or taken away", () => {
    const [without, withOne] = [
      signer.sign(grant, RECEIVER, LINE),
      signer.sign(grant, RECEIVER, LINE, { forwarding: "an-admin" }),
    ];
    expect(receiver.verify(without, RECEIVER, LINE)).toMatchObject(grant);
    expect(receiver.verify(without, RECEIVER, LINE, "an-admin")).toBeUndefined();
    expect(receiver.verify(withOne, RECEIVER, LINE, "an-admin")).toMatchObject(grant);
    expect(receiver.verify(withOne, RECEIVER, LINE, "another")).toBeUndefined();
    expect(receiver.verify(withOne, RECEIVER, LINE)).toBeUndefined();
  });

  test("is taken from a machine with the version before, whose grants do not name it", () => {
    expect(receiver.verify(formerHeader({ ...grant, request: LINE }), RECEIVER, LINE, "sent")).toMatchObject(grant);
  });
});

/** A grant as an earlier version signs it. */
function formerHeader(claims: object): string {
  const all = { ...claims, from: SIGNER, node: RECEIVER, expires: Date.now() + 30 * SECOND };
  const payload = Buffer.from(JSON.stringify(all)).toString("base64url");
  return `${payload}.${vault.sign("cluster-relay", payload)}`;
}

test("processes of one machine have one clock", () => {
  const header = signer.sign(grant, "http://127.0.0.1:4000", LINE);
  const member = createRelayGrants(vault);
  expect(member.verify(header, "http://127.0.0.1:4000", LINE)).toEqual(grant);
  setSystemTime(noon + 31 * SECOND);
  expect(member.verify(header, "http://127.0.0.1:4000", LINE)).toBe("again");
});
