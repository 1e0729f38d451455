// What the overview and `berth doctor` say of places outside of the service that do not work.
import { expect, test } from "bun:test";
import { isOutageProblem, outageProblems } from "./outage-problems.ts";

const since = Date.parse("2026-11-26T12:00:00.000Z");
const of = (name: string) => outageProblems([{ of: name, since, reason: "connect ECONNREFUSED" }]);

test.each([
  ["audit_export", "error AUDIT_EXPORT_FAILS", "AUDIT_TO has taken no entries"],
  ["stripe", "error STRIPE_FAILS", "Stripe has not answered"],
  ["stablecoin", "error STABLECOIN_FAILS", "Transfers of stablecoin have not been read"],
  ["traces", "warning TRACES_FAIL", "The collector of OTEL_EXPORTER_OTLP_ENDPOINT"],
  ["lighthouse", "error OUTAGE", "lighthouse has not worked"],
])("%s: since when, why, and what to do", (name, code, begin) => {
  const [problem] = of(name);
  expect(`${problem?.severity} ${problem?.code}`).toBe(code);
  expect(problem?.message).toStartWith(begin);
  expect(problem?.message).toEndWith("since 2026-11-26T12:00:00.000Z: connect ECONNREFUSED.");
  expect(problem?.action.length).toBeGreaterThan(20);
  expect(problem && isOutageProblem(problem)).toBe(true);
});

test("other problems are none of these", () => {
  expect(isOutageProblem({ code: "DISK_FULL" })).toBe(false);
  expect(outageProblems([])).toEqual([]);
});
