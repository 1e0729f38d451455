// Compares the credits of accounts with the changes that made them, with the use that they paid for, and with payments.

import { MICRO_USD_PER_CREDIT } from "../ledger/account-balances.ts";
import { type Comparison, compareSums, comparison, type Read } from "./comparison.ts";
import { creditsByAccount } from "./parts.ts";

export function checkCredits(read: Read): Comparison[] {
  return [
    compareSums(
      read,
      { name: "credits-entries", what: "credits of each account and the changes that made them", unit: "credits" },
      {
        expected: "SELECT user_id AS key, sum(credits) AS value FROM credit_entries WHERE kind <> 'unpaid' GROUP BY 1",
        found: "SELECT id AS key, credits AS value FROM users WHERE credits <> 0",
      },
    ),
    checkChain(read),
    compareSums(
      read,
      { name: "credits-usage", what: "use that credits paid for and the credits that were taken", unit: "micro-USD" },
      {
        expected: `SELECT value ->> 0 AS key, value ->> 1 AS value FROM json_each(?1)
            WHERE value ->> 0 IN (SELECT user_id FROM credit_use)
          UNION ALL SELECT user_id, carried_micro_usd FROM credit_use`,
        found: `SELECT user_id AS key, -credits * ${MICRO_USD_PER_CREDIT} AS value FROM credit_entries
            WHERE kind IN ('usage', 'unpaid') UNION ALL SELECT user_id, micro_usd FROM credit_use`,
        args: [creditsByAccount(read)],
      },
    ),
    compareSums(
      read,
      {
        name: "payments-credits",
        what: "credits that payments bought and that accounts got for them",
        unit: "credits",
      },
      {
        // The changes of an account go with it; its payments stay.
        expected:
          "SELECT id AS key, credits AS value FROM payments WHERE credits <> 0 AND user_id IN (SELECT id FROM users)",
        found: `SELECT reference AS key, credits AS value FROM credit_entries WHERE kind = 'payment'
          UNION ALL SELECT reference, -credits FROM credit_debts`,
      },
    ),
    checkPayers(read),
    compareSums(
      read,
      { name: "debts", what: "credits that accounts owe after refunds, none of which is below 0", unit: "credits" },
      {
        expected: "SELECT user_id AS key, max(0, sum(credits)) AS value FROM credit_debts GROUP BY 1",
        found: "SELECT user_id AS key, credits AS value FROM credit_debts",
      },
    ),
    ...checkStablecoin(read),
  ];
}

/** Transfers of stablecoin, their payments, and what they bought: whole credits and the rest below one. */
function checkStablecoin(read: Read): Comparison[] {
  const ofChains = "id >= 'chain:' AND id < 'chain;'";
  return [
    compareSums(
      read,
      { name: "transfers-payments", what: "credited transfers of stablecoin and their payments", unit: "micro-USD" },
      {
        expected: "SELECT id AS key, micro_usd AS value FROM stablecoin_transfers WHERE state = 'credited'",
        found: `SELECT id AS key, amount AS value FROM payments WHERE ${ofChains}`,
      },
    ),
    compareSums(
      read,
      {
        name: "transfers-credits",
        what: "model use that transfers of stablecoin bought, and the credits and rests for it",
        unit: "micro-USD",
      },
      {
        expected: `SELECT user_id AS key, sum(worth_micro_usd) AS value FROM stablecoin_transfers
          WHERE state = 'credited' AND user_id IN (SELECT id FROM users) GROUP BY 1`,
        found: `SELECT user_id AS key, credits * ${MICRO_USD_PER_CREDIT} AS value FROM payments
          WHERE ${ofChains} AND user_id IN (SELECT id FROM users)
          UNION ALL SELECT user_id, micro_usd FROM credit_rests`,
      },
    ),
  ];
}

/** Each entry of an account begins with the balance that the one before left. */
function checkChain(read: Read): Comparison {
  const chain = `SELECT id, user_id, kind, balance, credits,
    lag(balance, 1, 0) OVER (PARTITION BY user_id ORDER BY id) AS before FROM credit_entries WHERE kind <> 'unpaid'`;
  const [{ compared } = {}] = read("SELECT count(*) AS compared FROM credit_entries WHERE kind <> 'unpaid'");
  const broken = read(`SELECT * FROM (${chain}) WHERE before + credits <> balance ORDER BY id`);
  const differences = broken.map((row) => ({
    where: `${row.user_id} entry ${row.id}`,
    expected: Number(row.before) + Number(row.credits),
    found: Number(row.balance),
    unit: "credits",
  }));
  return comparison(
    "entries-balances",
    "each change of credits and the balance that it left",
    Number(compared),
    differences,
  );
}

/** The account that paid is the one that got the credits. */
function checkPayers(read: Read): Comparison {
  const pairs = "credit_entries e JOIN payments p ON p.id = e.reference WHERE e.kind = 'payment'";
  const [{ compared } = {}] = read(`SELECT count(*) AS compared FROM ${pairs}`);
  const wrong = read(`SELECT p.id, p.credits FROM ${pairs} AND p.user_id <> e.user_id ORDER BY p.id`);
  const differences = wrong.map((row) => ({
    where: `${row.id} to another account`,
    expected: Number(row.credits),
    found: 0,
    unit: "credits",
  }));
  return comparison("payments-accounts", "accounts that paid and that got the credits", Number(compared), differences);
}
