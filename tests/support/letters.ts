// The mails that wait in a house, opened: nobody sends them there.
import type { Letter } from "../../src/mail.ts";
import type { House } from "./house.ts";

/** The oldest first. */
export async function lettersTo({ kernel }: House, email: string): Promise<Letter[]> {
  const { rows } = await kernel.database.read("SELECT payload FROM jobs WHERE kind = 'mail' ORDER BY id");
  return rows
    .map(({ payload }): { id: string; letter: string } => JSON.parse(String(payload)))
    .map(({ id, letter }): Letter => JSON.parse(kernel.vault.open(letter, `mail:${id}`)))
    .filter(({ to }) => to === email);
}
