// Writes the 1,000 most common passwords from the dictionary of zxcvbn: node scripts/with-bun.mjs scripts/refresh-passwords.mjs
import { writeFileSync } from "node:fs";
import { dictionary } from "@zxcvbn-ts/language-common";

const file = new URL("../plugins/auth/password/common-passwords.txt", import.meta.url);
writeFileSync(file, `${dictionary["passwords-common"].slice(0, 1000).join("\n")}\n`);
