// Spares tests the cost of password hashes, which is 50 ms of processor time by design: they sign people up by the thousand.
// Tests of that cost don't load it, or take `realPasswords`: plugins/auth/password/passwords.test.ts, and tests/ timing and
// login-storm.

const { hash, verify } = Bun.password;
/** What stands in for the hash of an account without a password costs as much as a real one (plugins/auth/password/passwords.ts). */
const STAND_IN = /\$m=\d+,t=\d+,p=1\$(A{43})\$\1$/;
const cheap = {
  hash: (password) => hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 }),
  verify: (password, hashed) => verify(password, hashed.replace(STAND_IN, "$m=8,t=1,p=1$$$1$$$1")),
};
Object.assign(Bun.password, cheap);

/** Password hashes cost what they cost users until this is disposed: the files of a run share one process. */
export function realPasswords() {
  Object.assign(Bun.password, { hash, verify });
  return {
    [Symbol.dispose]() {
      Object.assign(Bun.password, cheap);
    },
  };
}
