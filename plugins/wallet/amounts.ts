// Converts between decimal texts and whole numbers of the smallest unit, which chains and the ledger use; never floats.

const DECIMAL = /^(\d{1,60})(?:\.(\d{1,60}))?$/;

/** Decimals of USD amounts in the ledger and the policy: they are in millionths. */
export const USD_DECIMALS = 6;

/**
 * The smallest units in a decimal text; undefined if it is not one, or has more decimals than the unit.
 *
 * @example parseDecimalUnits("1.5", 6) // 1500000n
 */
export function parseDecimalUnits(text: string, decimals: number): bigint | undefined {
  const [, whole, fraction = ""] = DECIMAL.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  const digits = fraction.replace(/0+$/, "");
  return digits.length > decimals ? undefined : BigInt(whole + digits.padEnd(decimals, "0"));
}

/** The shortest decimal text of that many smallest units. */
export function formatDecimalUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, "0");
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals);
  return fraction === "" || decimals === 0 ? whole : `${whole}.${fraction}`;
}

/** The value of that many smallest units of a USD token with these decimals, in millionths of a USD, rounded up. */
export function toUsdCeil(units: bigint, decimals: number): bigint {
  const one = 10n ** BigInt(decimals);
  return (units * 10n ** BigInt(USD_DECIMALS) + one - 1n) / one;
}

/** `Math.max` takes no bigints. */
export function maxBigInt(one: bigint, other: bigint): bigint {
  if (one > other) return one;
  return other;
}
