// Names the files of the continuous copy: segments, and packs of segments one after the other. Names of a cell and a chain sort by age.

/** One step of a copy: what was changed from the end of the one before it until its time. */
export interface LogFile {
  name: string;
  cell: number;
  /** Segments of a chain follow each other without a gap. */
  chain: string;
  /** Of its segments, counted from 1. */
  first: number;
  last: number;
  /** Epoch ms: nothing in it is from later. */
  at: number;
}

const TIME = String.raw`(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z`;
const SEGMENT = new RegExp(String.raw`^berth-log-(\d+)-([0-9a-f]{16})-(\d{8})-${TIME}\.tar\.gz(?:\.age)?$`);
const PACK = new RegExp(String.raw`^berth-log-(\d+)-([0-9a-f]{16})-(\d{8})-(\d{8})-${TIME}\.tar$`);

const timeText = (at: number) => new Date(at).toISOString().replace(/[:.]/g, "-");
const numberText = (number: number) => String(number).padStart(8, "0");

export const segmentName = (cell: number, chain: string, number: number, at: number, isEncrypted: boolean) =>
  `berth-log-${cell}-${chain}-${numberText(number)}-${timeText(at)}.tar.gz${isEncrypted ? ".age" : ""}`;

export const packName = ({ cell, chain, first, last, at }: Omit<LogFile, "name">) =>
  `berth-log-${cell}-${chain}-${numberText(first)}-${numberText(last)}-${timeText(at)}.tar`;

export const isPackName = (name: string) => PACK.test(name);

/** Undefined for any other name. */
export function parseLogName(name: string): LogFile | undefined {
  const segment = SEGMENT.exec(name);
  const [, cell, chain = "", first, last, ...time] = segment
    ? [...segment.slice(0, 4), segment[3], ...segment.slice(4)]
    : (PACK.exec(name) ?? []);
  if (cell === undefined) return undefined;
  const [day, hours, minutes, seconds, ms] = time;
  const at = Date.parse(`${day}T${hours}:${minutes}:${seconds}.${ms}Z`);
  return { name, cell: Number(cell), chain, first: Number(first), last: Number(last), at };
}
