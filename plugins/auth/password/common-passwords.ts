// Recognizes the 1,000 most common passwords. The list is a text of its own, which is loaded at the first password.
let common: Promise<ReadonlySet<string>> | undefined;

async function load(): Promise<ReadonlySet<string>> {
  const { default: text } = await import("./common-passwords.txt", { with: { type: "text" } });
  return new Set(text.trim().split("\n"));
}

/** Whether the password is one of the 1,000 most common ones, in upper or lower case. */
export async function isCommonPassword(password: string): Promise<boolean> {
  common ??= load();
  return (await common).has(password.normalize("NFC").toLowerCase());
}
