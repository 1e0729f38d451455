// Tests claims by accounts of other cells: with a kill after each write, with two claimers at once, and when the claimer moves afterwards.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Cells } from "../../src/kernel/cells/cells.ts";
import { createMarks } from "../../src/kernel/cells/create-marks.ts";
import { guard } from "../../src/kernel/database/database.ts";
import { createVault } from "../../src/kernel/security/vault.ts";
import { sha256Hex } from "../../src/kernel/util/tokens.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { OPERATOR, openSimulatedCells, type SimulatedCells } from "../../tests/support/simulated-cells.ts";
import { claimAgent, placeOfClaim } from "./claim.ts";
import { createClaims } from "./claims.ts";
import type { ProvisioningDeps } from "./provisioning.ts";

const COUNT = 3;
/** The cell in which the agent was made. */
const MADE_IN = 1;
const vault = createVault({ key: "the key of the service" });
const HOLDER = createMarks(MADE_IN).newId();
const AGENT = createMarks(MADE_IN).newId();
const TOKEN = createMarks(MADE_IN).token(vault.sign("claim", HOLDER));
/** One in each cell. */
const CLAIMERS = [0, 1, 2].map((cell) => createMarks(cell).newId());
const claimerIn = (cell: number) => CLAIMERS[cell] ?? "";
const times = { created_at: 1, updated_at: 1 };
type Transfer = Parameters<ProvisioningDeps["agents"]["transfer"]>[0];
let cells: SimulatedCells;

/** What provisioning has of a cell; the rows are real, and what reads them. */
function depsOf(here: number): ProvisioningDeps {
  const { database, gate } = cells.at(here);
  const seam: Pick<Cells, "here" | "others" | "movedTo" | "isMoving" | "bring" | "ask"> = {
    here,
    others: [0, 1, 2].filter((cell) => cell !== here),
    async movedTo(keys) {
      const found = await gate.find(keys);
      return found === undefined || found === "moving" ? undefined : found.cell;
    },
    isMoving: async (keys) => (await gate.find(keys)) === "moving",
    bring: async (account) => void (await cells.driver().move(account, here, OPERATOR)),
    ask: async (cell, _, token) => JSON.stringify(await placeOfClaim(depsOf(cell), token)),
  };
  const config = { baseUrl: "https://berth.example" };
  const find = async (id: string) => {
    const [row] = await cells.rowsIn(here, "SELECT id, name, subdomain FROM agents WHERE id = ?", id);
    return row && { id, name: String(row.name), subdomain: String(row.subdomain) };
  };
  const parts = {
    cells: seam,
    claims: createClaims({ database, config, vault } as Parameters<typeof createClaims>[0]),
    users: { byId: async () => ({ disabledAt: null }) },
    placeholderAccounts: {
      deleteStatement: (id: string) => ({
        sql: "DELETE FROM users WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM agents WHERE user_id = ?1)",
        args: [id],
      }),
    },
    channels: { roomStatements: async () => [], toLimitError: async (error: unknown) => error },
    agents: {
      find,
      views: { publicUrl: (subdomain: string) => `https://berth.example/a/${subdomain}` },
      transfer: async ({ agentId, from, to, statementsBefore, statementsAfter }: Transfer) =>
        void (await database.write([
          ...statementsBefore,
          { sql: "UPDATE agents SET user_id = ? WHERE id = ? AND user_id = ?", args: [to.userId, agentId, from] },
          guard("quota"),
          ...statementsAfter,
        ])),
    },
  };
  // What a claim does not use is left out.
  return parts as never;
}

function claim(cell: number): ReturnType<typeof claimAgent> {
  const caller = { userId: claimerIn(cell), isAdmin: false } as Parameters<typeof claimAgent>[1];
  return claimAgent(depsOf(cell), caller, TOKEN, () => []);
}

/** The owner of the only copy of the agent, and its cell. */
async function ownerOfAgent(): Promise<{ owner: string; cell: number }> {
  const found = [];
  for (let cell = 0; cell < COUNT; cell++)
    for (const { user_id } of await cells.rowsIn(cell, "SELECT user_id FROM agents WHERE id = ?", AGENT))
      found.push({ owner: String(user_id), cell });
  expect(found).toHaveLength(1);
  return found[0] ?? { owner: "", cell: -1 };
}

/** Follows a request for the agent from the cell of its mark. */
async function cellOfRequest(): Promise<number> {
  let cell = MADE_IN;
  for (let hop = 0; hop < 2; hop++) {
    const found = await cells.at(cell).gate.find([AGENT]);
    if (found === undefined || found === "moving" || found.cell === cell) return cell;
    cell = found.cell;
  }
  return cell;
}

