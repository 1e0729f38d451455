// The errors for files that can't be fetched, worded alike on every platform.
import { ChannelError } from "../port.ts";

export const fileGoneError = (platform: string) =>
  new ChannelError("refused", `${platform} does not have this file any more.`, "peer");

export const fileTooLargeError = (maxBytes: number) =>
  new ChannelError("refused", `The file is larger than ${Math.floor(maxBytes / 1_000_000)} MB.`, "peer");
