// Gives options their negative numbers.
import { OPTIONS } from "../options.ts";

/** `--days -3` becomes `--days=-3`, which the parser takes for what it is. */
export function joinNegative(args: readonly string[]): string[] {
  const takesText = (arg: string) =>
    arg.startsWith("--") && OPTIONS[arg.slice(2) as keyof typeof OPTIONS]?.type === "string";
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  return args.flatMap((arg, at) => {
    const [before = "", after = ""] = [args[at - 1], args[at + 1]];
    if (at < end && takesText(arg) && /^-\d/.test(after)) return [`${arg}=${after}`];
    return at < end && /^-\d/.test(arg) && takesText(before) ? [] : [arg];
  });
}