beforeEach(async () => {
  cells = await openSimulatedCells(COUNT);
  const account = (id: string, code: string) => ({
    ...{ id, email: `${code}@example.com`, name: code, referral_code: code, credits: 0, ...times },
  });
  for (const [cell, id] of CLAIMERS.entries()) await cells.insert(cell, "users", account(id, `claimer${cell}`));
  await cells.insert(MADE_IN, "users", account(HOLDER, "holder"));
  await cells.insert(MADE_IN, "agents", {
    ...{ id: AGENT, user_id: HOLDER, name: "a", model: "model_a", subdomain: "a-bcdefg", ...times },
    ...{ status: "running", wanted: "up", runtime_version: "1" },
  });
  await cells.insert(MADE_IN, "claims", {
    ...{ holder_id: HOLDER, agent_id: AGENT, token_hash: sha256Hex(TOKEN), expires_at: Date.now() + 60_000 },
  });
});
afterEach(() => cells.close());

describe("a claim", () => {
  test.each([0, 1, 2])("by an account of cell %d succeeds once", async (cell) => {
    expect(await claim(cell)).toMatchObject({ success: true, agentId: AGENT });
    expect(await ownerOfAgent()).toEqual({ owner: claimerIn(cell), cell });
    expect(await cellOfRequest()).toBe(cell);
    for (const other of [0, 1, 2]) await expect(claim(other)).rejects.toMatchObject({ code: "CLAIM_NOT_FOUND" });
  });

  test("of two claimers in two cells at once is the one's, and the other is refused as ever", async () => {
    const outcomes = await Promise.allSettled([claim(0), claim(2), claim(1)]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "CLAIM_NOT_FOUND" });
    const { owner, cell } = await ownerOfAgent();
    expect(owner).toBe(claimerIn(cell));
  });

  test("of an unknown token is refused in any cell", async () => {
    const { claims } = depsOf(0);
    expect(await claims.find("x")).toBeUndefined();
    const caller = { userId: claimerIn(0), isAdmin: false } as Parameters<typeof claimAgent>[1];
    for (const token of ["nobodys", `nobodys${TOKEN.slice(-3)}`, "nobodys~__"])
      await expect(claimAgent(depsOf(0), caller, token, () => [])).rejects.toMatchObject({ code: "CLAIM_NOT_FOUND" });
  });

  test("whose holder is on the way is not made where it was: nothing that is written there then would count", async () => {
    await cells.at(MADE_IN).side.hold({ account: HOLDER, to: 2 });
    const { claims } = depsOf(MADE_IN);
    const used = cells.at(MADE_IN).database.write(claims.useStatements(TOKEN, claimerIn(1)));
    await expect(used).rejects.toMatchObject({ guard: "claim" });
    await cells.at(MADE_IN).side.release({ account: HOLDER });
    await cells.at(MADE_IN).side.hold({ account: claimerIn(1), to: 2 });
    const byMoving = cells.at(MADE_IN).database.write(claims.useStatements(TOKEN, claimerIn(1)));
    await expect(byMoving).rejects.toMatchObject({ guard: "claim" });
  });

  test("is lost by no kill, whichever write is the last before it, and never made twice", async () => {
    for (let writes = 0; ; writes++) {
      const { power } = cells;
      power.used = 0;
      power.writesLeft = writes;
      const outcome = await claim(2).catch(() => undefined);
      power.writesLeft = Number.POSITIVE_INFINITY;
      const end = cells.driver().begin();
      await eventually(async () => (await cells.rowsIn(0, "SELECT * FROM account_moves")).length === 0, {
        timeoutMs: 10_000,
      });
      end();
      const { owner, cell } = await ownerOfAgent();
      if (outcome) {
        expect({ owner, cell }).toEqual({ owner: claimerIn(2), cell: 2 });
        break;
      }
      expect(owner).toBe(HOLDER);
      // The next try begins where the first did.
      if (cell !== MADE_IN) await cells.driver().move(HOLDER, MADE_IN, OPERATOR);
      expect(writes).toBeLessThan(60);
    }
  });

  test("shows the same link again after the holder has moved", async () => {
    await cells.driver().move(HOLDER, 2, OPERATOR);
    expect(await depsOf(2).claims.linkOf(AGENT)).toEndWith(TOKEN);
    expect(await claim(0)).toMatchObject({ agentId: AGENT });
  });
});

test("a claimed agent is found by what its first cell gave out, wherever its owner moves, also back there", async () => {
  await claim(2);
  for (const to of [0, MADE_IN, 2, MADE_IN, 0]) {
    await cells.driver().move(claimerIn(2), to, OPERATOR);
    expect(await cellOfRequest()).toBe(to);
    expect(await ownerOfAgent()).toEqual({ owner: claimerIn(2), cell: to });
  }
});

test("a move of its owner to the agent's first cell that is undone changes nothing", async () => {
  await claim(2);
  const consignment = await cells.at(2).side.hold({ account: claimerIn(2), to: MADE_IN });
  await cells.at(MADE_IN).side.fetch(consignment);
  await cells.at(MADE_IN).side.fetch(consignment);
  await cells.at(MADE_IN).side.discard({ account: claimerIn(2) });
  await cells.at(2).side.release({ account: claimerIn(2) });
  expect(await cellOfRequest()).toBe(2);
});
