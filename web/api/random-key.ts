// Makes random keys. `crypto.randomUUID` exists on https and localhost only, so a server in a local network has none.

/** 32 hexadecimal digits: for `Idempotency-Key`, and to tell apart what was not sent yet. */
export const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
