// Tells which part of a turn's text a client has not got. A turn that begins anew repeats what its journal has, then may go on otherwise.

/** What a client gets next. `isOther`: what it has of the open text is void, and `text` takes its place. */
export interface NewText {
  text: string;
  isOther: boolean;
}

export interface ShownText {
  /** Characters that the turn has said, in this try. */
  said(): number;
  /** Characters before the open text. */
  before(): number;
  add(text: string): NewText;
  /** The open text is over. What is left of it after a beginning anew, though the turn has not repeated it, is void. */
  close(): NewText;
  /** The turn begins anew. */
  repeat(): void;
}

/** @param characters those that the client has already */
export function createShownText(characters: number): ShownText {
  let said = 0;
  /** Characters of the texts that are over. */
  let over = characters;
  /** The open text as the client has it, with the line breaks before it. */
  let open = "";

  /** How much of the open text this try has said. */
  const repeated = () => Math.min(open.length, Math.max(0, said - over));
  function replaceOpen(text: string): NewText {
    open = text;
    return { text, isOther: true };
  }

  return {
    said: () => said,
    before: () => over,
    add(given) {
      const known = repeated();
      const text = given.slice(Math.max(0, over - said));
      said += given.length;
      const rest = open.slice(known);
      if (!text.startsWith(rest.slice(0, text.length))) return replaceOpen(open.slice(0, known) + text);
      const added = text.slice(rest.length);
      open += added;
      return { text: added, isOther: false };
    },
    close() {
      const known = repeated();
      const result = known < open.length ? replaceOpen(open.slice(0, known)) : { text: "", isOther: false };
      over += open.length;
      open = "";
      return result;
    },
    repeat() {
      said = 0;
    },
  };
}
