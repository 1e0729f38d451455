// Spares tests the cost of password hashes, which is 50 ms of processor time by design: they sign people up by the thousand.
// Tests of that cost don't load it, or take `realPasswords`: plugins/auth/password/passwords.test.ts, and tests/ timing and
// login-storm.

const real = Bun.password.hash;
const cheap = (password) => real(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
Bun.password.hash = cheap;

/** Password hashes cost what they cost users until this is disposed: the files of a run share one process. */
export function realPasswords() {
  Bun.password.hash = real;
  return {
    [Symbol.dispose]() {
      Bun.password.hash = cheap;
    },
  };
}
