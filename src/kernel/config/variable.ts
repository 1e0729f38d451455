// Declares environment variables: how the text is parsed, the default, and the words that describe it to operators.

import { commaSeparated, type ParseContext, type Parser } from "./parsers.ts";

/** How a value is shown: in full, not at all, or (an address that may carry a password or key) only its scheme and host. */
export type Secrecy = "open" | "secret" | "address";

/** What a computed default may depend on: the text in force of other variables, and the place of the start. */
export interface DefaultContext extends ParseContext {
  text(name: string): string;
}

/** Text, or a rule over other variables together with the words that describe it. */
export type Default = string | { description: string; compute(context: DefaultContext): string };

/** One variable: how it is read, its default, and what it means. */
export interface Variable<T> {
  parser: Parser<NonNullable<T>>;
  defaultValue: Default | undefined;
  secrecy: Secrecy;
  description: string;
  /**
   * The variable that this one repeats for one more of its kind, such as another provider. Pages show both in one row, and
   * reports leave it out while it is not set.
   */
  repeats?: string;
}

export type Variables = Readonly<Record<string, Variable<unknown>>>;

/** Variables that stand together in `berth doctor` and in docs/configuration.md. */
export interface VariableGroup {
  readonly variables: Variables;
}

/** Where a value comes from. */
export type VariableSource = "environment" | ".env file" | "default" | "not set";

/** The parsed value of every variable, by name. */
export type ValuesOf<Declared extends Variables> = {
  [Name in keyof Declared]: Declared[Name] extends Variable<infer T> ? T : never;
};

/** A variable that always has a value. */
export const withDefault = <T>(
  parser: Parser<NonNullable<T>>,
  defaultValue: Default,
  description: string,
  secrecy: Secrecy = "open",
): Variable<T> => ({ parser, defaultValue, secrecy, description });

/** A variable that may stay unset: its value is then undefined. */
export const optional = <T>(
  parser: Parser<NonNullable<T>>,
  description: string,
  secrecy: Secrecy = "open",
): Variable<T | undefined> => ({ parser, defaultValue: undefined, secrecy, description });

/** The same variable for one more of its kind, under another name. */
export const repeated = <T>(variable: Variable<T>, name: string): Variable<T> => ({ ...variable, repeats: name });

/** A comma-separated list; empty when it is not set and has no default. */
export const listOf = <T>(itemParser: Parser<T>, description: string, defaultValue = ""): Variable<T[]> =>
  withDefault(commaSeparated(itemParser), defaultValue, description);

/** The host of an address without its port; `localhost` where the address can't be parsed. */
export const hostNameOf = (url: string) => URL.parse(url)?.hostname ?? "localhost";

/** A default that follows the public address. */
export const baseUrlHost: Default = {
  description: "host of `BASE_URL`",
  compute: ({ text }) => URL.parse(text("BASE_URL"))?.host ?? "localhost",
};
