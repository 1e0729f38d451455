// Writes the most common passwords from the dictionary of zxcvbn: node scripts/with-bun.mjs scripts/refresh-passwords.mjs
import { writeFileSync } from "node:fs";
import { dictionary } from "@zxcvbn-ts/language-common";

// Only lengths that the rules accept: 8 characters, or 6 at a reset. The dictionary is in lower case, the most common first.
const all = dictionary["passwords-common"];
const long = all.filter((password) => password.length >= 8).slice(0, 5000);
const short = all.filter((password) => password.length === 6 || password.length === 7).slice(0, 1000);

const file = new URL("../plugins/auth/password/common-passwords.txt", import.meta.url);
writeFileSync(file, `${[...long, ...short].join("\n")}\n`);
