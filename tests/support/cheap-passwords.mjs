// Spares tests the cost of password hashes, which is 50 ms of processor time by design: they sign people up by the thousand.
// Tests of that cost don't load it: plugins/auth/password/passwords.test.ts, and tests/ timing and login-storm.

const real = Bun.password.hash;
Bun.password.hash = (password) => real(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
