// The form in which a mail's headers are asked for.

/** The headers of a mail, by names in lower case. */
export interface Headers {
  all(name: string): string[];
  first(name: string): string | undefined;
}
