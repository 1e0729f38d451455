// Spares tests inside one process the cost of password hashes, which is 50 ms of processor time by design: they sign
// people up by the thousand. plugins/auth/password/passwords.test.ts does not import this, and tests the real cost.

const real = Bun.password.hash;
Bun.password.hash = (password) => real(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
